#include "timeline/timeline.hpp"

#include <algorithm>

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

template <typename What>
void Timeline::hold(What what, Arrival now) {
    Pending& pending = pending_.emplace_back();
    pending.what = std::move(what);
    pending.arrived = now;
    pending.number = arrivals_++;
}

void Timeline::add(runlog::Event event, Arrival now) {
    join_.learn(event);
    if (event.name == "wc")
        note_completion(event);
    hold(std::move(event), now);
}

void Timeline::add(PacketRow packet, Arrival now) {
    ++joins_.packets;
    joins_.joinable += packet.key.has_value();
    join(packet);
    hold(std::move(packet), now);
}

void Timeline::join(PacketRow& packet) {
    if (packet.has_cause())
        return;
    join_.find_cause(packet);
    joins_.joined += packet.cause.has_value();
    joins_.set_up += packet.set_up.has_value();
    if (packet.cause)
        note_request(packet);
}

void Timeline::note_request(const PacketRow& packet) {
    const Cause& cause = *packet.cause;
    if (cause.role != capture_role_)
        clocks_[cause.role].posted_before(cause.posted_ns, packet.t_ns);
    if (cause.is_response && cause.packet == cause.packets) {
        // A duplicate request is answered again, perhaps long after the completion.
        const Response response{packet.t_ns, cause.posted_ns};
        const auto [first, is_new] =
            responses_.try_emplace({cause.role, cause.qpn, cause.wr_id}, response);
        if (!is_new && first->second.posted_ns != response.posted_ns)
            first->second = response;
    }
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
    return event.t_ns + shift_of(event.role);
}

std::int64_t Timeline::shift_of(const std::string& role) const {
    const auto clock = clocks_.find(role);
    return clock == clocks_.end() ? 0 : clock->second.shift();
}

std::vector<Row> Timeline::take(Arrival arrived) {
    for (Pending& pending : pending_)
        if (auto* packet = std::get_if<PacketRow>(&pending.what))
            join(*packet);  // its event may have arrived since
    for (const Pending& pending : pending_)
        if (const auto* event = std::get_if<runlog::Event>(&pending.what);
            event != nullptr && event->name == "wc")
            note_completion(*event);
    // What is sorted is small: a row is not.
    using Order = std::tuple<std::int64_t, int, std::uint64_t>;
    std::vector<std::pair<Order, Pending*>> order;
    order.reserve(pending_.size());
    for (Pending& pending : pending_)
        order.emplace_back(Order{capture_time(pending), rank(pending.what), pending.number},
                           &pending);
    std::ranges::sort(order, {}, &std::pair<Order, Pending*>::first);
    const auto last = std::find_if(order.rbegin(), order.rend(), [&](const auto& entry) {
        return entry.second->arrived <= arrived;
    });
    std::vector<Row> rows;
    std::vector<Pending> later;
    rows.reserve(static_cast<std::size_t>(last.base() - order.begin()));
    for (auto it = order.begin(); it != last.base(); ++it)
        rows.push_back({std::get<0>(it->first), std::move(it->second->what)});
    for (auto it = last.base(); it != order.end(); ++it)
        later.push_back(std::move(*it->second));
    pending_ = std::move(later);
    return rows;
}

}  // namespace timeline
