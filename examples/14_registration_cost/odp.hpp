// Lesson 14, part 5: on-demand paging (ODP). A registration pins nothing: the device asks the
// kernel for a page when a request needs it, and the kernel takes it back when it is unmapped.
// Source: ibv_reg_mr(3), ibv_query_device_ex(3). Linux: drivers/infiniband/core/umem_odp.c.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "examples/common/tracer.hpp"
#include "pages.hpp"
#include "pair.hpp"
#include "rdma/device.hpp"
#include "rdma/names.hpp"
#include "sizes.hpp"
#include "util/limits.hpp"

namespace lesson14 {

inline constexpr int pinned = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
inline constexpr int on_demand = pinned | IBV_ACCESS_ON_DEMAND;

inline const char* name_of_access(int access) {
    return (access & IBV_ACCESS_ON_DEMAND) != 0 ? "on demand" : "pinned";
}

/// A region of memory that nobody has touched.
struct Region {
    Pages pages;
    rdma::Mr mr;

    Region(const Host& host, std::size_t length, int access) : pages(length, Backing::small) {
        const std::span<std::byte> memory = pages.bytes();
        mr.reset(CHECK_PTR(ibv_reg_mr(host.pd, memory.data(), memory.size(), access)));
    }
};

/// 64 bytes for the peer to write.
struct Source : Region {
    std::span<std::byte> bytes = pages.bytes().first(64);

    explicit Source(const Host& host) : Region(host, small_page(), pinned) {
        std::ranges::fill(bytes, std::byte{'x'});
    }
    ibv_sge sge() const { return sge_of(bytes, *mr); }
};

inline void compare_registrations(const Host& host) {
    constexpr std::size_t most = std::size_t{64} << 20;
    const std::size_t length = std::min(most, util::locked_memory_limit().value_or(2 * most) / 2);
    for (const int access : {pinned, on_demand}) {
        std::vector<std::uint64_t> reg_ns;
        std::uint64_t pinned_bytes = 0, allocated_bytes = 0;
        {
            const common::HeldTrace held;
            while (reg_ns.size() < 3) {
                host.check_stop();
                const Pages pages(length, Backing::small);
                const std::span<std::byte> memory = pages.bytes();
                const std::uint64_t pinned_before = pinned_memory();
                const std::uint64_t resident_before = util::resident_memory();
                ibv_mr* mr = nullptr;
                reg_ns.push_back(time_of([&] {
                    mr = CHECK_PTR(ibv_reg_mr(host.pd, memory.data(), memory.size(), access));
                }));
                pinned_bytes = pinned_memory() - pinned_before;
                allocated_bytes = std::max(util::resident_memory(), resident_before) -
                                  resident_before;  // the kernel counts approximately
                CHECK_RC(ibv_dereg_mr(mr));
            }
        }
        host.log.event("odp_reg", {{"len", length},
                                   {"access", name_of_access(access)},
                                   {"reg_p50_ns", Spread(std::move(reg_ns)).p50},
                                   {"pinned", pinned_bytes},
                                   {"allocated", allocated_bytes}});
    }
}

inline void compare_accesses(const Host& host) {
    constexpr std::size_t pages = 64;
    const Pair pair(host);
    const Source source(host);
    for (const int access : {pinned, on_demand}) {
        const Region region(host, pages * small_page(), access);
        std::vector<std::uint64_t> first_ns, again_ns;
        {
            const common::HeldTrace held;
            for (std::vector<std::uint64_t>* times : {&first_ns, &again_ns})
                for (std::size_t page = 0; page < pages; ++page) {
                    const std::byte* to = region.pages.bytes().data() + page * small_page();
                    ibv_wc_status status{};
                    times->push_back(
                        time_of([&] { status = pair.write(source.sge(), to, region.mr->rkey); }));
                    if (status != IBV_WC_SUCCESS)
                        throw util::Error(
                            fmt::format("a WRITE completed with {}.", rdma::name_of(status)));
                }
        }
        host.log.event("odp_write", {{"len", source.bytes.size()},
                                     {"pages", pages},
                                     {"access", name_of_access(access)},
                                     {"first_p50_ns", Spread(std::move(first_ns)).p50},
                                     {"again_p50_ns", Spread(std::move(again_ns)).p50}});
    }
}

/// Part 2 again, without a cache that must be told: the same region throughout.
inline void write_to_changed_memory(const Host& host) {
    // 1. A WRITE makes the device get the page.
    const Pair pair(host);
    const Source source(host);
    Region region(host, small_page(), on_demand);
    const std::byte* to = region.pages.bytes().data();
    const auto write = [&] { return pair.write(source.sge(), to, region.mr->rkey); };
    if (write() != IBV_WC_SUCCESS || to[0] != std::byte{'x'})
        throw util::Error("a WRITE to an on-demand region did not arrive.");

    // 2. The address gets another page: the kernel takes the previous one back from the device.
    region.pages.remap();
    const ibv_wc_status remapped = write();
    const bool is_written = to[0] == std::byte{'x'};
    host.log.event("odp_unmap", {{"what", "munmap and mmap"},
                                 {"status", rdma::name_of(remapped)},
                                 {"memory", is_written ? "written" : "NOT written"}});

    // 3. The address gets nothing.
    region.pages.unmap();
    host.log.event("odp_unmap", {{"what", "munmap"}, {"status", rdma::name_of(write())}});
}

/// Checks the device: does a WRITE that begins inside a page arrive there?
inline void write_inside_a_page(const Host& host) {
    const Pair pair(host);
    const Source source(host);
    const Region region(host, small_page(), on_demand);
    const std::span<std::byte> page = region.pages.bytes();
    const std::size_t to = page.size() / 2;
    const ibv_wc_status status = pair.write(source.sge(), page.data() + to, region.mr->rkey);
    const auto arrived = std::ranges::find(page, std::byte{'x'}) - page.begin();
    host.log.event("odp_place", {{"len", source.bytes.size()},
                                 {"to", to},
                                 {"status", rdma::name_of(status)},
                                 {"arrived", static_cast<std::uint64_t>(arrived)}});
    if (status == IBV_WC_SUCCESS && static_cast<std::size_t>(arrived) != to)
        host.log.note(
            "this device ignores the offset in a page of an on-demand region: use such regions on "
            "it for nothing but experiments");
}

inline void page_on_demand(const Host& shared) {
    // 1. The device must have it, for WRITEs on reliable connections.
    ibv_device_attr_ex attributes{};
    CHECK_RC(ibv_query_device_ex(shared.context, nullptr, &attributes));
    const ibv_odp_caps& caps = attributes.odp_caps;
    if ((caps.general_caps & IBV_ODP_SUPPORT) == 0 ||
        (caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE) == 0) {
        shared.log.note(
            "this device has no on-demand paging, which Soft-RoCE has since Linux 6.16: boot such "
            "a kernel with LAB_KERNEL=6.18 lab/lab up");
        return;
    }

    // 2. Part 4 has changed the capabilities of the process: open the device again (limit.hpp).
    const rdma::Context context = rdma::open_device(ibv_get_device_name(shared.context->device));
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(context.get()))};
    const Host host{context.get(), pd.get(), shared.link, shared.log, shared.stop};

    // 3. What a registration costs, who pays for the pages, and what happens to those that change.
    compare_registrations(host);
    compare_accesses(host);
    write_to_changed_memory(host);
    write_inside_a_page(host);
}

}  // namespace lesson14
