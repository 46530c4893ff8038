// One SEND, several receivers: UD queue pairs that have joined a group each get a copy. On RoCEv2 a
// group's GID is an IP multicast address, and its packets are that address's.
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "datagrams.hpp"
#include "util/fd.hpp"

namespace step10 {

/// Whom a multicast packet is for in the BTH: everybody in the group (IBTA volume 1, 10.5).
constexpr std::uint32_t everybody = 0xffffff;

/// The IP address that the group's GID stands for; nullopt where that is none of a group.
inline util::Address address_of_group(const ibv_gid& group) {
    verbs::Gid gid;
    gid.raw = group;
    return gid.address();
}

inline ibv_gid group_of(const std::string& text) {
    const auto address = util::Address::parse(text);
    if (!address)
        throw util::Error(fmt::format("--group '{}' is no IP address.", text));
    ibv_gid gid{};
    if (address->is_ipv6()) {
        const auto* ip = reinterpret_cast<const sockaddr_in6*>(address->get());
        std::memcpy(gid.raw, &ip->sin6_addr, sizeof gid.raw);
    } else {
        gid.raw[10] = gid.raw[11] = 0xff;  // ::ffff:239.1.2.3
        const auto* ip = reinterpret_cast<const sockaddr_in*>(address->get());
        std::memcpy(gid.raw + 12, &ip->sin_addr, sizeof ip->sin_addr);
    }
    const bool is_group = address->is_ipv6() ? gid.raw[0] == 0xff : (gid.raw[12] & 0xf0U) == 0xe0;
    if (!is_group)
        throw util::Error(fmt::format(
            "--group {} is no multicast address: try one of 239.0.0.0/8 or ff05::/16.", text));
    return gid;
}

/// While it lives, the host takes packets of the group from the interface, and tells routers and
/// switches that it does. ibv_attach_mcast does nothing of that with Soft-RoCE: what the host's IP
/// drops never comes to the device.
class HostMembership {
  public:
    HostMembership(const util::Address& group, unsigned interface)
        : socket_(util::check_errno(
              ::socket(group.is_ipv6() ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
              "socket")) {
        group_req request{};
        request.gr_interface = interface;
        std::memcpy(&request.gr_group, group.get(), group.size());
        util::check_errno(::setsockopt(socket_.get(), group.is_ipv6() ? IPPROTO_IPV6 : IPPROTO_IP,
                                       MCAST_JOIN_GROUP, &request, sizeof request),
                          fmt::format("setsockopt(MCAST_JOIN_GROUP {})", group.host()));
    }

  private:
    util::Fd socket_;
};

/// A queue pair's.
class Membership {
  public:
    Membership(const Side& side, ibv_qp* qp, const ibv_gid& group)
        : side_(side), qp_(qp), group_(group) {
        util::check_rc(ibv_attach_mcast(qp_, &group_, 0), "ibv_attach_mcast");
        log("has joined");
    }
    ~Membership() {
        if (qp_ != nullptr)
            ibv_detach_mcast(qp_, &group_, 0);
    }
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;
    Membership(Membership&&) = delete;
    Membership& operator=(Membership&&) = delete;

    void leave() {
        util::check_rc(ibv_detach_mcast(qp_, &group_, 0), "ibv_detach_mcast");
        log("has left");
        qp_ = nullptr;
    }

  private:
    void log(std::string_view what) {
        verbs::Gid gid;
        gid.raw = group_;
        side_.log.event("group", {{"qpn", qp_->qp_num}, {"what", what}, {"gid", gid.text()}});
    }

    const Side& side_;
    ibv_qp* qp_;
    ibv_gid group_;
};

/// The client's end: a message to the group while two have joined, and one when the second has
/// left.
inline void send_to_group(const Side& side, const ibv_gid& group, std::uint32_t q_key) {
    send(side, {.task = Task::Multicast, .q_key = q_key, .group = group});
    verbs::CompletionQueue completions(side.context(), 1);
    Slots slots(side, 2, 64, "To all of you. ", 0);
    Link link(side, {.type = IBV_QPT_UD, .cq = completions.cq.get(), .q_key = q_key});
    exchange::receive_endpoint(side.channel, side.patience());  // nobody's business here
    const Destination everyone(side, group, everybody, q_key);
    for (std::uint32_t number = 0; number < slots.count(); ++number) {
        side.meet();
        ibv_send_wr wr = slots.numbered_send(number, number, 64);
        everyone.address(wr);
        link.post_send(wr);
        const ibv_wc wc = next_completion(side, completions);
        side.meet();
        const Report report = receive_report(side);
        side.log.event(
            "fate", {{"what", number == 0 ? "one SEND to the group of two" : "and to that of one"},
                     {"status", verbs::name_of(wc.status)},
                     {"arrived", fmt::format("{} {} arrived", report.arrived,
                                             report.arrived == 1 ? "copy" : "copies")}});
    }
}

/// The server's end.
inline void receive_as_group(const Side& side, const Ask& ask) {
    const util::Address address = address_of_group(ask.group);
    verbs::CompletionQueue completions(side.context(), 4);
    Slots slots(side, 4, grh_size + 64, "", IBV_ACCESS_LOCAL_WRITE);
    const Wanted wanted{
        .type = IBV_QPT_UD, .cq = completions.cq.get(), .receives = 2, .q_key = ask.q_key};
    Link first(side, wanted);
    Link second(side, wanted, &first);
    for (std::size_t i = 0; i < slots.count(); ++i) {
        ibv_recv_wr wr = slots.receive(i);
        (i % 2 == 0 ? first : second).post_recv(wr);
    }
    const HostMembership host(address, side.device.gid.netdev_index);
    const Membership of_first(side, first.qp(), ask.group);
    Membership of_second(side, second.qp(), ask.group);
    for (const std::size_t members : {2U, 1U}) {
        if (members == 1)
            of_second.leave();
        side.meet();
        side.meet();
        Report report;
        // One more than there should be: a copy too many would be seen.
        for (const ibv_wc& wc : completions_until_quiet(side, completions, members + 1)) {
            log_datagram(side, wc, slots[wc.wr_id]);
            ++report.arrived;
        }
        send(side, report);
    }
}

}  // namespace step10
