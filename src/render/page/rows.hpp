// The rows of a page, in order, and the tables that they refer to.
//
//   an event   [0, t, side, name, text, request, notable]
//   a chunk    the same, with the name "chunk": what a work request carries of a collective, before
//              its first packet
//   a packet   [1, t, side, kind, text, request, notable, frame, cause, seen,
//               sender, psn, payload, is_response]
//
//   t          nanoseconds since the first row
//   side       event: 0 client, 1 server; packet: 0 client to server, 1 server to client, 2 other.
//              The text of an event of another role begins with the role. Events of the link
//              emulator are on the side of the packet's sender.
//   kind       "write", "read", "send", "atomic", "ack", "nak", "rnr", "cm", "exchange", "cnp",
//              "other"
//   request    index in requests(), or -1
//   notable    1 for a loss, a NAK, an error
//   seen       0 first time, 1 again, 2 late
//   sender     index in senders(), or -1
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
#include "trace/service/packet_text.hpp"
#include "trace/timeline/finished_run.hpp"
#include "wire/packet.hpp"

namespace page {

class Rows : public timeline::RowVisitor {
  public:
    /// Number of values of an archive that are inflated together.
    static constexpr std::size_t chunk = 256;

    /// Keeps rows up to `most_packets` packets or twice as many events.
    Rows(const timeline::FinishedRun& run, std::uint64_t most_packets,
         const Encode& encode = page::encode);

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
    /// Time of the first row on the capture's clock.
    std::int64_t origin_ns() const { return origin_ns_.value_or(0); }
    /// Of all packets, including those left out; starts at the capture's first packet, at
    /// throughput_begins_ns().
    const Throughput& throughput() const { return throughput_; }
    std::int64_t throughput_begins_ns() const { return first_packet_ns_.value_or(0); }

    /// What rows refer to by index. `row`: the request's post_send.
    struct Request {
        const timeline::WorkRequest* request = nullptr;
        std::size_t sender = 0;
        std::optional<std::size_t> row;
        std::optional<std::size_t> chunk_row;
    };
    const std::vector<Request>& requests() const { return requests_; }
    /// Role and QPN.
    const std::vector<std::pair<std::string, std::uint32_t>>& senders() const { return senders_; }

    /// Side of the role's events: 0 client, 1 server.
    int side_of(std::string_view role) const;

    /// The row of the role's first event at or after `t_ns` (the capture's clock); nullopt if there
    /// is none.
    std::optional<std::size_t> row_of_event(const std::string& role, std::int64_t t_ns) const;

    std::string take_rows() { return rows_.take(); }
    std::string take_details() { return details_.take(); }

  private:
    bool has_room() const;
    void add_row(std::int64_t t_ns, int side, std::string_view name, std::string_view text,
                 std::int64_t request, bool is_notable);
    void begin_chunk(Request& request, std::int64_t number, std::int64_t t_ns);
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
    std::size_t row_ = 0;  // the next one
    std::optional<std::int64_t> origin_ns_;
    std::optional<std::int64_t> first_packet_ns_;
    service::PacketText packet_text_;
    Archive rows_;
    Archive details_;
    Throughput throughput_;
    std::vector<Request> requests_;
    std::unordered_map<const timeline::WorkRequest*, std::size_t> numbers_;
    std::vector<std::pair<std::string, std::uint32_t>> senders_;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> sender_numbers_;
    std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> events_;  // by role
};

}  // namespace page
