#include "trace/timeline/first_psn_search.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "trace/timeline/endpoint_search.hpp"
#include "wire/tcp.hpp"

namespace timeline {
namespace {

constexpr std::string_view connection_manager = "the connection manager";

}  // namespace

std::vector<FirstPsnSearch::Announcement> FirstPsnSearch::announcements(const wire::Packet& packet,
                                                                        util::Bytes frame) {
    std::vector<Announcement> found;
    if (packet.cm) {
        if (const auto* request = packet.cm->as<wire::CmReq>())
            found.push_back({&FirstPsn::connect_requests, request->local_qpn,
                             request->starting_psn.value(), true});
        else if (const auto* reply = packet.cm->as<wire::CmRep>())
            found.push_back(
                {&FirstPsn::connect_replies, reply->local_qpn, reply->starting_psn.value(), true});
    } else if (const auto segment = wire::tcp_segment(packet, frame)) {
        util::Bytes payload = segment->payload;
        while (const auto endpoint = take_endpoint(payload))
            found.push_back({&FirstPsn::tcp_segments, endpoint->qpn, endpoint->psn});
    }
    return found;
}

void FirstPsnSearch::learn(const runlog::Event& event) {
    log_.add(event);
    all_.has_logs |= event.role != link_role;
}

void FirstPsnSearch::begin(const FinishedRun& run) {
    run.each_logged_event([this](const runlog::Event& event) { learn(event); });
}

FirstPsns FirstPsnSearch::take() {
    take_log();
    for (Direction& direction : directions_) {
        take_begin(direction);
        all_.directions.push_back(std::move(direction.first));
    }
    return std::move(all_);
}

void FirstPsnSearch::take_log() {
    if (std::exchange(has_taken_log_, true))
        return;
    for (FirstPsn& first : log_.directions()) {
        const std::string source = log_.address_of(first.from);
        const std::string destination = log_.address_of(first.to);
        add({std::move(first), source, destination});
    }
}

void FirstPsnSearch::add(Direction direction) {
    for (const SeenAnnouncement& said : said_)
        note(direction, said);
    to_[{direction.destination, direction.first.dest_qpn}].push_back(directions_.size());
    from_[{direction.source, direction.first.qpn}].push_back(directions_.size());
    directions_.push_back(std::move(direction));
}

// The directions with requests to this queue pair.
std::span<const std::size_t> FirstPsnSearch::to(const std::string& address,
                                                std::uint32_t qpn) const {
    const auto found = to_.find({address, qpn});
    return found == to_.end() ? std::span<const std::size_t>() : found->second;
}

void FirstPsnSearch::packet(const PacketRow& row, const wire::Packet& packet,
                            const capture::Frame& frame) {
    take_log();
    ++all_.packets;
    all_.roce_packets += packet.is_roce();
    for (const Announcement& what : announcements(packet, frame.bytes)) {
        said_.push_back({what, row.source, frame.number});
        for (Direction& direction : directions_)
            note(direction, said_.back());
    }
    if (packet.cm)
        connect(*flow::StreamKey::of(packet), *packet.cm);
    if (!row.key)
        return;
    if (!all_.has_logs)
        make_if_new(*row.key);
    const auto& index = row.key->is_response ? from_ : to_;
    if (const auto found = index.find({row.key->destination, row.key->dest_qpn});
        found != index.end())
        for (const std::size_t direction : found->second)
            note(directions_[direction], *row.key, frame.number);
}

// Adds both directions of a connection set up by the connection manager.
void FirstPsnSearch::connect(const flow::StreamKey& datagram, const wire::Cm& message) {
    const auto made = connects_.see(datagram, message);
    if (!made || !connections_.insert(made->id).second)
        return;
    make(made->to_passive, made->to_active.dest_qpn, made->first_to_passive.value());
    make(made->to_active, made->to_passive.dest_qpn, made->first_to_active.value());
}

void FirstPsnSearch::make(const flow::StreamKey& stream, std::uint32_t qpn, std::uint32_t psn) {
    const std::string source = flow::text(stream.src);
    const std::string destination = flow::text(stream.dst);
    const auto is_it = [&](std::size_t index) {
        const Direction& other = directions_[index];
        const FirstPsn& first = other.first;
        return first.qpn == qpn && (other.source.empty() || other.source == source) &&
               // Another connection on the same queue pairs has its own PSN.
               (first.from != source || first.psn == psn);
    };
    for (const std::string& address : {destination, std::string()})
        if (std::ranges::any_of(to(address, stream.dest_qpn), is_it))
            return;
    Direction direction{{}, source, destination};
    direction.first.from = source;
    direction.first.to = destination;
    direction.first.qpn = qpn;
    direction.first.dest_qpn = stream.dest_qpn;
    direction.first.psn = psn;
    direction.first.chosen_by = connection_manager;
    add(std::move(direction));
}

// Adds the direction of a request if it is not known yet.
void FirstPsnSearch::make_if_new(const PacketKey& key) {
    if (key.is_response || key.source_qpn || key.source.empty())
        return;
    const auto is_its = [&](std::size_t index) { return directions_[index].source == key.source; };
    if (std::ranges::any_of(to(key.destination, key.dest_qpn), is_its))
        return;
    Direction direction{{}, key.source, key.destination};
    direction.first.from = key.source;
    direction.first.to = key.destination;
    direction.first.dest_qpn = key.dest_qpn;
    if (key.starts_message)
        direction.first.psn = key.psn;
    add(std::move(direction));
}

void FirstPsnSearch::note(Direction& direction, const SeenAnnouncement& said) {
    FirstPsn& first = direction.first;
    const Announcement& what = said.what;
    const auto is_qpn = [&](std::uint32_t qpn) { return qpn == 0 || what.qpn == qpn; };
    const bool is_of_it = what.is_expected
                              ? said.source == direction.destination && is_qpn(first.dest_qpn)
                              : said.source == direction.source && is_qpn(first.qpn);
    if (!is_of_it)
        return;
    if (!first.psn && first.qpn != 0)
        first.psn = what.psn;
    if (what.psn == first.psn)
        (first.*what.where).push_back(said.frame);
}

void FirstPsnSearch::note(Direction& direction, const PacketKey& key, std::uint64_t frame) {
    FirstPsn& first = direction.first;
    const bool is_first = !key.is_response && !std::exchange(direction.has_request, true);
    // If the capture begins within a message, its first packet does not show the first PSN.
    if (is_first && key.starts_message) {
        if (!first.psn)
            first.psn = key.psn;
        else if (first.chosen_by == connection_manager && first.psn != key.psn)
            direction.begun = {.psn = key.psn, .bths = {}};
    }
    if (first.psn == key.psn)
        first.bths.push_back(frame);
    note_begin(direction, key, frame);
}

void FirstPsnSearch::note_begin(Direction& direction, const PacketKey& key, std::uint64_t frame) {
    auto& begun = direction.begun;
    if (!begun)
        return;
    if (key.psn == begun->psn)
        begun->bths.push_back(frame);
    if (key.psn != direction.first.psn)
        return;
    if (key.is_response)
        begun->was_refused |= key.is_nak;
    else
        begun.reset();  // it was sent later
}

// Requests from the announced one on may be missing, unless the responder asks for it.
void FirstPsnSearch::take_begin(Direction& direction) {
    FirstPsn& first = direction.first;
    if (!direction.begun)
        return;
    const std::int32_t ahead = distance(wire::Psn(*first.psn), wire::Psn(direction.begun->psn));
    if (ahead < -flow::longest_jump || ahead > flow::longest_jump ||
        (ahead > 0 && !direction.begun->was_refused))
        return;
    first.psn = direction.begun->psn;
    first.bths = std::move(direction.begun->bths);
    first.chosen_by = "not the connection manager";
    first.connect_requests.clear();
    first.connect_replies.clear();
}

FirstPsns first_psns(TraceInput& input) {
    FirstPsnSearch search;
    while (const auto event = input.next_event())
        search.learn(*event);
    while (const auto frame = input.next_frame()) {
        const wire::Packet packet = input.decode(*frame, wire::IcrcCheck::Skip);
        search.packet(row_of(packet, frame->bytes, frame->time.count(), {}), packet, *frame);
    }
    FirstPsns found = search.take();
    found.run = input.files().short_name();
    found.step = input.files().info.step;
    found.has_capture = input.has_capture();
    found.capture_damage = input.capture_damage();
    found.left_out = input.left_out();
    return found;
}

}  // namespace timeline
