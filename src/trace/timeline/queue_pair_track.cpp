#include "trace/timeline/queue_pair_track.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace timeline {

namespace key = runlog::key;

namespace {

void append(std::string& phrase, const std::string& part) {
    if (!part.empty())
        phrase.append(phrase.empty() ? "" : ", ").append(part);
}

// The number, or "secret" if the log hides it.
std::string psn(const runlog::Event& event, const runlog::Number32Key& which,
                std::string_view words) {
    if (const auto number = event[which])
        return fmt::format("{} {:#08x}", words, *number);
    const auto secret = event.hidden(which);
    return secret.empty() ? "" : fmt::format("{} {}", words, secret);
}

// The queue pair's current PSNs. A state has the PSNs that the transitions to it require (IBTA
// volume 1, 10.3.1); before, a query returns zeros.
std::string momentary(const runlog::Event& event) {
    const auto state = event[key::state];
    std::string phrase;
    if (state == "RESET" || state == "INIT")
        return phrase;
    if (state != "RTR")
        append(phrase, psn(event, key::sq_psn, "send PSN"));
    append(phrase, psn(event, key::rq_psn, "receive PSN"));
    return phrase;
}

// What does not change within a state.
std::string lasting(const runlog::Event& event) {
    std::string phrase;
    const auto peer = event[key::dest_qpn].value_or(0);
    if (peer != 0) {
        if (const auto path_mtu = event[key::path_mtu])
            append(phrase, fmt::format("path MTU {}", *path_mtu));
        append(phrase, fmt::format("to QP {:#08x}", peer));
    } else if (event[key::state] == "INIT") {
        if (const auto port = event[key::port])
            append(phrase, fmt::format("port {}", *port));
        if (!event[key::access].empty())
            append(phrase, fmt::format("rights {}", event[key::access]));
    }
    return phrase;
}

}  // namespace

void QueuePairTracks::learn(const runlog::Event& event) {
    if (event.is("qp"))
        make(event);
    else if (event.is_one_of({"qp_state", "qp_attr"}))
        query(event);
    else if (event.is("transition"))
        transition(event);
    else if (event.is("client"))
        client(event);
    else if (event.is("wc"))
        completion(event);
}

void QueuePairTracks::make(const runlog::Event& event) {
    const auto qpn = event[key::qpn];
    if (!qpn)
        return;
    const std::size_t index = add(event, *qpn);
    all_[index].type = event[key::type];
    std::string detail;
    const auto sends = event[key::max_send_wr];
    const auto receives = event[key::max_recv_wr];
    if (sends && receives)
        detail = fmt::format("{} send and {} receive requests", *sends, *receives);
    enter(index, {event.t_ns, "created", std::move(detail)});
}

void QueuePairTracks::query(const runlog::Event& event) {
    const auto qpn = event[key::qpn];
    const auto state = event[key::state];
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
    const auto from = event[key::from];
    const auto to = event[key::to];
    const auto result = event[key::result];
    if (event[key::end].empty() || from.empty() || to.empty() || result.empty())
        return;
    const std::size_t index = track_of_end(event);
    last_transition_[event.role] = index;
    if (!may_be_in(index, from))
        enter(index, {event.t_ns, std::string(from), ""});
    if (result != "done") {
        std::string detail = fmt::format("{} refused: {}", to, result);
        append(detail, std::string(event[key::why]));
        all_[index].states.push_back({event.t_ns, std::string(from), std::move(detail)});
    } else if (from != to) {
        enter(index, {event.t_ns, std::string(to), ""});
    }
}

void QueuePairTracks::client(const runlog::Event& event) {
    const auto number = event[key::client];
    if (!number)
        return;
    const Number who(event.role, *number);
    if (const auto qpn = event[key::qpn]) {
        const std::size_t index = track_of(event, *qpn);
        by_client_[who] = index;
        set_peer(index, event);
    } else if (const auto it = by_client_.find(who); it != by_client_.end()) {
        // The queue pair was destroyed before this event was written: the event has no QPN.
        if (!is_in(it->second, "destroyed"))
            enter(it->second, {event.t_ns, "destroyed",
                               fmt::format("client {} {}", *number, event[key::state])});
        by_client_.erase(it);
    }
}

void QueuePairTracks::completion(const runlog::Event& event) {
    const auto qpn = event[key::qpn];
    const auto status = event[key::status];
    if (!qpn || status.empty() || status == "SUCCESS" || status == "WR_FLUSH_ERR")
        return;
    if (const auto known = by_qpn_.find({event.role, *qpn});
        known != by_qpn_.end() && is_in(known->second, "destroyed"))
        return;
    const std::size_t index = track_of(event, *qpn);
    const bool may_be_in_sqe = !all_[index].type.empty() && all_[index].type != "RC";
    if (!may_be_in_sqe && !is_in(index, "ERR"))
        enter(index, {event.t_ns, "ERR",
                      fmt::format("wr {}: {}", event[key::wr_id].value_or(0), status), true});
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
    const std::pair end(event.role, std::string(event[key::end]));
    if (const auto known = by_end_.find(end); known != by_end_.end())
        return known->second;
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].role == event.role && all_[i].end.empty() && may_be_in(i, event[key::from]))
            candidates.push_back(i);
    const std::size_t index = candidates.size() == 1 ? candidates.front() : add(event, 0);
    all_[index].end = end.second;
    by_end_[end] = index;
    return index;
}

void QueuePairTracks::set_peer(std::size_t index, const runlog::Event& event) {
    const auto peer = event[key::dest_qpn].value_or(0);
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
