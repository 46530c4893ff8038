#include "render/page/rows.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "render/cause_text.hpp"
#include "render/page/details.hpp"
#include "util/printable.hpp"
#include "wire/tcp.hpp"

namespace page {

namespace key = runlog::key;

namespace {

enum Side { client = 0, server = 1, others = 2 };

std::string_view kind_of(const wire::OpcodeInfo& opcode) {
    switch (opcode.operation) {
        case wire::Operation::Send:
            return "send";
        case wire::Operation::RdmaWrite:
            return "write";
        case wire::Operation::RdmaReadRequest:
        case wire::Operation::RdmaReadResponse:
            return "read";
        case wire::Operation::Acknowledge:
            return "ack";
        case wire::Operation::AtomicAcknowledge:
        case wire::Operation::CmpSwap:
        case wire::Operation::FetchAdd:
        case wire::Operation::AtomicWrite:
            return "atomic";
        case wire::Operation::Cnp:
            return "cnp";
        case wire::Operation::Resync:
        case wire::Operation::Flush:
            break;
    }
    return "other";
}

std::string_view kind_of(const wire::Packet& packet) {
    if (packet.not_roce == wire::NotRoce::Tcp)
        return "exchange";
    if (packet.mad)
        return "cm";
    if (packet.aeth && packet.aeth->kind() == wire::AethKind::Nak)
        return "nak";
    if (packet.aeth && packet.aeth->kind() == wire::AethKind::RnrNak)
        return "rnr";
    return packet.opcode != nullptr ? kind_of(*packet.opcode) : "other";
}

bool is_notable(const wire::Packet& packet, const timeline::PacketRow& row) {
    return packet.malformed || (row.cause && row.cause->seen != timeline::Transmission::First) ||
           (row.key && row.key->is_nak) ||
           (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad);
}

bool is_notable(const runlog::Event& event) {
    return event.is_one_of({"error", "lost"}) || event.role == timeline::link_role ||
           (event.is("wc") && event[key::status] != "SUCCESS");
}

// Removes the alignment of columns, which is for terminals.
std::string single_spaced(std::string text) {
    const auto are_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), are_spaces), text.end());
    return text;
}

// The cause without the arrow.
std::string cause_of(const timeline::PacketRow& row) {
    constexpr std::string_view arrow = "← ";
    std::string text = render::cause_arrow(row);
    return text.starts_with(arrow) ? text.substr(arrow.size()) : text;
}

// Bytes to keep of each payload: fewer if there are many packets.
std::size_t most_payload(std::uint64_t packets) {
    constexpr std::uint64_t few = 10'000;
    return packets < few ? 512 : 64;
}

}  // namespace

Rows::Rows(const timeline::FinishedRun& run, std::uint64_t most_packets, const Encode& encode)
    : hosts_(run.hosts()),
      addresses_(run.info().addresses.begin(), run.info().addresses.end()),
      has_logs_(!run.files().logs.empty()),
      most_packets_(most_packets),
      rows_(chunk, encode),
      details_(chunk, encode) {}

bool Rows::has_room() const {
    return kept_.packets < most_packets_ && kept_.events < 2 * most_packets_;
}

std::int64_t Rows::since_first(std::int64_t t_ns) {
    if (!origin_ns_)
        origin_ns_ = t_ns;
    return t_ns - *origin_ns_;
}

void Rows::event(const runlog::Event& event, std::int64_t t_ns,
                 const timeline::WorkRequest* request) {
    if (!has_room()) {
        ++left_out_.events;
        return;
    }
    ++kept_.events;
    const std::size_t row = row_++;
    const auto number = number_of(request);
    if (number >= 0 && event.is("post_send"))
        requests_[static_cast<std::size_t>(number)].row = row;
    events_[event.role].emplace_back(t_ns, row);
    const bool is_named = event.role == "server" || event.role == "client";
    // The link emulator's events are on the side of the packet's sender.
    const std::string_view side =
        event.role == timeline::link_role ? event[key::from] : std::string_view(event.role);
    const std::string text = single_spaced(runlog::to_text(event) + runlog::duration_text(event));
    add_row(since_first(t_ns), side_of(side), event.name,
            (is_named ? "" : event.role + ": ") + text, number, is_notable(event));
    details_.add(details_of(event));
}

void Rows::packet(const timeline::PacketRow& row, const wire::Packet& packet,
                  const capture::Frame& frame, std::uint64_t number,
                  const timeline::WorkRequest* request) {
    const auto tcp = wire::tcp_segment(packet, frame.bytes);
    const std::size_t payload = tcp ? tcp->payload_length : packet.icrc ? packet.payload_length : 0;
    if (!first_packet_ns_)
        first_packet_ns_ = row.t_ns;
    count_payload(row, payload);
    if (!has_room()) {
        ++left_out_.packets;
        return;
    }
    const auto request_number = number_of(request);
    if (request != nullptr && request->chunk)
        begin_chunk(requests_[static_cast<std::size_t>(request_number)], request_number, row.t_ns);
    const int side = side_of(row);
    std::string text = single_spaced(packet_text_.line(packet, frame.bytes));
    if (side == others && !row.source.empty())
        text = fmt::format("{} → {}: {}", row.source, row.destination, text);
    text.insert(0, further_client(row));
    const std::string cause = has_logs_ ? cause_of(row) : util::printable(frame.notes.comment);
    const std::int64_t sender =
        request_number < 0
            ? -1
            : static_cast<std::int64_t>(requests_[static_cast<std::size_t>(request_number)].sender);
    rows_.add(fmt::format(
        R"([1,{},{},"{}",{},{},{:d},{},{},{},{},{},{},{:d}])", since_first(row.t_ns), side,
        kind_of(packet), json_string(text), request_number, is_notable(packet, row), number,
        json_string(cause), row.cause ? static_cast<int>(row.cause->seen) : 0, sender,
        row.key ? std::int64_t{row.key->psn} : -1, payload, row.key && row.key->is_response));
    details_.add_later(details_later(packet, frame, number, most_payload(kept_.packets)));
    ++kept_.packets;
    ++row_;
}

void Rows::begin_chunk(Request& request, std::int64_t number, std::int64_t t_ns) {
    if (request.chunk_row)
        return;
    request.chunk_row = row_++;
    const logged::Chunk& carried = *request.request->chunk;
    add_row(since_first(t_ns), side_of(request.request->role), "chunk",
            carried.text() + " · " + carried.contents(), number, false);
    details_.add("[]");
}

void Rows::add_row(std::int64_t t_ns, int side, std::string_view name, std::string_view text,
                   std::int64_t request, bool is_notable) {
    rows_.add(fmt::format("[0,{},{},{},{},{},{:d}]", t_ns, side, json_string(name),
                          json_string(text), request, is_notable));
}

std::int64_t Rows::number_of(const timeline::WorkRequest* request) {
    if (request == nullptr)
        return -1;
    const auto [entry, is_new] = numbers_.try_emplace(request, requests_.size());
    if (is_new)
        requests_.push_back({request, sender_of(*request), std::nullopt, std::nullopt});
    return static_cast<std::int64_t>(entry->second);
}

std::size_t Rows::sender_of(const timeline::WorkRequest& request) {
    const std::pair key(request.role, request.qpn);
    const auto [entry, is_new] = sender_numbers_.try_emplace(key, senders_.size());
    if (is_new)
        senders_.push_back(key);
    return entry->second;
}

int Rows::side_of(std::string_view role) const {
    if (role == "server" || role == "client")
        return role == "server" ? server : client;
    const auto address = addresses_.find(role);
    return address != addresses_.end() && address->second == hosts_.server ? server : client;
}

int Rows::side_of(const timeline::PacketRow& row) const {
    const auto& clients = hosts_.clients;
    if (clients.contains(hosts_.server))
        return others;
    if (clients.contains(row.source) && row.destination == hosts_.server)
        return client;
    return row.source == hosts_.server && clients.contains(row.destination) ? server : others;
}

// "client2: " or "to client2: ", if the two columns do not show it.
std::string Rows::further_client(const timeline::PacketRow& row) const {
    const int side = side_of(row);
    if (side == others || hosts_.clients.size() == 1)
        return {};
    const std::string& role = hosts_.clients.at(side == client ? row.source : row.destination);
    if (role == "client")
        return {};
    return (side == client ? "" : "to ") + role + ": ";
}

void Rows::count_payload(const timeline::PacketRow& row, std::size_t bytes) {
    const int side = side_of(row);
    if (bytes == 0 || side == others)
        return;
    const bool is_tcp = row.segment.has_value();
    const auto stream = side == client ? (is_tcp ? Stream::TcpAhead : Stream::RoceAhead)
                                       : (is_tcp ? Stream::TcpBack : Stream::RoceBack);
    throughput_.add(stream, row.t_ns - *first_packet_ns_, bytes);
}

std::optional<std::size_t> Rows::row_of_event(const std::string& role, std::int64_t t_ns) const {
    const auto events = events_.find(role);
    if (events == events_.end())
        return std::nullopt;
    const auto found = std::ranges::lower_bound(events->second, t_ns, {},
                                                &std::pair<std::int64_t, std::size_t>::first);
    return found == events->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace page
