// Step 00: what RDMA this host has, and what is wrong with it. No connection, no packet: all of
// this is local.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "examples/common/program.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/device.hpp"
#include "verbs/doctor.hpp"
#include "verbs/names.hpp"

namespace {

// 2. What the device can do: limits that later steps run into.
void show_limits(ibv_context* context, runlog::Log& log) {
    ibv_device_attr attr{};
    util::check_rc(ibv_query_device(context, &attr), "ibv_query_device");
    log.note(fmt::format("{}: at most {} QPs, {} requests a queue, {} CQs of {} entries, {} MRs",
                         ibv_get_device_name(context->device), attr.max_qp, attr.max_qp_wr,
                         attr.max_cq, attr.max_cqe, attr.max_mr));
    const auto can = [&](unsigned flag) {
        return (attr.device_cap_flags & flag) != 0 ? "yes" : "no";
    };
    log.note(fmt::format(
        "{}: atomics {}, XRC {}, memory windows {}, shared receive queues up to {}",
        ibv_get_device_name(context->device), attr.atomic_cap == IBV_ATOMIC_NONE ? "no" : "yes",
        can(IBV_DEVICE_XRC),
        can(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B),
        attr.max_srq));
}

// 3. Each port with each entry of its GID table. A RoCE GID is an IP address in 16 bytes, and comes
//    once for each RoCE version the driver speaks: the index of the entry to use is found by type
//    and address, never assumed.
void show_ports(ibv_context* context, const std::optional<util::Address>& wanted,
                runlog::Log& log) {
    ibv_device_attr attr{};
    util::check_rc(ibv_query_device(context, &attr), "ibv_query_device");
    const auto gids = verbs::gid_table(context);
    for (std::uint8_t port = 1; port <= attr.phys_port_cnt; ++port) {
        bool any = false;
        for (const verbs::Gid& gid : gids) {
            if (gid.port != port)
                continue;
            any = true;
            log.event("device", verbs::describe_device(context, port, &gid));
            if (wanted && gid.type == IBV_GID_TYPE_ROCE_V2 &&
                gid.address().host() == wanted->host())
                log.note(fmt::format("for {} use {} port {} GID index {}", wanted->host(),
                                     ibv_get_device_name(context->device), port, gid.index));
        }
        if (!any)
            log.event("device", verbs::describe_device(context, port, nullptr));
    }
}

int run(const std::string& address_text, bool quiet, runlog::Log& log) {
    std::optional<util::Address> address;
    if (!address_text.empty() && !(address = util::Address::parse(address_text)))
        throw util::Error(fmt::format("'{}' is not an IPv4 or IPv6 address.", address_text));

    // 1. Every RDMA device that libibverbs can open.
    if (!quiet)
        for (const std::string& name : verbs::device_names()) {
            const verbs::Context context = verbs::open_device(name);
            show_limits(context.get(), log);
            show_ports(context.get(), address, log);
        }

    // 4. The doctor: each thing a run needs, and the command that mends what is wrong.
    int wrong = 0;
    for (const verbs::Finding& finding : verbs::diagnose(verbs::gather(), address)) {
        if (finding.verdict == verbs::Verdict::good && quiet)
            continue;
        log.event("check", verbs::describe(finding));
        wrong += finding.verdict == verbs::Verdict::wrong;
    }
    if (wrong == 0)
        log.note("this host is ready for the next steps");
    else
        log.error(fmt::format(
            "{} thing{} to mend before the next steps can run here: see the arrows above.", wrong,
            wrong == 1 ? "" : "s"));
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("devices",
                                     "Step 00: lists this host's RDMA devices, ports and GIDs, and "
                                     "names what is wrong with the set-up.\n"
                                     "Exit code: 0 ready, 1 something to mend, 2 wrong options.");
    std::string address;
    command_line.text("--address", address,
                      "Judge the set-up for this IP address of the host, and name its GID");
    bool quiet = false;
    command_line.flag("--only-problems", quiet, "Say only what could be better");
    return command_line.main(
        argc, argv, [&](runlog::Log& log, util::StopSignal&) { return run(address, quiet, log); });
}
