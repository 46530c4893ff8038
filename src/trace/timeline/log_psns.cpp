#include "trace/timeline/log_psns.hpp"

#include <utility>

#include "trace/timeline/gid_address.hpp"

namespace timeline {
namespace {

// In earlier states the send queue has no PSN yet (IBTA volume 1, 10.3.1).
bool can_have_sent(std::string_view state) {
    return state != "RESET" && state != "INIT" && state != "RTR";
}

}  // namespace

void LogPsns::add(const runlog::Event& event) {
    if (event.name == "device" && !event.text("gid").empty())
        addresses_[event.role] = address_of_gid(event.text("gid"));
    if (event.name == "cm_event")
        uses_cm_.insert(event.role);
    const auto qpn = event.number32("qpn");
    if (!qpn)
        return;
    const std::pair key(event.role, *qpn);
    if (event.name == "qp") {
        if (!pairs_.try_emplace(key).second)
            pairs_[key].is_over = true;
        return;
    }
    const bool is_state = event.name == "qp_state" || event.name == "qp_attr";
    if (!is_state && event.name != "psn" && event.name != "post_send")
        return;
    QueuePair& pair = pairs_[key];
    if (pair.is_over)
        return;
    if (event.name == "psn") {
        take_psn(pair, event, "psn");
        pair.first.chosen_by = event.text("source");
    } else if (event.name == "post_send") {
        pair.has_posted = true;
    } else if (const auto peer = event.number32("dest_qpn").value_or(0); peer != 0) {
        if (pair.first.dest_qpn == 0)
            pair.first.dest_qpn = peer;
        // sq_psn is the *next* packet's PSN (ibv_query_qp): the first one until a packet is sent.
        if (can_have_sent(event.text("state")) && !pair.has_posted)
            take_psn(pair, event, "sq_psn");
    }
}

void LogPsns::take_psn(QueuePair& pair, const runlog::Event& event, std::string_view key) {
    if (pair.first.psn)
        return;
    if (const auto psn = event.number32(key))
        pair.first.psn = psn;
    else if (!event.text(key).empty())
        pair.first.hidden = true;
}

std::vector<FirstPsn> LogPsns::directions() const {
    std::vector<FirstPsn> all;
    for (const auto& [key, pair] : pairs_) {
        if (pair.first.dest_qpn == 0)
            continue;
        FirstPsn direction = pair.first;
        direction.from = key.first;
        direction.qpn = key.second;
        direction.to = role_of_peer(key.first, direction);
        if (direction.chosen_by.empty() && uses_cm_.contains(key.first))
            direction.chosen_by = "rdma_cm (the kernel)";
        all.push_back(std::move(direction));
    }
    return all;
}

// Returns the role with the peer's queue pair: the other program (for a server, one of the clients)
// or the same program. Tries the server first: its QPNs may equal those of several clients.
std::string LogPsns::role_of_peer(const std::string& role, const FirstPsn& direction) const {
    std::vector<std::string> candidates;
    if (role != "server")
        candidates.emplace_back("server");
    for (const auto& [key, pair] : pairs_)
        if (key.first != role && (candidates.empty() || candidates.back() != key.first))
            candidates.push_back(key.first);
    candidates.push_back(role);
    for (const std::string& candidate : candidates) {
        const auto peer = pairs_.find({candidate, direction.dest_qpn});
        if (peer != pairs_.end() && peer->second.first.dest_qpn == direction.qpn)
            return candidate;
    }
    return {};
}

std::string LogPsns::address_of(const std::string& role) const {
    const auto entry = addresses_.find(role);
    return entry == addresses_.end() ? std::string() : entry->second;
}

}  // namespace timeline
