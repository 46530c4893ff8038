#include "trace/timeline/matcher.hpp"

#include <algorithm>

#include "trace/timeline/order.hpp"

namespace timeline {

namespace key = runlog::key;

Matcher::Matcher(const std::map<std::string, std::int64_t>& offsets,
                 const std::string& capture_role)
    : capture_role_(capture_role) {
    const auto captured = offsets.find(capture_role);
    const std::int64_t reference = captured == offsets.end() ? 0 : captured->second;
    for (const auto& [role, offset] : offsets)
        if (role != capture_role)
            clocks_.emplace(role, logged::ClockBounds(reference - offset));
}

const WorkRequest* Matcher::learn(const runlog::Event& event) {
    const WorkRequest* request = join_.learn(event);
    if (request != nullptr)
        note_completion(*request);
    if (request == nullptr && event.is("cm_call") && event.role != capture_role_ && is_begin(event))
        note_call(event);
    if (event.is("driver") && event.role != capture_role_)
        note_driver(event);
    return request;
}

void Matcher::note_driver(const runlog::Event& event) {
    const auto dest_qpn = event[key::dest_qpn], psn = event[key::psn];
    const auto opcode = event[key::opcode_name];
    if (!dest_qpn || !psn)
        return;
    const bool is_response =
        opcode.find("response") != std::string_view::npos || opcode.ends_with("Acknowledge");
    handled_.try_emplace({event[key::step] == "transmit", *dest_qpn, *psn, is_response},
                         Handled{event.role, event.t_ns});
}

// The driver of the other host sends a packet before it is captured, or receives it afterwards: in
// microseconds, if the capture is made at this end of the link. That holds for the first copy also if a
// packet is lost, repeated or duplicated.
void Matcher::bound_by_driver(const PacketRow& packet) {
    if (handled_.empty() || !packet.key)
        return;
    for (const bool is_sent : {true, false}) {
        const auto found = handled_.find(
            {is_sent, packet.key->dest_qpn, packet.key->psn, packet.key->is_response});
        if (found == handled_.end())
            continue;
        logged::ClockBounds& clock = clocks_[found->second.role];
        if (is_sent)
            clock.posted_before(found->second.t_ns, packet.t_ns);
        else
            clock.completed_after(found->second.t_ns, packet.t_ns);
        handled_.erase(found);
    }
}

void Matcher::note_call(const runlog::Event& event) {
    const auto call = event[key::call];
    const auto kind = call == "rdma_connect"      ? CmKey::Kind::ConnectRequest
                      : call == "rdma_accept"     ? CmKey::Kind::ConnectReply
                      : call == "rdma_disconnect" ? CmKey::Kind::DisconnectRequest
                                                  : CmKey::Kind::Other;
    const auto qpn = event[key::qpn];
    if (!qpn || kind == CmKey::Kind::Other)
        return;
    const auto [entry, is_new] = calls_.try_emplace({event.role, *qpn, kind}, event.t_ns);
    if (!is_new)
        entry->second.reset();
}

Origin Matcher::match(const PacketRow& packet) {
    bound_by_driver(packet);
    ++joins_.packets;
    joins_.roce += packet.is_roce;
    joins_.joinable += packet.key.has_value();
    joins_.datagrams += packet.key && packet.key->source_qpn;
    return match_again(packet);
}

Origin Matcher::match_again(const PacketRow& packet) {
    Origin origin = join_.origin_of(packet);
    joins_.set_up += std::holds_alternative<SetUp>(origin);
    // A message is later than the begin of the call that sends it.
    if (const auto* by = std::get_if<SetUp>(&origin); by != nullptr && by->qpn && packet.cm)
        if (const auto call = calls_.find({by->role, *by->qpn, packet.cm->kind});
            call != calls_.end() && call->second)
            clocks_[by->role].posted_before(*call->second, packet.t_ns);
    if (const auto* place = std::get_if<RequestPacket>(&origin)) {
        ++joins_.joined;
        const WorkRequest& request = *place->request;
        if (request.role != capture_role_)
            clocks_[request.role].posted_before(request.posted_ns, packet.t_ns);
        if (place->is_response && place->packet == request.packets) {
            answered_.resize(std::max<std::size_t>(answered_.size(), request.number + 1));
            // A duplicate request is answered again, perhaps long after the completion.
            if (auto& answered = answered_[request.number]; !answered)
                answered = packet.t_ns;
            note_completion(request);
        }
    }
    return origin;
}

// A completion is read after the response to the request's last packet was captured. Either may be
// processed first.
void Matcher::note_completion(const WorkRequest& request) {
    if (request.role == capture_role_ || !request.completed_ns ||
        request.number >= answered_.size())
        return;
    if (const auto& answered = answered_[request.number])
        clocks_[request.role].completed_after(*request.completed_ns, *answered);
}

std::int64_t Matcher::shift_of(const std::string& role) const {
    const auto clock = clocks_.find(role);
    return clock == clocks_.end() ? 0 : clock->second.shift();
}

}  // namespace timeline
