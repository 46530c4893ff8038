#include "trace/timeline/queue_pair_track.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace timeline {
namespace {

void append(std::string& phrase, const std::string& part) {
    if (!part.empty())
        phrase.append(phrase.empty() ? "" : ", ").append(part);
}

// The number, or "secret" if the log hides it.
std::string psn(const runlog::Event& event, std::string_view key, std::string_view words) {
    if (const auto number = event.number(key))
        return fmt::format("{} {:#08x}", words, *number);
    return event.text(key).empty() ? "" : fmt::format("{} {}", words, event.text(key));
}

// The queue pair's current PSNs. A state has the PSNs that the transitions to it require (IBTA
// volume 1, 10.3.1); before, a query returns zeros.
std::string momentary(const runlog::Event& event) {
    const auto state = event.text("state");
    std::string phrase;
    if (state == "RESET" || state == "INIT")
        return phrase;
    if (state != "RTR")
        append(phrase, psn(event, "sq_psn", "send PSN"));
    append(phrase, psn(event, "rq_psn", "receive PSN"));
    return phrase;
}

// What does not change within a state.
std::string lasting(const runlog::Event& event) {
    std::string phrase;
    const auto peer = event.number("dest_qpn").value_or(0);
    if (peer != 0) {
        if (const auto path_mtu = event.number("path_mtu"))
            append(phrase, fmt::format("path MTU {}", *path_mtu));
        append(phrase, fmt::format("to QP {:#08x}", peer));
    } else if (event.text("state") == "INIT") {
        if (const auto port = event.number("port"))
            append(phrase, fmt::format("port {}", *port));
        if (!event.text("access").empty())
            append(phrase, fmt::format("rights {}", event.text("access")));
    }
    return phrase;
}

}  // namespace

void QueuePairTracks::learn(const runlog::Event& event) {
    if (event.name == "qp")
        make(event);
    else if (event.name == "qp_state" || event.name == "qp_attr")
        query(event);
    else if (event.name == "transition")
        transition(event);
    else if (event.name == "client")
        client(event);
    else if (event.name == "wc")
        completion(event);
}

void QueuePairTracks::make(const runlog::Event& event) {
    const auto qpn = event.number32("qpn");
    if (!qpn)
        return;
    const std::size_t index = add(event, *qpn);
    all_[index].type = event.text("type");
    std::string detail;
    const auto sends = event.number("max_send_wr");
    const auto receives = event.number("max_recv_wr");
    if (sends && receives)
        detail = fmt::format("{} send and {} receive requests", *sends, *receives);
    enter(index, {event.t_ns, "created", std::move(detail)});
}

void QueuePairTracks::query(const runlog::Event& event) {
    const auto qpn = event.number32("qpn");
    const auto state = event.text("state");
    if (!qpn || state.empty())
        return;
    const auto last = last_transition_.find(event.role);
    if (!by_qpn_.contains({event.role, *qpn}) && last != last_transition_.end() &&
        all_[last->second].qpn == 0 && is_in(last->second, state))
        set_qpn(last->second, *qpn);
    const std::size_t index = track_of(event, *qpn);
    set_peer(index, event);

    std::string stays = lasting(event);
    std::string detail = momentary(event);
    append(detail, stays);
    auto& states = all_[index].states;
    if (!is_in(index, state) || (!lasting_[index].empty() && stays != lasting_[index])) {
        enter(index, {event.t_ns, std::string(state), std::move(detail)});
    } else {
        // A transition has already entered the state: its first entry may still have no detail.
        auto first = states.end();
        while (first != states.begin() && std::prev(first)->state == state)
            --first;
        if (first->detail.empty())
            first->detail = std::move(detail);
    }
    lasting_[index] = std::move(stays);
}

void QueuePairTracks::transition(const runlog::Event& event) {
    const auto from = event.text("from");
    const auto to = event.text("to");
    const auto result = event.text("result");
    if (event.text("end").empty() || from.empty() || to.empty() || result.empty())
        return;
    const std::size_t index = track_of_end(event);
    last_transition_[event.role] = index;
    if (!may_be_in(index, from))
        enter(index, {event.t_ns, std::string(from), ""});
    if (result != "done") {
        std::string detail = fmt::format("{} refused: {}", to, result);
        append(detail, std::string(event.text("why")));
        all_[index].states.push_back({event.t_ns, std::string(from), std::move(detail)});
    } else if (from != to) {
        enter(index, {event.t_ns, std::string(to), ""});
    }
}

void QueuePairTracks::client(const runlog::Event& event) {
    const auto number = event.number("client");
    if (!number)
        return;
    const Number who(event.role, *number);
    if (const auto qpn = event.number32("qpn")) {
        const std::size_t index = track_of(event, *qpn);
        by_client_[who] = index;
        set_peer(index, event);
    } else if (const auto it = by_client_.find(who); it != by_client_.end()) {
        // The queue pair was destroyed before this event was written: the event has no QPN.
        if (!is_in(it->second, "destroyed"))
            enter(it->second, {event.t_ns, "destroyed",
                               fmt::format("client {} {}", *number, event.text("state"))});
        by_client_.erase(it);
    }
}

void QueuePairTracks::completion(const runlog::Event& event) {
    const auto qpn = event.number32("qpn");
    const auto status = event.text("status");
    if (!qpn || status.empty() || status == "SUCCESS" || status == "WR_FLUSH_ERR")
        return;
    if (const auto known = by_qpn_.find({event.role, *qpn});
        known != by_qpn_.end() && is_in(known->second, "destroyed"))
        return;
    const std::size_t index = track_of(event, *qpn);
    const bool may_be_in_sqe = !all_[index].type.empty() && all_[index].type != "RC";
    if (!may_be_in_sqe && !is_in(index, "ERR"))
        enter(index, {event.t_ns, "ERR",
                      fmt::format("wr {}: {}", event.number("wr_id").value_or(0), status), true});
}

std::size_t QueuePairTracks::add(const runlog::Event& event, std::uint32_t qpn) {
    all_.emplace_back().role = event.role;
    lasting_.emplace_back();
    const std::size_t index = all_.size() - 1;
    if (qpn != 0)
        set_qpn(index, qpn);
    return index;
}

std::size_t QueuePairTracks::track_of(const runlog::Event& event, std::uint32_t qpn) {
    const auto known = by_qpn_.find({event.role, qpn});
    if (known != by_qpn_.end() && !is_in(known->second, "destroyed"))
        return known->second;
    return add(event, qpn);
}

std::size_t QueuePairTracks::track_of_end(const runlog::Event& event) {
    const std::pair end(event.role, std::string(event.text("end")));
    if (const auto known = by_end_.find(end); known != by_end_.end())
        return known->second;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].role == event.role && all_[i].end.empty() && may_be_in(i, event.text("from")))
            candidates.push_back(i);
    const std::size_t index = candidates.size() == 1 ? candidates.front() : add(event, 0);
    all_[index].end = end.second;
    by_end_[end] = index;
    return index;
}

void QueuePairTracks::set_peer(std::size_t index, const runlog::Event& event) {
    const auto peer = event.number32("dest_qpn").value_or(0);
    if (peer == 0)
        return;
    all_[index].dest_qpn = peer;
    if (all_[index].end.empty() || by_qpn_.contains({event.role, peer}))
        return;
    std::vector<std::size_t> others;
    for (const auto& [end, other] : by_end_)
        if (end.first == event.role && all_[other].qpn == 0)
            others.push_back(other);
    if (others.size() == 1)
        set_qpn(others.front(), peer);
}

void QueuePairTracks::set_qpn(std::size_t index, std::uint32_t qpn) {
    all_[index].qpn = qpn;
    by_qpn_[{all_[index].role, qpn}] = index;
}

void QueuePairTracks::enter(std::size_t index, QueuePairState state) {
    all_[index].states.push_back(std::move(state));
    lasting_[index].clear();
}

bool QueuePairTracks::is_in(std::size_t index, std::string_view state) const {
    const auto& states = all_[index].states;
    return !states.empty() && states.back().state == state;
}

bool QueuePairTracks::may_be_in(std::size_t index, std::string_view state) const {
    return is_in(index, state) || (state == "RESET" && is_in(index, "created"));
}

}  // namespace timeline
