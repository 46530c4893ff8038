// The same numbered messages over RC, UC or UD: how many had SUCCESS at the sender, and which
// arrived.
#pragma once

#include <string>

#include <fmt/format.h>

#include "completions.hpp"
#include "destination.hpp"
#include "link.hpp"
#include "memory.hpp"

namespace step10 {

inline std::string_view name_of(Task task) {
    return task == Task::ReceiveRc ? "RC" : task == Task::ReceiveUc ? "UC" : "UD";
}

inline ibv_qp_type type_of(Task task) {
    return task == Task::ReceiveRc ? IBV_QPT_RC : task == Task::ReceiveUc ? IBV_QPT_UC : IBV_QPT_UD;
}

/// What came of the messages over one transport; of packets, what the devices counted.
struct Result {
    Task task{};
    std::uint32_t length = 0;
    std::uint32_t messages = 0;
    std::uint32_t successes = 0;
    Report report;
    std::optional<std::uint64_t> packets_out, packets_back;
};

/// The client's end.
inline Result send_numbered(const Side& side, const Ask& ask) {
    constexpr std::uint32_t window = 8;  // messages on their way at once
    send(side, ask);
    verbs::CompletionQueue completions(side.context(), window);
    Slots slots(side, window, ask.length, "Numbered. ", 0);
    Link link(side, {.type = type_of(ask.task),
                     .cq = completions.cq.get(),
                     .sends = window,
                     .q_key = ask.q_key});
    std::optional<Destination> destination;
    if (ask.task == Task::ReceiveUd)
        destination.emplace(side, gid_of(link.peer()), link.peer().qpn, ask.q_key);
    const PacketCount out(side, "sent_pkts");
    const PacketCount back(side, "rcvd_pkts");
    side.meet();

    Result result{ask.task, ask.length, ask.messages, 0, {}, {}, {}};
    const auto complete_one = [&] {
        result.successes += next_completion(side, completions).status == IBV_WC_SUCCESS;
    };
    for (std::uint32_t number = 0; number < ask.messages; ++number) {
        if (number >= window)
            complete_one();
        ibv_send_wr wr = slots.numbered_send(number % window, number, ask.length);
        if (destination)
            destination->address(wr);
        link.post_send(wr);
    }
    for (std::uint32_t left = std::min(window, ask.messages); left > 0; --left)
        complete_one();
    side.meet();
    result.report = receive_report(side);
    result.packets_out = out.value();
    result.packets_back = back.value();
    return result;
}

/// The server's end: which numbers came?
inline void receive_numbered(const Side& side, const Ask& ask) {
    const std::size_t before = ask.task == Task::ReceiveUd ? grh_size : 0;
    verbs::CompletionQueue completions(side.context(), static_cast<int>(ask.messages));
    Slots slots(side, ask.messages, before + ask.length, "", IBV_ACCESS_LOCAL_WRITE);
    Link link(side, {.type = type_of(ask.task),
                     .cq = completions.cq.get(),
                     .receives = ask.messages,
                     .q_key = ask.q_key});
    for (std::size_t i = 0; i < slots.count(); ++i) {
        ibv_recv_wr wr = slots.receive(i);
        link.post_recv(wr);
    }
    const PacketCount in(side, "rcvd_pkts");
    side.meet();
    side.meet_at_last();  // the client has no completion left to wait for
    std::vector<bool> came(ask.messages);
    std::uint32_t arrived = 0;
    for (const ibv_wc& wc : completions_until_quiet(side, completions, ask.messages)) {
        const std::uint32_t number = number_at(slots[wc.wr_id].subspan(before));
        if (wc.status != IBV_WC_SUCCESS || wc.byte_len != before + ask.length ||
            number >= ask.messages || came[number])
            throw util::Error(
                fmt::format("receive {} has something else than a new message.", wc.wr_id));
        came[number] = true;
        ++arrived;
    }
    std::string missing;
    for (std::uint32_t number = 0; number < ask.messages; ++number)
        if (!came[number])
            missing += fmt::format("{}{}", missing.empty() ? "" : " ", number);
    runlog::Fields fields{
        {"transport", name_of(ask.task)}, {"messages", ask.messages}, {"arrived", arrived}};
    if (!missing.empty())
        fields.emplace_back("missing", missing);
    side.log.event("arrived", fields);
    const auto packets = in.value();
    send(side, {.arrived = arrived,
                .packets = packets ? static_cast<std::uint32_t>(*packets) : Report::not_counted});
}

}  // namespace step10
