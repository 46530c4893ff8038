// Lesson 16, part 3: one SEND, several receivers. Each UD queue pair in the group gets a copy. On
// RoCE v2 the group's GID is an IP multicast address, which is the packets' destination.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "datagrams.hpp"
#include "rdma/device.hpp"
#include "util/fd.hpp"

namespace lesson16 {

/// The queue pair number in the BTH of a multicast packet (IBTA volume 1, 10.5).
constexpr std::uint32_t multicast_qpn = 0xffffff;

/// How often a message is sent to the group until a copy arrives. A membership takes effect after
/// the call: the adapter's filter, switches and routers learn it later, and lose datagrams before.
constexpr unsigned most_tries = 5;

/// Parses an IP address into a GID, IPv4 as ::ffff:239.1.2.3. Throws util::Error.
inline ibv_gid group_of(const std::string& text) {
    const auto address = util::Address::parse(text);
    if (!address)
        throw util::Error(fmt::format("--group '{}' is not an IP address.", text));
    ibv_gid gid{};
    const auto bytes = address->ipv6_bytes();
    std::memcpy(gid.raw, bytes.data(), sizeof gid.raw);
    const bool is_group = address->is_ipv6() ? gid.raw[0] == 0xff : (gid.raw[12] & 0xf0U) == 0xe0;
    if (!is_group)
        throw util::Error(fmt::format(
            "--group {} is not a multicast address: try one of 239.0.0.0/8 or ff05::/16.", text));
    return gid;
}

/// The client.
inline void send_to_group(const Side& side, const ibv_gid& group, std::uint32_t q_key) {
    send(side, Request{.part = Part::Multicast, .q_key = q_key, .group = group});
    const rdma::Cq cq = create_cq(side, 1);
    Slots slots(side, 2, 64, "To all of you. ", 0);
    const rdma::Qp qp = create_qp(side, IBV_QPT_UD, cq.get(), 1, 1);
    open_for_datagrams(side, qp.get(), q_key);
    const rdma::Ah ah = create_ah(side, group);
    const Destination to{ah.get(), multicast_qpn, q_key};

    // One message while the group has two members, and one after the second has left.
    for (std::uint32_t number = 0; number < slots.count(); ++number) {
        ibv_wc wc{};
        Report report;
        for (unsigned i = 0; i < most_tries && report.arrived == 0; ++i) {
            side.barrier();
            post_send(qp.get(), slots, number, number, 64, &to);
            wc = next_completion(side, cq.get());
            side.barrier();
            report = receive_report(side);
        }
        side.log.event(
            "fate", {{"what", number == 0 ? "one SEND to the group of two" : "and to that of one"},
                     {"status", rdma::name_of(wc.status)},
                     {"arrived", fmt::format("{} {} arrived", report.arrived,
                                             report.arrived == 1 ? "copy" : "copies")}});
    }
}

/// Joins the group as a host: while the socket is open, the kernel accepts the group's packets on
/// the interface and reports the membership to routers and switches (IGMP, MLD). With Soft-RoCE,
/// ibv_attach_mcast does not do this, and the host's IP stack drops the packets before the device.
inline util::Fd join_as_host(const Side& side, const ibv_gid& group) {
    ibv_gid_entry entry{};  // gives the interface
    CHECK_RC(ibv_query_gid_ex(side.context(), side.port.number, side.port.gid_index, &entry, 0));
    rdma::Gid gid;
    gid.raw = group;
    const util::Address address = gid.address();
    group_req request{};
    request.gr_interface = entry.ndev_ifindex;
    std::memcpy(&request.gr_group, address.get(), address.size());
    util::Fd socket{CHECK_ERRNO(
        ::socket(address.is_ipv6() ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
    util::check_errno(::setsockopt(socket.get(), address.is_ipv6() ? IPPROTO_IPV6 : IPPROTO_IP,
                                   MCAST_JOIN_GROUP, &request, sizeof request),
                      fmt::format("setsockopt(MCAST_JOIN_GROUP {})", address.host()));
    return socket;
}

struct Detach {
    ibv_gid group;
    void operator()(ibv_qp* qp) const noexcept {
        if (const int rc = ibv_detach_mcast(qp, &group, 0); rc != 0)
            rdma::report_failed_destroy("ibv_detach_mcast", rc);
    }
};
/// A queue pair's membership. The queue pair cannot be destroyed before it has left (EBUSY).
using Membership = std::unique_ptr<ibv_qp, Detach>;

inline Membership join(const rdma::Qp& qp, const ibv_gid& group) {
    CHECK_RC(ibv_attach_mcast(qp.get(), &group, 0));
    return {qp.get(), Detach{group}};
}

/// The server.
inline void receive_as_group(const Side& side, const Request& request) {
    // 1. Two queue pairs for datagrams.
    const rdma::Cq cq = create_cq(side, 4);
    Slots slots(side, 4, grh_size + 64, "", IBV_ACCESS_LOCAL_WRITE);
    const rdma::Qp first = create_qp(side, IBV_QPT_UD, cq.get(), 1, 2);
    const rdma::Qp second = create_qp(side, IBV_QPT_UD, cq.get(), 1, 2);
    for (ibv_qp* qp : {first.get(), second.get()})
        open_for_datagrams(side, qp, request.q_key);
    for (std::size_t i = 0; i < slots.count(); ++i)
        post_recv(i % 2 == 0 ? first.get() : second.get(), slots, i);

    // 2. First the host joins, then both queue pairs.
    const util::Fd host = join_as_host(side, request.group);
    const Membership of_first = join(first, request.group);
    Membership of_second = join(second, request.group);

    // 3. One message for both; then the second leaves, and one message for the first.
    for (const std::size_t members : {2U, 1U}) {
        if (members == 1)
            of_second.reset();
        Report report;
        for (unsigned i = 0; i < most_tries && report.arrived == 0; ++i) {
            side.barrier();
            side.barrier();
            // Waits for one copy more than expected, to detect an error.
            for (const ibv_wc& wc : completions_until_quiet(side, cq.get(), members + 1)) {
                log_datagram(side, wc, slots[wc.wr_id]);
                ++report.arrived;
            }
            send(side, report);
        }
    }
}

}  // namespace lesson16
