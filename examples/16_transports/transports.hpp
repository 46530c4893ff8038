// Lesson 16, part 1: the same numbered messages over RC, UC or UD. How many complete with SUCCESS
// at the sender, and which arrive?
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "messages.hpp"
#include "queue_pair.hpp"
#include "rdma/counters.hpp"
#include "side.hpp"

namespace lesson16 {

inline ibv_qp_type type_of(Part part) {
    return part == Part::Rc ? IBV_QPT_RC : part == Part::Uc ? IBV_QPT_UC : IBV_QPT_UD;
}

/// Counts RoCE packets with a device counter since construction; nullopt if the device does not
/// have the counter (the names are rxe's).
class PacketCount {
  public:
    PacketCount(const Side& side, const char* counter)
        : side_(side), counter_(counter), before_(now()) {}
    std::optional<std::uint64_t> value() const {
        const auto after = now();
        return before_ && after ? std::optional(*after - *before_) : std::nullopt;
    }

  private:
    std::optional<std::uint64_t> now() const {
        const auto all =
            rdma::read_counters(ibv_get_device_name(side_.context()->device), side_.port.number);
        const auto entry = all.find(counter_);
        return entry == all.end() ? std::nullopt : std::optional(entry->second);
    }

    const Side& side_;
    const char* counter_;
    std::optional<std::uint64_t> before_;
};

/// The result of the messages over one transport; packets are counted by the devices.
struct Result {
    Request request;
    std::uint32_t successes = 0;
    Report report;
    std::optional<std::uint64_t> packets_out, packets_back;
};

inline void log_result(runlog::Log& log, const Result& result) {
    runlog::Fields fields{{"transport", rdma::name_of(type_of(result.request.part))},
                          {"messages", result.request.messages},
                          {"len", result.request.length},
                          {"successes", result.successes},
                          {"arrived", result.report.arrived}};
    if (result.packets_out)
        fields.emplace_back("packets_out", *result.packets_out);
    if (result.report.packets != Report::not_counted)
        fields.emplace_back("packets_come", result.report.packets);
    if (result.packets_back)
        fields.emplace_back("packets_back", *result.packets_back);
    log.event("transport", std::move(fields));
}

inline void log_table(runlog::Log& log, const std::vector<Result>& results) {
    const auto number = [](std::optional<std::uint64_t> value) {
        return value ? std::to_string(*value) : "-";
    };
    log.note("           of bytes  messages  SUCCESS  arrived  packets sent  received  returned");
    for (const Result& result : results)
        log.note(fmt::format("{:<9} {:>9} {:>9} {:>8} {:>8} {:>13} {:>9} {:>9}",
                             rdma::name_of(type_of(result.request.part)), result.request.length,
                             result.request.messages, result.successes, result.report.arrived,
                             number(result.packets_out),
                             result.report.packets == Report::not_counted
                                 ? "-"
                                 : std::to_string(result.report.packets),
                             number(result.packets_back)));
}

/// A UD receive begins with a "global route header" of this many bytes (IBTA volume 1, 8.3), or
/// what RoCE v2 stores there.
constexpr std::size_t grh_size = 40;

/// The client.
inline Result send_numbered(const Side& side, const Request& request) {
    constexpr std::uint32_t window = 8;  // messages in flight
    send(side, request);

    // 1. A queue pair of the transport; for UD, also an address handle for the server.
    const rdma::Cq cq = create_cq(side, window);
    Slots slots(side, window, request.length, "Numbered. ", 0);
    const rdma::Qp qp = create_qp(side, type_of(request.part), cq.get(), window, 1);
    send_endpoint(side, qp.get());
    const net::Endpoint peer = receive_endpoint(side);
    rdma::Ah ah;
    if (request.part == Part::Ud) {
        open_for_datagrams(side, qp.get(), request.q_key);
        ah = create_ah(side, gid_of(peer));
    } else {
        connect(side, qp.get(), peer);
    }
    const Destination to{ah.get(), peer.qpn, request.q_key};
    const PacketCount out(side, "sent_pkts");
    const PacketCount back(side, "rcvd_pkts");
    side.barrier();

    // 2. SUCCESS means for RC that the peer's device acknowledged the message, for UC and UD that
    // it was sent.
    Result result{request, 0, {}, {}, {}};
    const auto complete_one = [&] {
        result.successes += next_completion(side, cq.get()).status == IBV_WC_SUCCESS;
    };
    for (std::uint32_t number = 0; number < request.messages; ++number) {
        if (number >= window)
            complete_one();
        post_send(qp.get(), slots, number % window, number, request.length, ah ? &to : nullptr);
    }
    for (std::uint32_t left = std::min(window, request.messages); left > 0; --left)
        complete_one();

    // 3. The server reports what arrived.
    side.barrier();
    result.report = receive_report(side);
    result.packets_out = out.value();
    result.packets_back = back.value();
    return result;
}

/// The server.
inline void receive_numbered(const Side& side, const Request& request) {
    // 1. One receive per message.
    const std::size_t header = request.part == Part::Ud ? grh_size : 0;
    const rdma::Cq cq = create_cq(side, request.messages);
    Slots slots(side, request.messages, header + request.length, "", IBV_ACCESS_LOCAL_WRITE);
    const rdma::Qp qp = create_qp(side, type_of(request.part), cq.get(), 1, request.messages);
    send_endpoint(side, qp.get());
    const net::Endpoint peer = receive_endpoint(side);
    if (request.part == Part::Ud)
        open_for_datagrams(side, qp.get(), request.q_key);
    else
        connect(side, qp.get(), peer);
    for (std::size_t i = 0; i < slots.count(); ++i)
        post_recv(qp.get(), slots, i);
    const PacketCount in(side, "rcvd_pkts");
    side.barrier();

    // 2. The client has sent everything. Only the numbers show which messages are missing.
    side.barrier_without_limit();
    std::vector<bool> came(request.messages);
    std::uint32_t arrived = 0;
    for (const ibv_wc& wc : completions_until_quiet(side, cq.get(), request.messages)) {
        const std::uint32_t number = number_at(slots[wc.wr_id].subspan(header));
        if (wc.status != IBV_WC_SUCCESS || wc.byte_len != header + request.length ||
            number >= request.messages || came[number])
            throw util::Error(fmt::format("receive {} does not hold a new message.", wc.wr_id));
        came[number] = true;
        ++arrived;
    }
    std::string missing;
    for (std::uint32_t number = 0; number < request.messages; ++number)
        if (!came[number])
            missing += fmt::format("{}{}", missing.empty() ? "" : " ", number);
    runlog::Fields fields{{"transport", rdma::name_of(type_of(request.part))},
                          {"messages", request.messages},
                          {"arrived", arrived}};
    if (!missing.empty())
        fields.emplace_back("missing", missing);
    side.log.event("arrived", fields);
    const auto packets = in.value();
    send(side,
         Report{.arrived = arrived,
                .packets = packets ? static_cast<std::uint32_t>(*packets) : Report::not_counted});
}

}  // namespace lesson16
