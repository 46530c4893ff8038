// What only UD has: a queue pair that talks to several, the GRH before each message that it has
// received, and two kinds of message that vanish although their sender reads SUCCESS.
#pragma once

#include "numbered.hpp"

namespace step10 {

/// The numbers of the messages: what becomes of each?
enum Datagram : std::uint32_t { ToFirst, ToSecond, WrongKey, TooLong, Datagrams };

inline std::string hexadecimal(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

/// Says whose message it is and what stands before it.
inline void log_datagram(const Side& side, const ibv_wc& wc, std::span<const std::byte> slot) {
    side.log.event("datagram", {{"qpn", wc.qp_num},
                                {"number", number_at(slot.subspan(grh_size))},
                                {"src_qp", wc.src_qp},
                                {"byte_len", wc.byte_len},
                                {"grh", hexadecimal(slot.first(grh_size))}});
}

/// The client's end: one queue pair sends to two of the server's, and hears from one.
inline void send_datagrams(const Side& side, std::uint32_t q_key) {
    send(side, {.task = Task::Datagrams, .q_key = q_key});
    const std::uint32_t mtu = side.mtu();
    verbs::CompletionQueue completions(side.context(), Datagrams + 1);
    Slots slots(side, Datagrams, mtu + 1, "A datagram. ", IBV_ACCESS_LOCAL_WRITE);
    Slots answer(side, 1, grh_size + 4, "", IBV_ACCESS_LOCAL_WRITE);
    const Wanted wanted{
        .type = IBV_QPT_UD, .cq = completions.cq.get(), .sends = Datagrams, .q_key = q_key};
    Link link(side, wanted);
    const exchange::Endpoint second = exchange::receive_endpoint(side.channel, side.patience());
    ibv_recv_wr receive = answer.receive(0);
    link.post_recv(receive);
    Destination host(side, gid_of(link.peer()), link.peer().qpn, q_key);
    side.meet();

    std::vector<std::pair<std::string, ibv_wc_status>> fates;
    const auto post = [&](Datagram number, std::size_t length, const std::string& what) {
        ibv_send_wr wr = slots.numbered_send(number, number, length);
        host.address(wr);
        link.post_send(wr);
        fates.emplace_back(what, next_completion(side, completions).status);
    };
    post(ToFirst, 64, "to the first queue pair");
    host.with_qpn(second.qpn);
    post(ToSecond, 64, "to the second one, by the same address handle");
    host.with_q_key(q_key ^ 1);
    post(WrongKey, 64, "with another Q_Key");
    host.with_q_key(q_key);
    post(TooLong, mtu + 1, fmt::format("{} B, one more than the MTU", mtu + 1));
    side.meet();

    const Report report = receive_report(side);  // `number`: a bit for each message that came
    for (std::size_t number = 0; number < fates.size(); ++number)
        side.log.event("fate",
                       {{"what", fates[number].first},
                        {"status", verbs::name_of(fates[number].second)},
                        {"arrived", (report.number >> number & 1) != 0 ? "arrived" : "lost"}});
    for (const ibv_wc& wc : completions_until_quiet(side, completions, 1))
        log_datagram(side, wc, answer[wc.wr_id]);
    side.meet();
}

/// To whoever sent the message: what the GRH and the completion tell is enough for an address.
inline void answer(const Side& side, Link& link, const ibv_wc& message, std::span<std::byte> slot,
                   std::uint32_t q_key, verbs::CompletionQueue& completions) {
    ibv_wc wc = message;
    ibv_grh grh{};
    std::memcpy(&grh, slot.data(), sizeof grh);
    verbs::Ah ah{
        util::check_ptr(ibv_create_ah_from_wc(side.pd.get(), &wc, &grh, side.device.gid.port),
                        "ibv_create_ah_from_wc")};
    const Destination sender(std::move(ah), wc.src_qp, q_key);
    Slots slots(side, 1, 4, "", 0);
    ibv_send_wr wr = slots.numbered_send(0, Datagrams, 4);
    sender.address(wr);
    link.post_send(wr);
    next_completion(side, completions);
}

/// The server's end.
inline void receive_datagrams(const Side& side, const Ask& ask) {
    const std::size_t room = grh_size + side.mtu() + 1;
    verbs::CompletionQueue completions(side.context(), 2 * Datagrams + 1);
    Slots slots(side, std::size_t{2} * Datagrams, room, "", IBV_ACCESS_LOCAL_WRITE);
    const Wanted wanted{
        .type = IBV_QPT_UD, .cq = completions.cq.get(), .receives = Datagrams, .q_key = ask.q_key};
    Link first(side, wanted);
    Link second(side, wanted, &first);
    for (std::size_t i = 0; i < slots.count(); ++i) {
        ibv_recv_wr wr = slots.receive(i);
        (i < Datagrams ? first : second).post_recv(wr);
    }
    const auto violations = [&] {
        return verbs::query_port(side.context(), side.device.gid.port).qkey_viol_cntr;
    };
    const std::uint32_t before = violations();
    side.meet();
    side.meet_at_last();
    Report report;
    for (const ibv_wc& wc : completions_until_quiet(side, completions, ToSecond + 1)) {
        log_datagram(side, wc, slots[wc.wr_id]);
        ++report.arrived;
        if (const auto number = number_at(slots[wc.wr_id].subspan(grh_size)); number < Datagrams)
            report.number |= 1U << number;
        if (wc.qp_num == second.qp()->qp_num)
            answer(side, second, wc, slots[wc.wr_id], ask.q_key, completions);
    }
    // The one trace of a message with another key.
    side.log.event("q_key", {{"violations", violations() - before}});
    send(side, report);
    side.meet();
}

}  // namespace step10
