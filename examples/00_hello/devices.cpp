// Lesson 00, devices: shows this host's RDMA devices, and diagnoses what is wrong with them. All queries are
// local: no connection, no packets.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "examples/common/program.hpp"
#include "rdma/device.hpp"
#include "rdma/doctor.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

void show_limits(const std::string& name, const ibv_device_attr& device, runlog::Log& log) {
    log.note(fmt::format("{}: at most {} QPs, {} requests per queue, {} CQs of {} entries, {} MRs",
                         name, device.max_qp, device.max_qp_wr, device.max_cq, device.max_cqe,
                         device.max_mr));
    const auto can = [&](unsigned flag) {
        return (device.device_cap_flags & flag) != 0 ? "yes" : "no";
    };
    log.note(fmt::format(
        "{}: atomics {}, XRC {}, memory windows {}, shared receive queues up to {}", name,
        device.atomic_cap == IBV_ATOMIC_NONE ? "no" : "yes", can(IBV_DEVICE_XRC),
        can(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B),
        device.max_srq));
}

// Shows a port and its GID table. A RoCE GID is an IP address in 16 bytes, with an entry for each
// RoCE version that the driver supports. Find the index by type and address; never assume it.
void show_port(ibv_context* context, std::uint8_t number, std::span<const ibv_gid_entry> gids,
               const std::optional<util::Address>& wanted, runlog::Log& log) {
    ibv_port_attr port{};
    CHECK_RC(ibv_query_port(context, number, &port));
    const runlog::Fields state{{"device", ibv_get_device_name(context->device)},
                               {"port", number},
                               {"state", rdma::name_of(port.state)},
                               {"path_mtu", rdma::bytes_of(port.active_mtu)}};
    bool has_gid = false;
    for (const ibv_gid_entry& entry : gids) {
        if (entry.port_num != number)
            continue;
        has_gid = true;
        const rdma::Gid gid{entry.gid_index, number, static_cast<ibv_gid_type>(entry.gid_type),
                            entry.gid, entry.ndev_ifindex};
        runlog::Fields fields = state;
        if (const std::string netdev = gid.netdev(); !netdev.empty())
            fields.emplace_back("netdev", netdev);
        fields.emplace_back("gid_index", gid.index);
        fields.emplace_back("gid", gid.text());
        fields.emplace_back("gid_type", rdma::name_of(gid.type));
        log.event("device", std::move(fields));
        if (wanted && gid.type == IBV_GID_TYPE_ROCE_V2 && gid.address().host() == wanted->host())
            log.note(fmt::format("for {} use {} port {} GID index {}", wanted->host(),
                                 ibv_get_device_name(context->device), number, gid.index));
    }
    if (!has_gid)
        log.event("device", state);
}

int run(const std::string& address_text, bool quiet, runlog::Log& log) {
    std::optional<util::Address> address;
    if (!address_text.empty() && !(address = util::Address::parse(address_text)))
        throw util::Error(fmt::format("'{}' is not an IPv4 or IPv6 address.", address_text));

    // 1. The RDMA devices of this host. Null if the kernel has no RDMA support.
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> owner(list, ibv_free_device_list);
    for (int i = 0; list != nullptr && i < count && !quiet; ++i) {
        const rdma::Context context{
            util::check_ptr(ibv_open_device(list[i]),
                            fmt::format("ibv_open_device({})", ibv_get_device_name(list[i])))};

        // 2. The device's limits, which later lessons run into.
        ibv_device_attr device{};
        CHECK_RC(ibv_query_device(context.get(), &device));
        show_limits(ibv_get_device_name(list[i]), device, log);

        // 3. Its ports and their GIDs.
        std::vector<ibv_gid_entry> gids(1024);
        const auto entries = ibv_query_gid_table(context.get(), gids.data(), gids.size(), 0);
        util::check_rc(static_cast<int>(std::min<ssize_t>(entries, 0)), "ibv_query_gid_table");
        gids.resize(static_cast<std::size_t>(entries));
        for (std::uint8_t port = 1; port <= device.phys_port_cnt; ++port)
            show_port(context.get(), port, gids, address, log);
    }

    // 4. The doctor: checks each requirement of a run, and prints a command for each problem.
    int wrong = 0;
    for (const rdma::Finding& finding : rdma::diagnose(rdma::gather(), address)) {
        if (finding.verdict == rdma::Verdict::good && quiet)
            continue;
        log.event("check", rdma::describe(finding));
        wrong += finding.verdict == rdma::Verdict::wrong;
    }
    if (wrong == 0)
        log.note("this host is ready for the next lessons");
    else
        log.error(fmt::format(
            "{} problem{} to fix before the next lessons can run here: see the arrows above.",
            wrong, wrong == 1 ? "" : "s"));
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "devices",
        "Lesson 00, devices: lists this host's RDMA devices, ports and GIDs, and reports problems "
        "of the "
        "set-up.\nExit code: 0 ready, 1 problems found, 2 invalid options.");
    std::string address;
    command_line.text("--address", address,
                      "Check the set-up for this IP address of the host, and print its GID");
    bool quiet = false;
    command_line.flag("--only-problems", quiet, "Print only the problems");
    return command_line.main(
        argc, argv, [&](runlog::Log& log, util::StopSignal&) { return run(address, quiet, log); });
}
