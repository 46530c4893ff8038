#include "trace/predict/replay.hpp"

#include <fmt/format.h>

#include "trace/predict/answer.hpp"

namespace predict {

QuestionPlan plan_of(const Run& run) {
    QuestionPlan plan;
    for (const auto& [before, event] : run.events)
        plan.events.insert(before);
    if (!plan.events.empty() && *plan.events.begin() < run.packets.size())
        plan.begin = *plan.events.begin();
    return plan;
}

std::vector<std::string> Replay::see_events(std::size_t before) {
    std::vector<std::string> texts;
    const auto [first, last] = run_.events.equal_range(before);
    for (auto event = first; event != last; ++event) {
        const Run::LinkEvent& one = event->second;
        texts.push_back(one.text);
        ConnectionState& ends = ends_[one.place.connection];
        if (one.is_request && one.is_missing)
            ends.see_taken(one.place.offset);
        if (one.is_request && !one.is_gone)
            ends.see_held(one.place.offset);
    }
    return texts;
}

void Replay::see(std::size_t index) {
    const ReliablePacket& packet = run_.packets[index];
    ends_[packet.connection].see(packet);
}

std::string Replay::sender(std::size_t index) const {
    const ReliablePacket& packet = run_.packets[index];
    const std::string to =
        run_.connections.size() == 1 ? "" : fmt::format(", to QP {:#08x}", packet.dest_qpn);
    return fmt::format("{} sends the next packet{}.", begun(run_.name_of(packet.source)), to);
}

std::string Replay::hint(std::size_t index) const {
    const Connection& connection = run_.connections[run_.packets[index].connection];
    return predict::hint(ends(index), run_.name_of(connection.requester),
                         run_.name_of(connection.responder));
}

}  // namespace predict
