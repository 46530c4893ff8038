// Step 13: what registering memory costs, where it ends, and four ways to do it less often: a
// cache, huge pages, memory windows, on-demand paging. One program; no packet leaves the host.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cost.hpp"
#include "examples/common/program.hpp"
#include "pair.hpp"
#include "reuse.hpp"
#include "sizes.hpp"
#include "table.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/limits.hpp"
#include "verbs/device.hpp"
#include "windows.hpp"

namespace {

using namespace step13;

struct Options {
    std::string device;
    std::uint64_t most = 0;  // 0: as memory allows
    std::uint64_t repeats = 9;
    std::string csv;
    Reuse reuse;
};

class Lesson {
  public:
    Lesson(const Device& device, const Options& options, runlog::Log& log)
        : device_(device), options_(options), log_(log) {}

    // 1. Sizes, pages that are there and pages that come with the registration, small and huge.
    void costs() {
        const std::uint64_t most = largest_size(options_.most, log_);
        const auto huge = huge_backing(most, log_);
        // A virtual machine has its memory from the host only once it was touched: that is not what
        // is to be measured.
        Pages(most, Backing::small).touch();
        // And a first registration is slower than all that follow.
        measure(device_.pd, {smallest, Backing::small, true}, 1, device_.stop);
        std::vector<Cost> costs;
        for (const Plan& plan : plans_up_to(most, huge)) {
            const auto cost = measure(device_.pd, plan, options_.repeats, device_.stop);
            if (!cost)
                return;
            log_.event("registration", cost->fields());
            costs.push_back(*cost);
        }
        write_table(costs, log_);
        if (!options_.csv.empty())
            write_csv(options_.csv, costs);
    }

    // 2. A cache of registrations, and its danger.
    void cache() {
        if (!compare(device_.pd, options_.reuse, log_, device_.stop))
            return;
        remap(device_, log_);
    }

    // 3. Keys to parts of a region, without another registration.
    void windows() {
        ibv_device_attr_ex attributes{};
        util::check_rc(ibv_query_device_ex(device_.context, nullptr, &attributes),
                       "ibv_query_device_ex");
        const unsigned flags = attributes.orig_attr.device_cap_flags;
        const bool has_windows = (flags & IBV_DEVICE_MEM_WINDOW) != 0;
        const bool has_type_2 = (flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0;
        if (has_windows || has_type_2) {
            Windows windows(device_, log_);
            if (has_windows) {
                windows.type_1();
                windows.cost(options_.repeats);
            }
            if (has_type_2)
                windows.type_2();
        }
        if (!has_windows)
            log_.note("this device has no memory windows of type 1");
        if (!has_type_2)
            log_.note("this device has no memory windows of type 2B: no peer can give a key back");
        // 4. No pinning at all: the device faults pages in as the processor does.
        log_.note((attributes.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0
                      ? "this device has on-demand paging: IBV_ACCESS_ON_DEMAND pins nothing"
                      : "this device has no on-demand paging: what it may touch has to be pinned");
    }

    // 5. The limit: pinned pages are counted for each registration, of whatever memory. It comes
    // last: once a process has changed its capabilities, the kernel takes no ibv_post_send from it
    // on a device that it opened before (drivers/infiniband/core/uverbs_main.c,
    // ib_safe_file_access).
    void limit() {
        constexpr std::uint64_t allowed = 256 << 10;
        const Pages pages(64 << 10, Backing::small);
        std::vector<verbs::Mr> regions;
        const util::LockedMemoryLimit limit(allowed);
        if (limit.was_above_limits())
            log_.note("this process has CAP_IPC_LOCK, so that no limit counts: taken away for now");
        try {
            while (regions.size() < 16)
                regions.push_back(
                    verbs::register_memory(device_.pd, pages.bytes(), IBV_ACCESS_LOCAL_WRITE));
            log_.note("this device does not count what it pins against the locked-memory limit");
        } catch (const util::Error& error) {
            log_.event("memlock", {{"limit", allowed},
                                   {"len", pages.bytes().size()},
                                   {"registered", regions.size()},
                                   {"text", error.what()}});
        }
    }

  private:
    const Device& device_;
    const Options& options_;
    runlog::Log& log_;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    if (!options.csv.empty())
        write_csv(options.csv, {});  // better now than after the measurement
    const auto names = verbs::device_names();
    if (options.device.empty() && names.empty())
        throw util::Error("this host has no RDMA device. 00_devices says what is missing.");
    const verbs::Context context =
        verbs::open_device(options.device.empty() ? names[0] : options.device);
    const auto gids = verbs::gid_table(context.get());
    const auto gid = std::ranges::find_if(gids, [](const verbs::Gid& entry) {
        return entry.type == IBV_GID_TYPE_ROCE_V2 || entry.type == IBV_GID_TYPE_IB;
    });
    if (gid == gids.end())
        throw util::Error("the device has no RoCE v2 address. 00_devices says what is missing.");
    log.event("device", verbs::describe_device(context.get(), gid->port, &*gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    const Device device{context.get(), *gid, pd.get(), stop};
    Lesson lesson(device, options, log);
    for (const auto part : {&Lesson::costs, &Lesson::cache, &Lesson::windows, &Lesson::limit}) {
        (lesson.*part)();
        if (stop.requested())
            throw util::Error("stopped by a signal.");
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("mr_cost",
                                     "Step 13: measures what registering memory costs, meets its "
                                     "limit, and tries what avoids it:\na cache, huge pages, "
                                     "memory windows.");
    Options options;
    command_line.text("--device", options.device, "Use this RDMA device (default: the first)");
    command_line.size("--most", options.most, smallest, std::uint64_t{1} << 40,
                      "The largest piece of memory (default: 1 GiB, or a part of what is free)");
    command_line.number("--repeats", options.repeats, 1, 1000,
                        "Registrations of each size; of large ones fewer");
    command_line.text("--csv", options.csv, "Also write the table to this file");
    command_line.number("--accesses", options.reuse.accesses, 1, 1'000'000,
                        "Uses of a buffer, with a cache and without");
    command_line.size("--room", options.reuse.room, 0, std::uint64_t{1} << 30,
                      "What the cache keeps registered (default: 4MiB, of 16)");
    command_line.number("--seed", options.reuse.seed, 0, ~std::uint64_t{0},
                        "Another order of the uses");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
