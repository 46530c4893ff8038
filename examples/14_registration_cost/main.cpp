// Lesson 14: the cost and the limits of memory registration, and ways to register less often. One
// program; no packets leave the host.
#include <algorithm>
#include <string>
#include <vector>

#include "cache.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "limit.hpp"
#include "odp.hpp"
#include "rdma/device.hpp"
#include "sizes.hpp"
#include "windows.hpp"

namespace {

using namespace lesson14;

struct Options {
    std::string device;
    bool sizes = false, cache = false, windows = false, limit = false, odp = false;
    std::uint64_t most = 0;  // 0: depends on the available memory
    std::uint64_t repeats = 9;
    std::string csv;
    CacheOptions use;
};

void measure_sizes(const Host& host, const Options& options) {
    const std::uint64_t most = largest_size(options.most, host.log);
    const auto huge = huge_backing(most, host.log);
    // A virtual machine gets memory from its host on the first touch, which must not be measured.
    // The first registration is also slower than later ones.
    Pages(most, Backing::small).touch();
    measure(host, {smallest, Backing::small, true}, 1);
    std::vector<Cost> costs;
    for (const Plan& plan : plans_up_to(most, huge)) {
        costs.push_back(measure(host, plan, options.repeats));
        host.log.event("registration", costs.back().fields());
    }
    write_table(costs, host.log);
    if (!options.csv.empty())
        write_csv(options.csv, costs);
}

void try_windows(const Host& host, const Options& options) {
    ibv_device_attr_ex attributes{};
    CHECK_RC(ibv_query_device_ex(host.context, nullptr, &attributes));
    const unsigned flags = attributes.orig_attr.device_cap_flags;
    if ((flags & IBV_DEVICE_MEM_WINDOW) != 0) {
        try_type_1(host);
        measure_binding(host, options.repeats);
    } else {
        host.log.note("this device has no memory windows of type 1");
    }
    if ((flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0)
        try_type_2(host);
    else
        host.log.note("this device has no memory windows of type 2B: no peer can invalidate a key");
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    if (!options.csv.empty())
        write_csv(options.csv, {});  // fail before the measurement rather than after it
    const auto names = rdma::device_names();
    if (options.device.empty() && names.empty())
        throw util::Error(
            "this host has no RDMA device. Run 00_hello/devices to find out what is missing.");
    const rdma::Context context =
        rdma::open_device(options.device.empty() ? names[0] : options.device);
    const auto gids = rdma::gid_table(context.get());
    const auto gid = std::ranges::find_if(gids, [](const rdma::Gid& entry) {
        return entry.type == IBV_GID_TYPE_ROCE_V2 || entry.type == IBV_GID_TYPE_IB;
    });
    if (gid == gids.end())
        throw util::Error(
            "the device has no RoCE v2 address. Run 00_hello/devices to find out what is missing.");
    log.event("device", rdma::describe_device(context.get(), gid->port, &*gid));
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(context.get()))};
    const Host host{context.get(), pd.get(), {.gid = *gid}, log, stop};

    const bool all =
        !options.sizes && !options.cache && !options.windows && !options.limit && !options.odp;
    if (all || options.sizes) {
        log.note("1. sizes: the cost of a registration");
        measure_sizes(host, options);
    }
    if (all || options.cache) {
        log.note("2. cache: the saving and the danger of keeping registrations");
        use_buffers(host, options.use);
        write_to_remapped_memory(host, false);
        write_to_remapped_memory(host, true);
    }
    if (all || options.windows) {
        log.note("3. windows: keys without a registration");
        try_windows(host, options);
    }
    if (all || options.limit) {
        log.note("4. limit: the largest amount of registered memory");
        meet_the_limit(host);
    }
    if (all || options.odp) {
        log.note("5. odp: on-demand paging, memory that is registered but not pinned");
        page_on_demand(host);
    }
    host.check_stop();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("mr_cost",
                                     "Lesson 14: measures the cost and the limit of memory "
                                     "registration, and four ways to reduce "
                                     "the cost:\na cache, huge pages, memory windows, on-demand "
                                     "paging.");
    Options options;
    command_line.text("--device", options.device, "Use this RDMA device (default: the first)");
    command_line.flag("--sizes", options.sizes, "Run this part: the cost of a registration");
    command_line.flag("--cache", options.cache, "Run this part: a cache of registrations");
    command_line.flag("--windows", options.windows, "Run this part: memory windows");
    command_line.flag("--limit", options.limit, "Run this part: the locked-memory limit");
    command_line.flag("--odp", options.odp, "Run this part: on-demand paging");
    command_line.size("--most", options.most, smallest, std::uint64_t{1} << 40,
                      "Largest size (default: 1 GiB, at most a quarter of the available memory)");
    command_line.number("--repeats", options.repeats, 1, 1000,
                        "Registrations of each size; fewer for large sizes");
    command_line.text("--csv", options.csv, "Also write the table to this file");
    command_line.number("--accesses", options.use.accesses, 1, 1'000'000,
                        "Uses of a buffer, with a cache and without");
    command_line.size("--room", options.use.room, 0, std::uint64_t{1} << 30,
                      "Memory that the cache keeps registered (default: 4MiB, of 16MiB)");
    command_line.number("--seed", options.use.seed, 0, ~std::uint64_t{0},
                        "Seed for the order of the uses");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
