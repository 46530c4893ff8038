// Lesson 27, server with --nfs: the kernel's NFS server, without its daemons. nfsd(7) documents the
// files.
#pragma once

#include <filesystem>
#include <sstream>
#include <sys/mount.h>
#include <vector>

#include "disk.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace lesson27 {

/// A folder with one file, at an RDMA port of the kernel's NFS server. One for each host.
class Nfsd {
  public:
    /// The kernel listens on all addresses. Throws util::Error.
    explicit Nfsd(std::uint16_t port) {
        namespace fs = std::filesystem;
        load_module("nfsd");
        load_module("rpcrdma");  // it contains what was the module svcrdma
        if (!fs::exists(nfsd + "threads")) {
            CHECK_ERRNO(mount("nfsd", nfsd.c_str(), "nfsd", 0, nullptr));
            is_mounted_ = true;
        }
        if (fs::exists(folder + "/files"))
            stop();  // what a killed server has left
        int threads = 0;
        if (std::ifstream(nfsd + "threads") >> threads && threads != 0)
            throw util::Error(
                "this host is an NFS server already: stop it first, for example with 'sudo "
                "systemctl stop nfs-server'.");
        try {
            start(port);
        } catch (...) {
            remove();
            throw;
        }
    }
    ~Nfsd() { remove(); }
    Nfsd(const Nfsd&) = delete;
    Nfsd& operator=(const Nfsd&) = delete;
    Nfsd(Nfsd&&) = delete;
    Nfsd& operator=(Nfsd&&) = delete;

    /// Readable when the kernel asks who a client is.
    int questions() const { return clients_.get(); }

    /// Anybody is "lab", for which the folder is exported.
    void answer() {
        std::string question(256, '\0');
        const ssize_t size = read(clients_.get(), question.data(), question.size());
        question.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        std::string service;  // "nfsd 192.0.2.2"
        std::string address;
        if (std::istringstream(question) >> service >> address)
            write_file(cache("auth.unix.ip", "channel"),
                       fmt::format("{} {} {} lab\n", service, address, never));
    }

  private:
    static std::string cache(const char* name, const char* file) {
        return fmt::format("/proc/net/rpc/{}/{}", name, file);
    }

    void start(std::uint16_t port) {
        // 1. A file in memory, and the folder where the kernel notes its clients.
        std::filesystem::create_directories(folder);
        CHECK_ERRNO(mount("rdma-wire-lab", folder.c_str(), "tmpfs", 0, "size=8m"));
        for (const char* name : {"/files", "/clients"})
            std::filesystem::create_directory(folder + name);
        std::vector<char> bytes(disk_size);
        fill(bytes, 0);
        write_file(folder + "/files/disk", {bytes.begin(), bytes.end()});
        // Newer kernels refuse it: they do without, and let clients open files after 10 seconds.
        std::ofstream(nfsd + "nfsv4recoverydir") << folder + "/clients\n";

        // 2. What mountd and exportfs write: this folder is the root (fsid 0) for "lab", a name that
        // exists once an address has it.
        write_file(cache("auth.unix.ip", "channel"), fmt::format("nfsd 127.0.0.1 {} lab\n", never));
        write_file(cache("nfsd.fh", "channel"),
                   fmt::format("lab 1 \\x00000000 {} {}/files\n", never, folder));
        // FSID, no_subtree_check, async, insecure; users are who they claim to be.
        write_file(cache("nfsd.export", "channel"),
                   fmt::format("lab {}/files {} {} 65534 65534 0\n", folder, never,
                               0x2000 | 0x400 | 0x10 | 0x2));
        clients_ = util::Fd(CHECK_ERRNO(
            open(cache("auth.unix.ip", "channel").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)));

        // 3. What rpc.nfsd writes: NFSv4 only, which needs no other daemon, and the port. Nobody
        // reconnects after a restart, so the period in which only they may open files ends at once.
        write_file(nfsd + "versions", "-2 -3\n");
        write_file(nfsd + "nfsv4gracetime", "10\n");
        write_file(nfsd + "portlist", fmt::format("rdma {}\n", port));
        write_file(nfsd + "threads", "2\n");
        std::ofstream(nfsd + "v4_end_grace") << "Y\n";
    }

    // Leaves the kernel's defaults. (It keeps nfsv4recoverydir if the default folder does not exist.)
    static void stop() {
        const auto set = [](const std::string& path, const char* text) {
            std::ofstream(path) << text;
        };
        set(nfsd + "threads", "0\n");
        for (const char* name : {"nfsd.export", "nfsd.fh", "auth.unix.ip"})
            set(cache(name, "flush"), "1\n");
        set(nfsd + "versions", "+2\n");
        set(nfsd + "versions", "+3\n");
        set(nfsd + "nfsv4gracetime", "90\n");
        set(nfsd + "nfsv4recoverydir", "/var/lib/nfs/v4recovery\n");
        umount2(folder.c_str(), MNT_DETACH);
        std::error_code ignored;
        std::filesystem::remove(folder, ignored);
    }

    void remove() const {
        stop();
        if (is_mounted_)
            umount2(nfsd.c_str(), 0);
    }

    inline static const std::string nfsd = "/proc/fs/nfsd/";
    inline static const std::string folder = "/tmp/rdma-wire-lab.nfs";
    static constexpr std::int32_t never = 0x7fffffff;  // when an entry expires

    util::Fd clients_;
    bool is_mounted_ = false;  // /proc/fs/nfsd, by this program
};

}  // namespace lesson27
