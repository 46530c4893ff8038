#include "trace/timeline/timeline.hpp"

#include <algorithm>
#include <tuple>

#include "trace/timeline/order.hpp"

namespace timeline {
namespace {

int rank(const std::variant<runlog::Event, PacketRow>& what) {
    const auto* event = std::get_if<runlog::Event>(&what);
    return event == nullptr ? packet_rank : event_rank(*event);
}

}  // namespace

template <typename What>
void Timeline::hold(What what, Arrival now) {
    Pending& pending = pending_.emplace_back();
    pending.what = std::move(what);
    pending.arrived = now;
    pending.number = arrivals_++;
}

void Timeline::add(runlog::Event event, Arrival now) {
    matcher_.learn(event);
    if (is_begin(event))
        remove_begun(event);
    hold(std::move(event), now);
}

// The call has returned.
void Timeline::remove_begun(const runlog::Event& event) {
    std::erase_if(pending_, [&](const Pending& pending) {
        const auto* held = std::get_if<runlog::Event>(&pending.what);
        return held != nullptr && held->is("begun") && held->t_ns == event.t_ns &&
               call_key(*held) == call_key(event);
    });
}

void Timeline::add(PacketRow packet, Arrival now) {
    packet.set_origin(matcher_.match(packet));
    hold(std::move(packet), now);
}

std::int64_t Timeline::capture_time(const Pending& pending) const {
    if (const auto* packet = std::get_if<PacketRow>(&pending.what))
        return packet->t_ns;
    const auto& event = std::get<runlog::Event>(pending.what);
    return event.t_ns + matcher_.shift_of(event.role);
}

// Every packet of a queue pair or of the connection manager has an event in a log. Other packets need
// not have one.
bool Timeline::awaits_event(const Pending& pending) {
    const auto* packet = std::get_if<PacketRow>(&pending.what);
    return packet != nullptr && !packet->has_cause() && (packet->key || packet->cm);
}

std::vector<Row> Timeline::take(Arrival arrived, Arrival waited_for) {
    for (Pending& pending : pending_)
        if (auto* packet = std::get_if<PacketRow>(&pending.what);
            packet != nullptr && !packet->has_cause())
            packet->set_origin(matcher_.match_again(*packet));
    // Sort small keys instead of rows.
    using Order = std::tuple<std::int64_t, int, std::uint64_t>;
    std::vector<std::pair<Order, Pending*>> order;
    order.reserve(pending_.size());
    for (Pending& pending : pending_)
        order.emplace_back(Order{capture_time(pending), rank(pending.what), pending.number},
                           &pending);
    std::ranges::sort(order, {}, &std::pair<Order, Pending*>::first);
    const auto due = std::find_if(order.rbegin(), order.rend(), [&](const auto& entry) {
        return entry.second->arrived <= arrived;
    });
    const auto end = std::find_if(order.begin(), due.base(), [&](const auto& entry) {
        return entry.second->arrived > waited_for && awaits_event(*entry.second);
    });
    std::vector<Row> rows;
    std::vector<Pending> later;
    rows.reserve(static_cast<std::size_t>(end - order.begin()));
    for (auto it = order.begin(); it != end; ++it)
        rows.push_back({std::get<0>(it->first), std::move(it->second->what), it->second->number});
    for (auto it = end; it != order.end(); ++it)
        later.push_back(std::move(*it->second));
    pending_ = std::move(later);
    return rows;
}

}  // namespace timeline
