// Lesson 16, part 2: the features of UD. One queue pair sends to several, each received message
// begins with a GRH, and two kinds of messages are lost although the sender's status is SUCCESS.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "transports.hpp"

namespace lesson16 {

/// The numbers of the client's four messages and of the server's reply.
enum Datagram : std::uint32_t { ToFirst, ToSecond, WrongKey, TooLong, Answer };

inline void log_datagram(const Side& side, const ibv_wc& wc, std::span<const std::byte> slot) {
    std::string grh;
    for (const std::byte byte : slot.first(grh_size))
        grh += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    side.log.event("datagram", {{"qpn", wc.qp_num},
                                {"number", number_at(slot.subspan(grh_size))},
                                {"src_qp", wc.src_qp},
                                {"byte_len", wc.byte_len},
                                {"grh", grh}});
}

/// The client.
inline void send_datagrams(const Side& side, std::uint32_t q_key) {
    send(side, Request{.part = Part::Datagrams, .q_key = q_key});

    // 1. One queue pair, and one address handle for the host with the server's two queue pairs.
    const std::uint32_t mtu = side.port.path_mtu;
    const rdma::Cq cq = create_cq(side, Answer + 1);
    Slots slots(side, Answer, mtu + 1, "A datagram. ", IBV_ACCESS_LOCAL_WRITE);
    Slots answer(side, 1, grh_size + 4, "", IBV_ACCESS_LOCAL_WRITE);
    const rdma::Qp qp = create_qp(side, IBV_QPT_UD, cq.get(), Answer, 1);
    send_endpoint(side, qp.get());
    const net::Endpoint first = receive_endpoint(side);
    const net::Endpoint second = receive_endpoint(side);
    open_for_datagrams(side, qp.get(), q_key);
    post_recv(qp.get(), answer, 0);
    const rdma::Ah host = create_ah(side, gid_of(first));
    side.barrier();

    // 2. Four messages: two that arrive, one that the peer's device drops, and one that is never
    // sent (IBTA volume 1, C10-93.1.1).
    std::vector<std::pair<std::string, ibv_wc_status>> fates;
    const auto post = [&](Datagram number, std::size_t length, std::uint32_t qpn, std::uint32_t key,
                          const std::string& what) {
        const Destination to{host.get(), qpn, key};
        post_send(qp.get(), slots, number, number, length, &to);
        fates.emplace_back(what, next_completion(side, cq.get()).status);
    };
    post(ToFirst, 64, first.qpn, q_key, "to the first queue pair");
    post(ToSecond, 64, second.qpn, q_key, "to the second one, by the same address handle");
    post(WrongKey, 64, second.qpn, q_key ^ 1, "with another Q_Key");
    post(TooLong, mtu + 1, second.qpn, q_key, fmt::format("{} B, one more than the MTU", mtu + 1));
    side.barrier();

    // 3. The server reports which messages arrived: one bit each.
    const Report report = receive_report(side);
    for (std::size_t number = 0; number < fates.size(); ++number)
        side.log.event("fate",
                       {{"what", fates[number].first},
                        {"status", rdma::name_of(fates[number].second)},
                        {"arrived", (report.value >> number & 1) != 0 ? "arrived" : "lost"}});
    for (const ibv_wc& wc : completions_until_quiet(side, cq.get(), 1))
        log_datagram(side, wc, answer[wc.wr_id]);
    side.barrier();
}

/// Replies to a message. Its GRH has the sender's address, its completion the sender's QPN.
inline void send_answer(const Side& side, ibv_qp* qp, ibv_wc message, std::span<std::byte> slot,
                        std::uint32_t q_key) {
    ibv_grh grh{};
    std::memcpy(&grh, slot.data(), sizeof grh);
    const rdma::Ah ah{
        CHECK_PTR(ibv_create_ah_from_wc(side.pd.get(), &message, &grh, side.port.number))};
    Slots slots(side, 1, 4, "", 0);
    const Destination to{ah.get(), message.src_qp, q_key};
    post_send(qp, slots, 0, Answer, 4, &to);
    next_completion(side, qp->send_cq);
}

/// Returns the port's count of datagrams dropped for a wrong Q_Key: the only trace of such
/// messages.
inline std::uint32_t q_key_violations(const Side& side) {
    ibv_port_attr port{};
    CHECK_RC(ibv_query_port(side.context(), side.port.number, &port));
    return port.qkey_viol_cntr;
}

/// The server.
inline void receive_datagrams(const Side& side, const Request& request) {
    // 1. Two queue pairs. A receive also needs space for the GRH.
    const std::size_t room = grh_size + side.port.path_mtu + 1;
    const rdma::Cq cq = create_cq(side, 2 * Answer + 1);
    Slots slots(side, std::size_t{2} * Answer, room, "", IBV_ACCESS_LOCAL_WRITE);
    const rdma::Qp first = create_qp(side, IBV_QPT_UD, cq.get(), 1, Answer);
    const rdma::Qp second = create_qp(side, IBV_QPT_UD, cq.get(), 1, Answer);
    send_endpoint(side, first.get());
    receive_endpoint(side);
    send_endpoint(side, second.get());
    for (ibv_qp* qp : {first.get(), second.get()})
        open_for_datagrams(side, qp, request.q_key);
    for (std::size_t i = 0; i < slots.count(); ++i)
        post_recv(i < Answer ? first.get() : second.get(), slots, i);
    const std::uint32_t violations = q_key_violations(side);
    side.barrier();

    // 2. The client has sent everything. The second queue pair replies.
    side.barrier_without_limit();
    Report report;
    for (const ibv_wc& wc : completions_until_quiet(side, cq.get(), ToSecond + 1)) {
        const auto slot = slots[wc.wr_id];
        log_datagram(side, wc, slot);
        ++report.arrived;
        if (const auto number = number_at(slot.subspan(grh_size)); number < Answer)
            report.value |= 1U << number;
        if (wc.qp_num == second->qp_num)
            send_answer(side, second.get(), wc, slot, request.q_key);
    }
    side.log.event("q_key", {{"violations", q_key_violations(side) - violations}});
    send(side, report);
    side.barrier();
}

}  // namespace lesson16
