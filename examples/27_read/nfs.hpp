// Lesson 27, client with --nfs: the server's folder as a part of this program's file tree.
#pragma once

#include <cerrno>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/mount.h>

#include "disk.hpp"
#include "util/address.hpp"
#include "util/check.hpp"

namespace lesson27 {

class NfsMount {
  public:
    /// Throws util::Error.
    explicit NfsMount(const util::Address& server) {
        load_module("nfsv4");
        load_module("rpcrdma");  // it contains what was the module xprtrdma
        // A mount namespace: only this process sees the mount, and it ends with the process, however
        // that dies.
        CHECK_ERRNO(unshare(CLONE_NEWNS));
        CHECK_ERRNO(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
        const std::string host = server.host();
        const std::string source =
            server.is_ipv6() ? fmt::format("[{}]:/", host) : fmt::format("{}:/", host);
        // soft: a call fails when the server is silent for 5 seconds, twice.
        const std::string options =
            fmt::format("vers=4.2,proto={},port={},addr={},soft,timeo=50,retrans=1",
                        server.is_ipv6() ? "rdma6" : "rdma", server.port(), host);
        if (mount(source.c_str(), folder, "nfs4", 0, options.c_str()) != 0)
            throw util::Error(
                fmt::format("cannot mount the folder at {} port {}: {}. Is lesson 27's server "
                            "running there with --nfs?",
                            host, server.port(), std::strerror(errno)));
    }
    ~NfsMount() { umount2(folder, 0); }
    NfsMount(const NfsMount&) = delete;
    NfsMount& operator=(const NfsMount&) = delete;
    NfsMount(NfsMount&&) = delete;
    NfsMount& operator=(NfsMount&&) = delete;

    static std::string file() { return std::string(folder) + "/disk"; }

  private:
    static constexpr const char* folder = "/mnt";
};

}  // namespace lesson27
