#include "timeline/timeline.hpp"

#include <algorithm>
#include <iterator>

namespace timeline {
namespace {

// At the same time, as the bounds of a clock make it: the post, its packet, the completion.
int rank(const std::variant<runlog::Event, PacketRow>& what) {
    const auto* event = std::get_if<runlog::Event>(&what);
    if (event == nullptr)
        return 1;
    return event->name == "post_send" ? 0 : 2;
}

}  // namespace

Timeline::Timeline(const std::map<std::string, std::int64_t>& offsets,
                   const std::string& capture_role)
    : capture_role_(capture_role) {
    const auto captured = offsets.find(capture_role);
    const std::int64_t reference = captured == offsets.end() ? 0 : captured->second;
    for (const auto& [role, offset] : offsets)
        if (role != capture_role)
            clocks_.emplace(role, ClockBounds(reference - offset));
}

void Timeline::add(runlog::Event event, Arrival now) {
    join_.learn(event);
    if (event.name == "wc")
        note_completion(event);
    pending_.push_back({std::move(event), now, arrivals_++});
}

void Timeline::add(PacketRow packet, Arrival now) {
    ++joins_.packets;
    joins_.joinable += packet.key.has_value();
    join(packet);
    pending_.push_back({std::move(packet), now, arrivals_++});
}

void Timeline::join(PacketRow& packet) {
    if (!packet.key || packet.cause)
        return;
    packet.cause = join_.cause_of(*packet.key);
    if (!packet.cause)
        return;
    ++joins_.joined;
    const Cause& cause = *packet.cause;
    if (cause.role != capture_role_)
        clocks_[cause.role].posted_before(cause.posted_ns, packet.t_ns);
    if (cause.is_response && cause.packet == cause.packets)
        responses_[{cause.role, cause.qpn, cause.wr_id}] = {packet.t_ns, cause.posted_ns};
}

// A completion is read after the response to the request's last packet was captured. Programs use a
// wr_id again: a response to a request that was posted later says nothing of this completion.
void Timeline::note_completion(const runlog::Event& wc) {
    const auto wr_id = wc.number("wr_id");
    const auto qpn = wc.number("qpn");
    if (!wr_id || !qpn || wc.role == capture_role_)
        return;
    const auto response = responses_.find({wc.role, static_cast<std::uint32_t>(*qpn), *wr_id});
    if (response != responses_.end() && response->second.posted_ns < wc.t_ns)
        clocks_[wc.role].completed_after(wc.t_ns, response->second.seen_ns);
}

std::int64_t Timeline::capture_time(const Pending& pending) const {
    if (const auto* packet = std::get_if<PacketRow>(&pending.what))
        return packet->t_ns;
    const auto& event = std::get<runlog::Event>(pending.what);
    const auto clock = clocks_.find(event.role);
    return event.t_ns + (clock == clocks_.end() ? 0 : clock->second.shift());
}

std::vector<Row> Timeline::take(Arrival arrived) {
    for (Pending& pending : pending_)
        if (auto* packet = std::get_if<PacketRow>(&pending.what))
            join(*packet);  // its event may have arrived since
    for (const Pending& pending : pending_)
        if (const auto* event = std::get_if<runlog::Event>(&pending.what);
            event != nullptr && event->name == "wc")
            note_completion(*event);
    const auto order = [&](const Pending& pending) {
        return std::tuple(capture_time(pending), rank(pending.what), pending.number);
    };
    std::ranges::sort(pending_, {}, order);
    const auto last = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Pending& pending) {
        return pending.arrived <= arrived;
    });
    std::vector<Row> rows;
    for (auto it = pending_.begin(); it != last.base(); ++it)
        rows.push_back({capture_time(*it), std::move(it->what)});
    pending_.erase(pending_.begin(), last.base());
    return rows;
}

}  // namespace timeline
