#include "trace/timeline/log_psns.hpp"

#include <map>

namespace timeline {

namespace key = runlog::key;

void LogPsns::add(const runlog::Event& event) {
    if (event.is("cm_event"))
        uses_cm_.insert(event.role);
    PairPsns* pair = pairs_.learn(event);
    if (pair == nullptr)
        return;
    FirstPsn& first = pair->first;
    if (event.is("psn")) {
        first.psn = event[key::psn];
        first.hidden = !first.psn;
        first.chosen_by = event[key::source];
    }
    if (first.dest_qpn == 0)
        first.dest_qpn = pair->dest_qpn.value_or(0);
    if (!first.psn && pair->sq_psn)
        first.psn = pair->sq_psn->value();
    first.hidden |= !first.psn && pair->hides_psns;
}

std::vector<FirstPsn> LogPsns::directions() const {
    std::map<logged::Key, const PairPsns*> firsts;
    for (const PairPsns& pair : pairs_.all())
        firsts.try_emplace({pair.role, pair.qpn}, &pair);
    std::vector<FirstPsn> all;
    for (const auto& [key, pair] : firsts) {
        if (pair->first.dest_qpn == 0)
            continue;
        FirstPsn& direction = all.emplace_back(pair->first);
        direction.from = pair->role;
        direction.qpn = pair->qpn;
        if (const PairPsns* peer = pairs_.peer_of(*pair))
            direction.to = peer->role;
        if (direction.chosen_by.empty() && uses_cm_.contains(pair->role))
            direction.chosen_by = "rdma_cm (the kernel)";
    }
    return all;
}

std::string LogPsns::address_of(const std::string& role) const {
    const logged::Device* device = pairs_.devices().last_of(role);
    return device == nullptr ? std::string() : device->address();
}

}  // namespace timeline
