// A capture at both ends shows which copies of a request and which of its responses arrived, so why a
// request was retransmitted is no guess.
#include <algorithm>
#include <optional>
#include <span>

#include "trace/explain/course.hpp"

namespace explain {
namespace {

class KnownReason {
  public:
    KnownReason(Episode& episode, const Direction& direction, const Passages& passages)
        : episode_(episode), direction_(direction), passages_(passages) {}

    void find() {
        const Passage::Fate first = passages_.fate_of(begin());
        if (first == Passage::Fate::Unknown)
            return;
        if (was_asked_for())
            return after_nak(first);
        if (const auto lost = first_of(requests().lost))
            return is(Why::LostBehind, *lost);
        if (first_of(requests().damaged) || first_of(requests().changed))
            return is(Why::Damaged);
        if (was_late_request_overtaken() == true)
            return is(Why::Reordered);
        if (const auto response = lost_response())
            return is(Why::DataLost, *response);
        if (first_of(responses().damaged) || first_of(responses().changed))
            return is(Why::Damaged);
        if (is_data_overtaken())
            return is(Why::Reordered);
        after_response();
    }

  private:
    std::uint64_t begin() const { return episode_.first->frame; }
    std::uint64_t end() const { return episode_.again->frame; }

    const Passages::Fates& requests() const {
        return passages_.requests_of(direction_.stream->number);
    }
    const Passages::Fates& responses() const {
        return passages_.responses_of(direction_.back == nullptr ? 0 : direction_.back->number);
    }

    std::optional<std::uint64_t> first_of(const Passages::Frames& frames) const {
        const auto found = Passages::within(frames, begin(), end());
        return found.empty() ? std::nullopt : std::optional(found.front());
    }

    bool was_asked_for() const {
        const Seen* nak = episode_.answer;
        return nak != nullptr && nak->is_sequence_nak() && nak->psn == episode_.again->psn &&
               nak->frame < end();
    }

    void is(Why why, std::uint64_t lost = 0) {
        episode_.why = why;
        episode_.lost = lost;
        episode_.is_known = true;
    }

    // The responder asked for this packet.
    void after_nak(Passage::Fate first) {
        if (first == Passage::Fate::Lost)
            is(Why::LostBehind, begin());
        else if (first == Passage::Fate::Damaged || first == Passage::Fate::Changed)
            is(Why::Damaged);
        else if (first == Passage::Fate::Overtaken)
            is(Why::Reordered);
        else
            after_another(came_after_nak() ? Why::Reordered : Why::LostBehind);
    }

    // Another copy overtook it.
    bool came_after_nak() const { return passages_.of(begin())->arrival > episode_.answer->frame; }

    // It arrived, and the responder asked for it or did not answer it. What befell another packet may be the
    // reason: the responder drops all requests after one that is missing. `otherwise`: if there is none.
    void after_another(Why otherwise) {
        constexpr std::ptrdiff_t most = 64;
        const auto behind = std::ranges::lower_bound(direction_.requests, end(), {}, &Seen::frame);
        const auto from = behind - std::min(most, behind - direction_.requests.begin());
        const std::uint64_t since = from == behind ? end() : (*from)->frame;
        const auto newest = [&](const Passages::Frames& frames) {
            const auto found = Passages::within(frames, since, end());
            return found.empty() ? 0 : found.back();
        };
        const std::uint64_t lost = newest(requests().lost);
        const std::uint64_t damaged =
            std::max(newest(requests().damaged), newest(requests().changed));
        const std::uint64_t overtaken = newest(requests().overtaken);
        if (lost + damaged + overtaken == 0)
            is(otherwise);
        else if (lost > std::max(damaged, overtaken))
            is(Why::LostBehind, lost);
        else
            is(damaged > overtaken ? Why::Damaged : Why::Reordered);
    }

    // A request that arrived when it had been retransmitted: whether it was overtaken; nullopt: none.
    std::optional<bool> was_late_request_overtaken() const {
        constexpr std::ptrdiff_t most = 64;
        const auto behind = std::ranges::lower_bound(direction_.requests, end(), {}, &Seen::frame);
        const auto from = behind - std::min(most, behind - direction_.requests.begin());
        const auto late = std::find_if(from, behind, [&](const Seen* request) {
            const Passage* one = passages_.of(request->frame);
            return request->frame >= begin() && one != nullptr && one->arrival > end();
        });
        if (late == behind)
            return std::nullopt;
        return passages_.fate_of((*late)->frame) == Passage::Fate::Overtaken;
    }

    const Seen* response_at(std::uint64_t frame) const {
        const auto found = std::ranges::lower_bound(direction_.responses, frame, {}, &Seen::frame);
        return found == direction_.responses.end() || (*found)->frame != frame ? nullptr : *found;
    }

    // Of those that would have made the retransmission needless.
    std::optional<std::uint64_t> lost_response() const {
        constexpr std::size_t most = 16;
        const auto lost = Passages::within(responses().lost, begin(), end());
        const auto some = lost.first(std::min(lost.size(), most));
        const auto found = std::ranges::find_if(some, [&](std::uint64_t frame) {
            const Seen* response = response_at(frame);
            return response == nullptr || !response->psn.is_before(episode_.again->psn);
        });
        return found == some.end() ? std::nullopt : std::optional(*found);
    }

    // The responses to a READ arrived in another order: the requester asks for those that it missed.
    bool is_data_overtaken() const {
        return episode_.again->wants_data() && first_of(responses().overtaken).has_value();
    }

    // Nothing was lost: the response came late, or the host of one of the two was.
    void after_response() {
        const Seen* answer = episode_.answer;
        if (answer == nullptr || answer->frame > end())
            after_later_response();
        else if (const Passage* late = late_response())
            is_late(*late);
        else
            is(Why::AnswerLost);
    }

    void is_late(const Passage& response) {
        episode_.answer = response_at(response.frame);
        episode_.answer_arrived_ns = response.arrived_ns;
        is(Why::AnswerLate);
    }

    // The last response that was sent before the retransmission and arrived after it; nullptr: none.
    const Passage* late_response() const {
        constexpr std::ptrdiff_t most = 64;
        const auto behind = std::ranges::lower_bound(direction_.responses, end(), {}, &Seen::frame);
        auto one = behind;
        while (one != direction_.responses.begin() && behind - one < most &&
               (*std::prev(one))->frame > begin()) {
            const Seen& response = **--one;
            const Passage* passage = passages_.of(response.frame);
            if (!response.psn.is_before(episode_.again->psn) && passage != nullptr &&
                passage->arrival > end())
                return passage;
        }
        return nullptr;
    }

    // No response was sent before the retransmission. One that was sent before this arrived, or long after
    // that, belongs to the first copy.
    void after_later_response() {
        constexpr std::int64_t at_once_ns = 2'000'000;
        const Passage* again = passages_.of(end());
        const Passage* answer =
            episode_.answer == nullptr ? nullptr : passages_.of(episode_.answer->frame);
        if (again == nullptr || answer == nullptr) {
            is(episode_.why);
            return;
        }
        const std::int64_t sent_ns = episode_.answer->t_ns;
        if (was_late_request_overtaken() || again->arrival == 0 ||
            episode_.answer->frame < again->arrival || sent_ns > again->arrived_ns + at_once_ns)
            is_late(*answer);
        else if (episode_.why == Why::LostBefore || episode_.why == Why::DataLost ||
                 episode_.why == Why::LostBehind || episode_.why == Why::Unanswered)
            after_another(Why::LostBehind);
        else
            is(episode_.why);
    }

    Episode& episode_;
    const Direction& direction_;
    const Passages& passages_;
};

}  // namespace

void Walk::know(Episode& episode, const Direction& direction, const Passages* passages) {
    const bool is_of_gap = episode.first->psn != episode.again->psn && episode.why != Why::DataLost;
    if (passages == nullptr || direction.stream == nullptr || is_of_gap || episode.is_same_packet ||
        episode.why == Why::NotReady)
        return;
    KnownReason(episode, direction, *passages).find();
}

}  // namespace explain
