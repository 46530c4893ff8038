// Lesson 14, part 4: the locked-memory limit. Every registration counts its pinned pages, even if
// they are already pinned.
#pragma once

#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "examples/common/hint.hpp"
#include "pages.hpp"
#include "pair.hpp"
#include "util/limits.hpp"

namespace lesson14 {

// After a process has changed its capabilities, the kernel rejects its ibv_post_send on devices
// opened before (drivers/infiniband/core/uverbs_main.c, ib_safe_file_access): parts that run later
// must open the device again.
inline void meet_the_limit(const Host& host) {
    // 1. Set a limit of 256 KiB and make it apply.
    constexpr std::uint64_t allowed = 256 << 10;
    const Pages pages(64 << 10, Backing::small);
    const std::span<std::byte> memory = pages.bytes();
    std::vector<rdma::Mr> regions;
    const util::LockedMemoryLimit limit(allowed);
    if (limit.was_above_limits())
        host.log.note(
            "this process has CAP_IPC_LOCK, so no limit applies: the capability is dropped for "
            "this part");

    // 2. Register the same 64 KiB repeatedly.
    const std::string call = fmt::format("ibv_reg_mr({} bytes)", memory.size());
    try {
        while (regions.size() < 16)
            regions.push_back(rdma::Mr{util::check_ptr(
                ibv_reg_mr(host.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE), call)});
        host.log.note("this device does not count what it pins against the locked-memory limit");
    } catch (const std::system_error& error) {
        host.log.event("memlock",
                       {{"limit", allowed},
                        {"len", memory.size()},
                        {"registered", regions.size()},
                        {"text", common::call_of(error) + " failed: " + error.code().message() +
                                     "." + common::hint_for(error)}});
    }
}

}  // namespace lesson14
