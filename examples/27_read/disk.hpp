// Lesson 27: what both sides know of the disk.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace lesson27 {

/// The name by which the client asks for the disk.
constexpr const char* subsystem = "rdma-wire-lab";
/// How the client's kernel finds it among its other disks.
constexpr const char* uuid = "524f4345-0000-4000-8000-000000000027";
constexpr std::size_t line = 32;
constexpr std::size_t disk_size = std::size_t{4} << 20;

/// The port, unless you choose one. rocecap knows the service by it.
constexpr std::uint16_t nvme_port = 4420;
constexpr std::uint16_t nfs_port = 20049;
constexpr std::uint16_t port(std::uint16_t chosen, bool nfs) {
    return nfs && chosen == nvme_port ? nfs_port : chosen;
}

/// The bytes of the disk from `offset` on are text: each line names its own offset, a multiple of 32.
inline void fill(std::span<char> bytes, std::uint64_t offset, const char* what = "disk") {
    for (std::size_t i = 0; i + line <= bytes.size(); i += line)
        fmt::format_to_n(bytes.data() + i, line, "{:<5}byte {:>20}\n\n", what, offset + i);
}

/// Throws util::Error if the kernel does not take the text.
inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    if (!(file << text) || !file.flush())
        throw util::Error(
            fmt::format("cannot write '{}' to {}: the kernel refuses it; dmesg says "
                        "why.",
                        text, path));
}

/// Throws util::Error if this program is not root's, or the kernel does not have the module.
inline void load_module(const char* name) {
    if (geteuid() != 0)
        throw util::Error("only root may set up or mount a disk: run this program with sudo.");
    if (std::system(fmt::format("modprobe --quiet {}", name).c_str()) != 0)
        throw util::Error(
            fmt::format("this kernel has no module {}: the lab's kernels have it; "
                        "lesson 00 names the package of your distribution.",
                        name));
}

}  // namespace lesson27
