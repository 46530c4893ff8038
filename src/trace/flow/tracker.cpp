#include "trace/flow/tracker.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/flow/seen.hpp"

namespace flow {
namespace {

// A stream of requests needs few pages: similar times share a page, and responses follow soon.
// Samples without a page are counted as left out.
constexpr std::size_t latency_pages_per_stream = 2;
constexpr std::size_t outstanding_pages_per_stream = 2;
constexpr std::size_t least_pages = 1024;

std::size_t bounded(std::size_t streams) {
    return std::clamp(streams, Limits::least_streams, Limits::most_streams);
}

bool is_path_mtu(std::size_t bytes) {
    return bytes == 256 || bytes == 512 || bytes == 1024 || bytes == 2048 || bytes == 4096;
}

// All packets of a message except the last are full (IBTA volume 1, 9.7.2).
bool shows_path_mtu(const wire::Packet& packet) {
    return !packet.opcode->ends_message() && packet.icrc && is_path_mtu(packet.payload_length);
}

void count_marks(Marks& marks, const wire::Packet& packet) {
    marks.ce += has_congestion_mark(packet) ? 1 : 0;
    marks.fecn += packet.bth->fecn ? 1 : 0;
    marks.becn += packet.bth->becn ? 1 : 0;
    marks.cnps += packet.bth->opcode == wire::cnp_opcode ? 1 : 0;
}

}  // namespace

Tracker::Tracker(const Limits& limits)
    : table_(bounded(limits.streams)),
      pools_{.latencies =
                 Latency::Pages(bounded(limits.streams) * latency_pages_per_stream + least_pages),
             .outstanding = Outstanding::Pages(
                 bounded(limits.streams) * outstanding_pages_per_stream + least_pages)} {}

std::uint64_t Tracker::add(std::chrono::nanoseconds time, const wire::Packet& packet,
                           std::size_t wire_length) {
    ++totals_.packets;
    totals_.malformed += packet.malformed ? 1 : 0;
    const auto key = StreamKey::of(packet);
    if (!key) {
        ++(packet.not_roce ? totals_.not_roce : totals_.unreadable);
        return 0;
    }
    const PoolIndex index = stream_of(*key);
    const std::uint64_t number = table_[index].number;
    count(table_[index], time.count(), packet, wire_length);
    // All other fields of a malformed packet are unreliable.
    if (packet.malformed || packet.opcode == nullptr)
        return number;
    if (packet.opcode->is_request())
        request(index, time.count(), packet);
    else if (packet.opcode->is_response())
        response(index, time.count(), packet);
    if (packet.cm && packet.opcode->value == wire::ud_send_only_opcode)
        if (const auto connection = connects_.see(*key, *packet.cm))
            connect(*connection);
    return number;
}

PoolIndex Tracker::stream_of(const StreamKey& key) {
    for (const PoolIndex index : recent_)
        if (index != no_index && table_[index].key == key &&
            key.transport != wire::Transport::Cnp) {
            table_.touch(index);
            return index;
        }
    PoolIndex index = key.transport == wire::Transport::Cnp ? marked_stream(key) : table_.find(key);
    if (index == no_index)
        index = make(key);
    table_.touch(index);
    recent_[0] = std::exchange(recent_[1], index);
    return index;
}

// A CNP has its own opcode, not its connection's transport (IBTA annex A17). It counts with the
// stream to the queue pair that it slows down.
PoolIndex Tracker::marked_stream(const StreamKey& key) const {
    for (const auto transport : {wire::Transport::Rc, wire::Transport::Uc, wire::Transport::Xrc,
                                 wire::Transport::Dc, wire::Transport::Cnp}) {
        StreamKey connected = key;
        connected.transport = transport;
        if (const PoolIndex index = table_.find(connected); index != no_index)
            return index;
    }
    return no_index;
}

PoolIndex Tracker::make(const StreamKey& key) {
    if (table_.is_full())
        evict(table_.oldest());
    const PoolIndex index = table_.add(key);
    pair_by_knowledge(index);
    return index;
}

void Tracker::evict(PoolIndex index) {
    const Stream& stream = table_[index];
    totals_.evicted_streams += stream.packets == 0 ? 0 : 1;
    totals_.evicted_packets += stream.packets;
    totals_.evicted_bytes += stream.wire_bytes;
    std::ranges::replace(recent_, index, no_index);
    remove(index);
}

void Tracker::remove(PoolIndex index) {
    unlink(index);
    table_[index].release(pools_);
    table_.remove(index);
}

void Tracker::count(Stream& stream, std::int64_t time, const wire::Packet& packet,
                    std::size_t wire_length) {
    if (stream.packets++ == 0)
        stream.first_ns = time;
    stream.last_ns = std::max(stream.last_ns, time);
    // A mirror may have cut the frame, which the capture file does not record.
    stream.wire_bytes +=
        std::max<std::size_t>(wire_length, packet.trail.find(wire::Header::Icrc).end);
    count_marks(stream.marks, packet);
    stream.malformed += packet.malformed ? 1 : 0;
    if (!packet.icrc)
        return;
    stream.payload_bytes += packet.payload_length;
    stream.icrc_checked += packet.icrc->status == wire::IcrcStatus::Unchecked ? 0 : 1;
    stream.icrc_bad += packet.icrc->status == wire::IcrcStatus::Bad ? 1 : 0;
}

void Tracker::request(PoolIndex index, std::int64_t time, const wire::Packet& packet) {
    Stream& stream = table_[index];
    const wire::OpcodeInfo& opcode = *packet.opcode;
    if (packet.reth)
        stream.rkeys.add(packet.reth->rkey);
    if (packet.atomic_eth)
        stream.rkeys.add(packet.atomic_eth->rkey);
    if (shows_path_mtu(packet) && stream.is_connected())
        learn_path_mtu(stream, static_cast<PathMtu>(packet.payload_length), true);
    const std::uint64_t departures = stream.requests.departures();
    const Novelty seen = place(stream, time, packet);
    if (stream.requests.departures() != departures) {
        stream.unmeasured += stream.outstanding.size();
        stream.outstanding.clear(pools_.outstanding);
    }
    if (seen == Novelty::Repeat)
        return;
    if (opcode.ends_message())
        if (const auto message = message_of(opcode))
            ++stream.messages[static_cast<std::size_t>(*message)];
    if (!stream.is_reliable() || !opcode.ends_message())
        return;
    if (seen == Novelty::New)
        await_answer(index, time, packet);
    else
        ++stream.unmeasured;  // outstanding requests are in PSN order
}

Novelty Tracker::place(Stream& stream, std::int64_t time, const wire::Packet& packet) {
    const wire::Psn psn = packet.bth->psn;
    if (!stream.is_connected()) {
        stream.requests.add_unordered(psn);
        return Novelty::New;
    }
    const Arrival arrival{time, packet.ipv4 ? packet.ipv4->id : std::uint16_t{0}};
    if (packet.opcode->operation != wire::Operation::RdmaReadRequest)
        return stream.requests.add(psn, 1, arrival);
    if (stream.path_mtu == 0 || !packet.reth)
        return stream.requests.add_open_read(
            psn, packet.reth ? std::optional(packet.reth->dmalen) : std::nullopt, arrival);
    return stream.requests.add(psn, read_psns(packet.reth->dmalen, stream.path_mtu), arrival);
}

void Tracker::await_answer(PoolIndex index, std::int64_t time, const wire::Packet& packet) {
    Stream& stream = table_[index];
    // The PSNs that an open READ before this request took determine the path MTU.
    if (stream.path_mtu == 0 && stream.requests.learnt_path_mtu() != 0)
        learn_path_mtu(stream, stream.requests.learnt_path_mtu(), false);
    OutstandingRequest request{.time_ns = time, .psn = packet.bth->psn, .read_psns = 0};
    if (packet.opcode->operation == wire::Operation::RdmaReadRequest)
        request.read_psns =
            stream.requests.is_read_open() || !packet.reth
                ? OutstandingRequest::unknown_psns
                : read_psns(packet.reth->dmalen,
                            stream.path_mtu != 0 ? stream.path_mtu : largest_path_mtu);
    const bool is_answered = stream.is_paired() && table_[stream.peer].responses.packets() != 0;
    if (!stream.outstanding.push(request, is_answered, pools_.outstanding))
        ++stream.unmeasured;
    if (!stream.is_paired())
        ack_index_.note(stream.key, request.psn, {.index = index, .number = stream.number},
                        [this](const AckIndex::Noted& other) {
                            return table_[other.index].number == other.number &&
                                   !table_[other.index].is_paired();
                        });
}

void Tracker::learn_path_mtu(Stream& stream, PathMtu path_mtu, bool was_seen) {
    if (stream.path_mtu_was_seen)
        return;
    stream.path_mtu = path_mtu;
    stream.path_mtu_was_seen = was_seen;
    stream.requests.learn(path_mtu);
}

void Tracker::response(PoolIndex index, std::int64_t time, const wire::Packet& packet) {
    const wire::Psn psn = packet.bth->psn;
    if (!table_[index].is_paired())
        pair_by_psn(index, psn);
    Stream& stream = table_[index];
    Novelty seen = Novelty::New;
    switch (packet.opcode->operation) {
        case wire::Operation::RdmaReadResponse:
            if (stream.is_paired())
                learn_from_read_response(table_[stream.peer], packet);
            seen = stream.responses.add_read_response(psn, packet.opcode->position);
            break;
        case wire::Operation::AtomicAcknowledge:
            seen = stream.responses.add_atomic_acknowledge(psn);
            break;
        default:
            if (!packet.aeth)
                return;
            stream.responses.add_acknowledge(psn, *packet.aeth);
            if (packet.aeth->kind() == wire::AethKind::Reserved)
                return;
            break;
    }
    if (packet.opcode->ends_message() && seen != Novelty::Repeat)
        if (const auto message = message_of(*packet.opcode))
            ++stream.messages[static_cast<std::size_t>(*message)];
    if (stream.is_paired())
        settle(table_[stream.peer], time, packet);
}

void Tracker::learn_from_read_response(Stream& requester, const wire::Packet& packet) {
    if (shows_path_mtu(packet))
        learn_path_mtu(requester, static_cast<PathMtu>(packet.payload_length), true);
    else if (packet.opcode->ends_message())
        requester.requests.end_open_read(packet.bth->psn);
}

// Completes the requests of `stream` that a response answers.
void Tracker::settle(Stream& stream, std::int64_t time, const wire::Packet& packet) {
    const wire::Psn psn = packet.bth->psn;
    const bool is_read = packet.opcode->operation == wire::Operation::RdmaReadResponse;
    const bool is_refusal = packet.opcode->operation == wire::Operation::Acknowledge &&
                            packet.aeth->kind() != wire::AethKind::Ack;
    // A NAK and a READ response acknowledge all earlier requests. A READ response to a request that
    // is not a READ acknowledges it: a FLUSH or an ATOMIC WRITE (IBTA annex A19).
    const wire::Psn acked = is_refusal ? psn - 1 : psn;
    Outstanding& waiting = stream.outstanding;
    while (!waiting.empty()) {
        const OutstandingRequest& request = waiting.front(pools_.outstanding);
        if (is_read && request.is_answered_by(psn))
            return settle_read(stream, time, *packet.opcode);
        if (!request.is_covered_by(acked))
            return;
        if (request.is_read())
            ++stream.unmeasured;  // its response, or the last packet of it, was not captured
        else
            stream.ack.add(time - request.time_ns, pools_.latencies);
        waiting.pop(pools_.outstanding);
    }
}

void Tracker::settle_read(Stream& stream, std::int64_t time, const wire::OpcodeInfo& opcode) {
    const OutstandingRequest& request = stream.outstanding.front(pools_.outstanding);
    const std::int64_t passed = time - request.time_ns;
    if (!std::exchange(stream.outstanding.front_begun(pools_.outstanding), true))
        stream.read_first.add(passed, pools_.latencies);
    if (!opcode.ends_message())
        return;
    stream.read_last.add(passed, pools_.latencies);
    stream.outstanding.pop(pools_.outstanding);
}

}  // namespace flow
