// The rows of a page, as they come, and what they refer to.
//
//   an event   [0, t, side, name, text, request, notable]
//   a packet   [1, t, side, kind, text, request, notable, frame, cause, seen, sender, psn, payload, is_response]
//
//   t          nanoseconds since the first row
//   side       of an event: 0 a client's, 1 the server's; of a packet: 0 client to server, 1 back,
//              2 between others. The text of other roles than these two begins with the role, and of
//              the link emulator's, which stand on the side that the packet came from.
//   kind       "write", "read", "send", "atomic", "ack", "nak", "rnr", "cm", "exchange", "cnp",
//              "other"
//   request    number in requests(), or -1
//   notable    1 for a loss, a NAK, an error
//   seen       0 for the first time, 1 again, 2 late
//   sender     number in senders(), or -1
//   cause      without logs, the packet's comment: an annotated capture has the cause there
//   psn        -1 without a connected queue pair
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/frame.hpp"
#include "render/page/archive.hpp"
#include "render/page/throughput.hpp"
#include "runlog/event.hpp"
#include "trace/timeline/finished_run.hpp"
#include "wire/packet.hpp"

namespace page {

class Rows : public timeline::RowVisitor {
  public:
    /// How many values of an archive are inflated together.
    static constexpr std::size_t chunk = 256;

    /// `most_packets`: rows are kept until so many packets have come, or twice as many events.
    Rows(const timeline::FinishedRun& run, std::uint64_t most_packets);

    void event(const runlog::Event& event, std::int64_t t_ns,
               const timeline::WorkRequest* request) override;
    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame, std::uint64_t number,
                const timeline::WorkRequest* request) override;

    struct Count {
        std::uint64_t packets = 0;
        std::uint64_t events = 0;
    };
    const Count& kept() const { return kept_; }
    const Count& left_out() const { return left_out_; }
    /// The capture's clock at the first row.
    std::int64_t origin_ns() const { return origin_ns_.value_or(0); }
    /// Of all packets, those left out too; from the capture's first on, which is at
    /// throughput_begins_ns().
    const Throughput& throughput() const { return throughput_; }
    std::int64_t throughput_begins_ns() const { return first_packet_ns_.value_or(0); }

    /// What rows refer to by number; with the row of each request's post_send.
    struct Request {
        const timeline::WorkRequest* request = nullptr;
        std::size_t sender = 0;
        std::optional<std::size_t> row;
    };
    const std::vector<Request>& requests() const { return requests_; }
    /// Role and QPN.
    const std::vector<std::pair<std::string, std::uint32_t>>& senders() const { return senders_; }

    /// 1: the role's events stand on the server's side; 0: on the client's.
    int side_of(std::string_view role) const;

    /// The row of the role's first event of that time (the capture's clock) or later; nullopt where
    /// there is none here.
    std::optional<std::size_t> row_of_event(const std::string& role, std::int64_t t_ns) const;

    std::string take_rows() { return rows_.take(); }
    std::string take_details() { return details_.take(); }

  private:
    bool has_room() const;
    std::int64_t since_first(std::int64_t t_ns);
    std::int64_t number_of(const timeline::WorkRequest* request);
    std::size_t sender_of(const timeline::WorkRequest& request);
    int side_of(const timeline::PacketRow& row) const;
    std::string further_client(const timeline::PacketRow& row) const;
    void count_payload(const timeline::PacketRow& row, std::size_t bytes);

    timeline::Hosts hosts_;
    std::map<std::string, std::string, std::less<>> addresses_;  // role -> IP address
    bool has_logs_;
    std::uint64_t most_packets_;
    Count kept_, left_out_;
    std::optional<std::int64_t> origin_ns_;
    std::optional<std::int64_t> first_packet_ns_;
    Archive rows_{chunk};
    Archive details_{chunk};
    Throughput throughput_;
    std::vector<Request> requests_;
    std::unordered_map<const timeline::WorkRequest*, std::size_t> numbers_;
    std::vector<std::pair<std::string, std::uint32_t>> senders_;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> sender_numbers_;
    std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> events_;  // by role
};

}  // namespace page
