#include "trace/explain/traffic.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace explain {

void Traffic::see_dropped(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                          util::Bytes bytes) {
    const auto error = wire::icmp_error(packet, bytes);
    if (!error)
        return;
    const wire::Packet& quoted = error->quoted;
    Dropped seen{.frame = frame,
                 .t_ns = t_ns,
                 .what = error->what,
                 .mtu = error->mtu,
                 .network = quoted.ipv4 ? flow::Network::Ipv4 : flow::Network::Ipv6,
                 .src_port = quoted.udp->src_port,
                 .text = error->text()};
    const auto set = [&](const auto& reporter, const auto& dropped) {
        seen.by = flow::Host::of(reporter.src);
        seen.src = flow::Host::of(dropped.src);
        seen.dst = flow::Host::of(dropped.dst);
    };
    if (packet.ipv4)
        set(*packet.ipv4, *quoted.ipv4);
    else
        set(*packet.ipv6, *quoted.ipv6);
    dropped_.push_back(std::move(seen));
}

// A reply and a request both show their sender. A request for the own address, or without one,
// looks for another host that has it (RFC 5227, RFC 4862).
void Traffic::see_neighbour(std::uint64_t frame, std::int64_t t_ns,
                            const wire::Neighbour& message) {
    constexpr std::size_t most = 256;
    const auto sender = flow::Host::of(message.sender);
    std::erase_if(unresolved_, [&](const auto& one) { return one.first == sender; });
    const auto wanted = flow::Host::of(message.target);
    if (message.is_reply || !sender || sender == wanted)
        return;
    auto known = std::ranges::find(unresolved_, wanted, [](const auto& one) { return one.first; });
    if (known == unresolved_.end()) {
        if (unresolved_.size() == most)
            return;
        known = unresolved_.insert(unresolved_.end(), {*wanted, Notices()});
    }
    known->second.add(frame, t_ns, message.text());
}

const Notices* Traffic::unresolved(const flow::Host& host) const {
    const auto known =
        std::ranges::find(unresolved_, host, [](const auto& one) { return one.first; });
    return known == unresolved_.end() ? nullptr : &known->second;
}

void Traffic::add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                  std::uint64_t number, util::Bytes bytes) {
    end_ns_ = t_ns;
    const auto key = flow::StreamKey::of(packet);
    if (!key) {
        if (const auto message = wire::neighbour(packet, bytes))
            return see_neighbour(frame, t_ns, *message);
        return see_dropped(frame, t_ns, packet, bytes);
    }
    ++packets_;
    if (packet.cm)
        see_cm(frame, t_ns, *key, packet);
    if (packet.opcode == nullptr || packet.malformed)
        return;
    const bool is_of_manager =
        packet.opcode->transport() == wire::Transport::Ud && packet.bth->dest_qpn == wire::gsi_qpn;
    if (is_of_manager && packet.truncated)
        cut_.messages_of_manager.add(frame, t_ns, "message of the connection manager");
    if (packet.mad || is_of_manager)
        return;
    if (packet.opcode->operation == wire::Operation::Cnp) {
        cnps_.add(frame, t_ns, "CNP");
        return;
    }
    const auto [known, is_new] = by_number_.try_emplace(number, streams_.size());
    if (is_new) {
        KeptStream& made = streams_.emplace_back(&memory_);
        made.key = *key;
        made.number = number;
        made.src_port = packet.udp ? packet.udp->src_port : 0;
    }
    KeptStream& stream = streams_[known->second];
    Seen& seen = stream.packets.emplace_back(Seen::of(frame, t_ns, packet));
    ++kept_;
    stream.requests += seen.is_request() ? 1 : 0;
    stream.responses += seen.is_response() ? 1 : 0;
    stream.damaged += seen.is_damaged ? 1 : 0;
    if (packet.icrc && packet.icrc->hint != nullptr)
        seen.hint = &*hints_.insert(*packet.icrc->hint).first;
    if (seen.is_marked)
        note(seen, marks_);
    if (seen.lacks_headers)
        note(seen, seen.is(wire::Operation::Acknowledge) ? cut_.acknowledgements : cut_.others);
}

void Traffic::note(const Seen& seen, Notices& notices) {
    notices.add(seen.frame, seen.t_ns, notices.count == 0 ? seen.text() : std::string());
}

void Traffic::forget(const std::unordered_set<const Seen*>& held, const Share& share) {
    for (KeptStream& stream : streams_) {
        if (share.has_all(stream))
            continue;
        const std::size_t all = stream.packets.size();
        std::size_t place = 0, special = 0;
        std::uint32_t largest = 0, q_key = 0;
        const auto is_special = [&](const Seen& seen) {
            const bool is_refusal = seen.is(wire::Operation::Acknowledge) && !seen.is_ack();
            const bool differs = seen.payload > largest || seen.q_key != q_key;
            largest = std::max(largest, seen.payload);
            q_key = seen.q_key;
            return (is_refusal || differs) && special++ < share.special;
        };
        std::erase_if(stream.packets, [&](const Seen& seen) {
            ++place;
            if (is_special(seen) || place <= share.first || all - place < share.newest ||
                held.contains(&seen))
                return false;
            ++stream.forgotten;
            stream.forgotten_ns = seen.t_ns;
            if (!seen.is_request() ||
                (stream.forgotten_psn && distance(*stream.forgotten_psn, seen.psn) <= 0))
                return true;
            stream.forgotten_psn = seen.psn;
            stream.forgotten_receives += takes_receive(seen) ? 1 : 0;
            return true;
        });
        kept_ -= all - stream.packets.size();
    }
}

std::unordered_set<std::uint64_t> Traffic::frames() const {
    std::unordered_set<std::uint64_t> all;
    for (const KeptStream& stream : streams_)
        for (const Seen& seen : stream.packets)
            all.insert(seen.frame);
    return all;
}

bool takes_receive(const Seen& request) {
    return (request.is(wire::Operation::Send) || request.opcode->has(wire::header::immdt)) &&
           request.opcode->ends_message();
}

void Traffic::see_cm(std::uint64_t frame, std::int64_t t_ns, const flow::StreamKey& key,
                     const wire::Packet& packet) {
    const wire::Cm& message = *packet.cm;
    CmSeen seen;
    seen.bth_p_key = packet.bth->p_key;
    seen.frame = frame;
    seen.t_ns = t_ns;
    seen.from = key.src;
    seen.to = key.dst;
    seen.network = key.network;
    seen.attribute = message.attribute;
    const auto ids = flow::comm_ids(message).value_or(flow::CommIds{});
    seen.local_id = ids.local;
    seen.remote_id = ids.remote;
    seen.text = fmt::format("CM {}", message.name());
    if (const auto* request = message.as<wire::CmReq>()) {
        seen.qpn = request->local_qpn;
        seen.responder_resources = request->responder_resources;
        seen.initiator_depth = request->initiator_depth;
        seen.p_key = request->p_key;
        if (request->ip_service)
            seen.port = request->ip_service->port;
        seen.text +=
            fmt::format("  comm {:#010x}, QP {:#08x}, PSN {:#08x}, path MTU {}", seen.local_id,
                        seen.qpn, request->starting_psn, request->path_mtu_bytes());
        if (seen.port != 0)
            seen.text += fmt::format(", port {}", seen.port);
    } else if (const auto* reply = message.as<wire::CmRep>()) {
        seen.qpn = reply->local_qpn;
        seen.responder_resources = reply->responder_resources;
    } else if (const auto* reject = message.as<wire::CmRej>()) {
        seen.reason = reject->reason;
        seen.text += fmt::format("  reason {}: {}", reject->reason, reject->reason_name());
    } else if (const auto* leave = message.as<wire::CmDreq>()) {
        seen.qpn = leave->remote_qpn;
    } else if (const auto* ask = message.as<wire::CmSidrReq>()) {
        seen.local_id = ask->request_id;
        if (ask->ip_service)
            seen.port = ask->ip_service->port;
    } else if (const auto* answer = message.as<wire::CmSidrRep>()) {
        seen.remote_id = answer->request_id;
        seen.reason = answer->status;
        seen.qpn = answer->qpn;
        seen.text += fmt::format("  status {}: {}", answer->status, answer->status_name());
    }
    upper::append_text(seen.service, services_.see(packet));
    cm_.push_back(std::move(seen));
}

void Traffic::settle(const flow::Tracker& tracker) {
    tracker.for_each_stream([this](const flow::StreamFacts& facts) {
        const auto known = by_number_.find(facts.number);
        if (known == by_number_.end())
            return;
        KeptStream& stream = streams_[known->second];
        stream.facts = facts;
        if (const auto peer = by_number_.find(facts.peer); peer != by_number_.end())
            stream.peer = peer->second;
    });
}

std::optional<Evidence> Traffic::evidence_of(std::uint64_t frame) const {
    for (const KeptStream& stream : streams_) {
        const auto found = std::ranges::find(stream.packets, frame, &Seen::frame);
        if (found != stream.packets.end())
            return explain::evidence(*found);
    }
    return std::nullopt;
}

Evidence evidence(const Seen& seen) {
    return {.frame = seen.frame, .role = {}, .t_ns = seen.t_ns, .text = seen.text()};
}

Evidence evidence(const Dropped& dropped) {
    return {.frame = dropped.frame, .role = {}, .t_ns = dropped.t_ns, .text = dropped.text};
}

Evidence evidence(const CmSeen& seen) {
    const std::string more = seen.service.empty() ? "" : ", " + seen.service;
    return {.frame = seen.frame, .role = {}, .t_ns = seen.t_ns, .text = seen.text + more};
}

}  // namespace explain
