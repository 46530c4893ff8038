// Responses: the requests that they cover, and the retransmissions that they belong to.
#include <algorithm>
#include <span>

#include "trace/explain/course.hpp"

namespace explain {
namespace {

using wire::AethKind;
using wire::Psn;

}  // namespace

void Walk::take(const Seen& response) {
    if (++course_.responses == 1)
        course_.was_first_answer_sent =
            newest_asked_ && distance(response.psn, *newest_asked_) >= 0;
    course_.last_answer = &response;
    if (response.is_data()) {
        follow_data(response);
        data_[response.psn.value()] = response.frame;
    }
    if (response.is_kind(AethKind::RnrNak)) {
        note_rnr_nak(response);
        rnr_ = &response;
        return;
    }
    acks_ += response.is_kind(AethKind::Ack) ? 1 : 0;
    count_answer(response);
    const bool is_nak = response.is_kind(AethKind::Nak);
    if (response.is_sequence_nak())
        nak_ = &response;
    const Psn end = response.acknowledged_end();
    if (!has_begun_)
        return;
    go_to(end);
    const std::int32_t covers = distance(acked_, end);
    if (covers > 0 && covers <= flow::longest_jump) {
        for (std::int32_t i = 0; i < covers; ++i)
            cover(acked_ + static_cast<std::uint32_t>(i), response);
        acked_ = end;
    }
    if (covers <= 0 && !is_nak)
        note_second_answer(response.psn);
}

void Walk::note_rnr_nak(const Seen& nak) {
    const auto asked = sent_.find(nak.psn.value());
    const bool takes_none = asked != sent_.end() && asked->second.first->wants_data();
    if (!takes_none) {
        ++course_.rnr_naks;
        return;
    }
    Course::Refused& refused = course_.refused_without_receive;
    if (refused.count++ == 0) {
        refused.request = asked->second.first;
        refused.nak = &nak;
    }
}

// More responses than packets in the sequence: some belong to first copies, or to an earlier sequence.
void Walk::count_answer(const Seen& response) {
    const bool is_first_data = response.is_data() && response.opcode->starts_message();
    if (!is_first_data && !response.is_ack())
        return;
    const auto fits = [&](const Episode& episode) {
        return !episode.again->psn.is_after(response.psn) && !response.psn.is_after(episode.newest);
    };
    const auto episodes = newest_episodes();
    const auto matching = std::ranges::count_if(episodes, fits);
    if (matching == 0)
        return;
    for (Episode& episode : episodes)
        if (fits(episode)) {
            ++episode.answers;
            episode.shares_answers |= matching > 1;
        }
    const auto asked = sent_.find(response.psn.value());
    acknowledges_each_copy_ |= matching == 1 && response.is_ack() && asked != sent_.end() &&
                               !asked->second.first->requires_response();
}

void Walk::cover(Psn psn, const Seen& response) {
    const auto known = sent_.find(psn.value());
    if (known == sent_.end() || known->second.answer != nullptr)
        return;
    known->second.answer = &response;
    const std::int64_t delay = response.t_ns - known->second.first->t_ns;
    course_.fastest_ns = course_.answered == 0 ? delay : std::min(course_.fastest_ns, delay);
    if (known->second.last == known->second.first && response.psn == psn)
        course_.slowest_ns = std::max(course_.slowest_ns, delay);
    ++course_.answered;
}

// A responder acknowledges a duplicate with the PSN of the newest request that it has executed, and in
// the order of the requests.
void Walk::note_second_answer(Psn psn) {
    for (Episode& episode : newest_episodes())
        if (!episode.again->psn.is_after(psn) && !psn.is_after(episode.newest))
            episode.has_second_answer = true;
}

// Counts what a READ or an atomic that was asked for again got.
void Walk::follow_data(const Seen& seen) {
    for (Episode& episode : newest_episodes()) {
        if (episode.why != Why::DataLost || seen.t_ns - episode.again->t_ns > overtaken_ns)
            continue;
        const Psn wanted = episode.again->psn;
        if (seen.is_data() && seen.psn == wanted)
            ++episode.data_came;
        else if (seen.wants_data() && wanted.is_within(seen.psn, seen.psn_count(path_mtu_)))
            ++episode.data_asked;
    }
}

// Retransmissions in flight.
std::span<Episode> Walk::newest_episodes() {
    constexpr std::size_t most = 8;
    return std::span(course_.episodes).last(std::min(most, course_.episodes.size()));
}

}  // namespace explain
