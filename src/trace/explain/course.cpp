#include "trace/explain/course.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

namespace explain {
namespace {

using wire::AethKind;
using wire::Operation;
using wire::Psn;

// A copy within this time of the first was not sent by a timer: the shortest useful ACK timeout is
// longer. A NAK in between would be visible.
constexpr std::int64_t soon_ns = 200'000;
// Maximum delay of a packet that was overtaken on the path.
constexpr std::int64_t overtaken_ns = 10'000'000;

class Walk {
  public:
    explicit Walk(const Direction& direction) : direction_(direction) {}

    Course made() {
        std::size_t answer = 0;
        for (std::size_t i = 0; i < direction_.requests.size(); ++i) {
            const Seen& request = *direction_.requests[i];
            while (answer < direction_.responses.size() &&
                   direction_.responses[answer]->frame < request.frame)
                take(*direction_.responses[answer++]);
            ask(i);
        }
        while (answer < direction_.responses.size())
            take(*direction_.responses[answer++]);
        settle();
        return std::move(course_);
    }

  private:
    struct Sent {
        const Seen* last = nullptr;  // the newest copy
        const Seen* first = nullptr;
        const Seen* answer = nullptr;  // the first that covers it, since its first copy
        std::uint32_t width = 1;
        std::uint32_t answers = 0;  // responses with this PSN
    };
    struct Gap {
        Psn first;
        std::uint32_t count = 0;
        const Seen* behind = nullptr;
        bool is_filled = false;
        std::size_t episode = std::numeric_limits<std::size_t>::max();
    };

    void ask(std::size_t index) {
        const Seen& request = *direction_.requests[index];
        const std::uint32_t width = request.psn_count(direction_.path_mtu);
        if (!has_begun_) {
            has_begun_ = true;
            next_ = acked_ = request.psn;
        }
        const std::int32_t ahead = distance(next_, request.psn);
        if (ahead > flow::longest_jump || ahead < -flow::longest_jump) {
            next_ = acked_ = request.psn;
            sent_.clear();
            pass(request, width);
        } else if (ahead >= 0) {
            // After a READ of unknown width, the gap consists of the READ's own PSNs.
            const bool was_read = last_ != nullptr && last_->is(Operation::RdmaReadRequest) &&
                                  direction_.path_mtu == 0;
            if (ahead > 0 && !was_read) {
                course_.gaps += static_cast<std::uint32_t>(ahead);
                gaps_.push_back({next_, static_cast<std::uint32_t>(ahead), &request});
            }
            pass(request, width);
        } else {
            come_again(request, width);
        }
        last_ = &request;
    }

    void pass(const Seen& request, std::uint32_t width) {
        ++course_.messages;
        course_.newest = &request;
        next_ = request.psn + width;
        sent_[request.psn.value()] = {.last = &request, .first = &request, .width = width};
        if (request.is(Operation::RdmaReadRequest))
            reads_[read_count_++ % reads_.size()] = &request;
        in_episode_ = false;
        asked_ += asks_for_ack(request) ? 1 : 0;
    }

    static bool asks_for_ack(const Seen& request) {
        return request.ack_req && !request.is(Operation::RdmaReadRequest);
    }

    void come_again(const Seen& request, std::uint32_t width) {
        const auto known = sent_.find(request.psn.value());
        const auto gap = gap_with(request.psn);
        const bool continues = in_episode_ && last_ != nullptr && follows(request, *last_);
        asked_again_ += asks_for_ack(request) ? 1 : 0;
        if (!continues)
            sequence_.reset();
        else if (sequence_)
            ++course_.episodes[*sequence_].packets;
        if (known == sent_.end()) {
            sent_[request.psn.value()] = {.last = &request, .first = &request, .width = width};
            if (gap != gaps_.end())
                fill(*gap, request);
            else if (!continues && answered_read(request) != nullptr)
                note({Why::DataLost, answered_read(request), &request, answered_read(request)});
            ++course_.repeats;
            in_episode_ = true;
            return;
        }
        ++course_.repeats;
        if (gap != gaps_.end() && gap->is_filled && gap->episode < course_.episodes.size() &&
            gap->first == request.psn && course_.episodes[gap->episode].why == Why::LostBefore)
            reordered(*gap, request, known->second);
        else if (!continues)
            judge(request, known->second);
        known->second.last = &request;
        in_episode_ = true;
    }

    // Whether the request continues the retransmission that `last` belongs to. If packets between
    // the two were lost again, only their next retransmission counts.
    bool follows(const Seen& request, const Seen& last) const {
        const std::int32_t missing =
            distance(last.psn + last.psn_count(direction_.path_mtu), request.psn);
        const bool was_asked_for = nak_ != nullptr && nak_->frame > last.frame;
        return missing == 0 ||
               (missing > 0 && !was_asked_for && request.t_ns - last.t_ns < soon_ns);
    }

    // Searches the newest gaps. Returns gaps_.end() if none has the PSN.
    std::vector<Gap>::iterator gap_with(Psn psn) {
        constexpr std::ptrdiff_t newest = 64;
        const auto begin = gaps_.size() > newest ? gaps_.end() - newest : gaps_.begin();
        return std::find_if(begin, gaps_.end(),
                            [&](const Gap& one) { return psn.is_within(one.first, one.count); });
    }

    // A missing packet arrived: counts as lost and retransmitted, unless reordered() finds
    // otherwise.
    void fill(Gap& gap, const Seen& request) {
        ++course_.filled;
        if (gap.is_filled)
            return;
        gap.is_filled = true;
        gap.episode = course_.episodes.size();
        // No NAK has asked for it yet: it was overtaken.
        const bool was_asked_for = nak_ != nullptr && nak_->frame > gap.behind->frame;
        const bool is_late = request.t_ns - gap.behind->t_ns < overtaken_ns && !was_asked_for;
        note({is_late ? Why::Reordered : Why::LostBefore, gap.behind, &request,
              was_asked_for ? nak_ : nullptr});
    }

    // It arrived and was then retransmitted: the responder had asked for it while it was in flight.
    void reordered(const Gap& gap, const Seen& again, const Sent& sent) {
        Episode& episode = course_.episodes[gap.episode];
        const bool was_soon = again.t_ns - sent.first->t_ns < overtaken_ns;
        if (was_soon)
            episode.why = Why::Reordered;
    }

    // Returns the READ request whose response contains this PSN.
    const Seen* answered_read(const Seen& again) const {
        if (!again.is(Operation::RdmaReadRequest))
            return nullptr;
        const auto found = std::ranges::find_if(reads_, [&](const Seen* one) {
            return one != nullptr &&
                   again.psn.is_within(one->psn, one->psn_count(direction_.path_mtu));
        });
        return found == reads_.end() ? nullptr : *found;
    }

    // Another request with the same PSN is not a copy (explain_deviations()).
    static bool is_copy(const Seen& again, const Seen& first) {
        return again.opcode == first.opcode && again.payload == first.payload &&
               (again.is(Operation::RdmaReadRequest) ||
                (again.va == first.va && again.rkey == first.rkey && again.dmalen == first.dmalen));
    }

    void judge(const Seen& request, const Sent& sent) {
        if (!is_copy(request, *sent.last))
            return;
        Episode episode{Why::Unanswered, sent.last, &request, sent.answer};
        if (damaged_between(*sent.last, request))
            episode.why = Why::Damaged;
        else if (rnr_ != nullptr && rnr_->frame > sent.last->frame)
            episode = {Why::NotReady, sent.last, &request, rnr_};
        else if (nak_ != nullptr && nak_->frame > sent.last->frame &&
                 !nak_->psn.is_after(request.psn)) {
            // Go-back-N: all packets after the requested one are retransmitted with it.
            if (nak_->psn != request.psn)
                return;
            episode = {Why::LostBehind, sent.last, &request, nak_};
        } else if (request.t_ns - sent.last->t_ns < soon_ns)
            episode.why = Why::Doubled;
        else if (sent.answer != nullptr)
            episode.why = request.wants_data() ? Why::DataLost : Why::AnswerLost;
        note(episode);
    }

    bool damaged_between(const Seen& first, const Seen& again) const {
        const auto found =
            std::ranges::lower_bound(direction_.damaged, first.frame, {}, &Seen::frame);
        return found != direction_.damaged.end() && (*found)->frame <= again.frame;
    }

    void note(Episode episode) {
        episode.cost_ns = episode.first == nullptr ? 0 : episode.again->t_ns - episode.first->t_ns;
        sequence_ = course_.episodes.size();
        course_.episodes.push_back(episode);
    }

    void take(const Seen& response) {
        course_.last_answer = &response;
        if (response.is_kind(AethKind::RnrNak)) {
            rnr_ = &response;
            return;
        }
        acks_ += response.is_kind(AethKind::Ack) ? 1 : 0;
        const bool is_nak = response.is_kind(AethKind::Nak);
        if (response.is_sequence_nak())
            nak_ = &response;
        // A NAK acknowledges all PSNs before its own.
        const Psn end = is_nak ? response.psn : response.psn + 1;
        if (!has_begun_)
            return;
        const std::int32_t covers = distance(acked_, end);
        if (covers > 0 && covers <= flow::longest_jump)
            for (std::int32_t i = 0; i < covers; ++i)
                cover(acked_ + static_cast<std::uint32_t>(i), response);
        if (covers > 0 && covers <= flow::longest_jump)
            acked_ = end;
        if (const auto known = sent_.find(response.psn.value()); known != sent_.end() && !is_nak)
            ++known->second.answers;
    }

    void cover(Psn psn, const Seen& response) {
        const auto known = sent_.find(psn.value());
        if (known == sent_.end() || known->second.answer != nullptr)
            return;
        known->second.answer = &response;
        const std::int64_t delay = response.t_ns - known->second.first->t_ns;
        course_.fastest_ns = course_.answered == 0 ? delay : std::min(course_.fastest_ns, delay);
        ++course_.answered;
    }

    // Decides what only the end of the capture shows.
    void settle() {
        course_.are_copies_answered = asked_again_ > 0 && acks_ >= asked_ + (asked_again_ + 1) / 2;
        for (Episode& episode : course_.episodes) {
            if (episode.why == Why::Doubled && episode.packets > 1)
                episode.why = Why::Early;
            if (episode.why != Why::Unanswered)
                continue;
            const auto known = sent_.find(episode.again->psn.value());
            if (known == sent_.end() || known->second.answer == nullptr)
                continue;
            episode.answer = known->second.answer;
            // Every copy that arrives is acknowledged.
            episode.why = known->second.answers > 1 ? Why::AnswerLate : Why::LostBehind;
        }
        find_late_doubles();
        find_silence();
    }

    // On a path that duplicates packets, a second copy may also be delayed. A requester that
    // retransmits goes back: it sends the requests after the first one again, too.
    void find_late_doubles() {
        constexpr std::size_t least = 3;
        const auto is_single = [](const Episode& episode) {
            const bool was_asked_for =
                episode.answer != nullptr && episode.answer->is_kind(AethKind::Nak);
            return (episode.why == Why::AnswerLost || episode.why == Why::AnswerLate ||
                    episode.why == Why::LostBehind) &&
                   episode.packets == 1 && !was_asked_for && episode.cost_ns < overtaken_ns;
        };
        const std::size_t doubles = course_.count(Why::Doubled);
        const auto singles =
            static_cast<std::size_t>(std::ranges::count_if(course_.episodes, is_single));
        if (doubles < least || doubles < singles)
            return;
        for (Episode& episode : course_.episodes)
            if (is_single(episode))
                episode.why = Why::Doubled;
    }

    void find_silence() {
        if (!direction_.is_reliable() || last_ == nullptr)
            return;
        const auto since = course_.last_answer == nullptr ? 0 : course_.last_answer->frame;
        std::unordered_map<std::uint32_t, std::vector<const Seen*>> copies;
        for (const Seen* request : direction_.requests)
            if (distance(acked_, request->psn) >= 0 || course_.last_answer == nullptr) {
                // Of the copies before the last response, keep only the newest: those retransmitted
                // for a NAK were not unanswered.
                auto& all = copies[request->psn.value()];
                if (!all.empty() && request->frame < since)
                    all.clear();
                all.push_back(request);
            }
        const std::vector<const Seen*>* longest = nullptr;
        for (const auto& [psn, all] : copies)
            if (all.back()->frame > since &&
                (longest == nullptr || all.size() > longest->size() ||
                 (all.size() == longest->size() && all.front()->frame < longest->front()->frame)))
                longest = &all;
        if (longest == nullptr)
            return;
        course_.silent = longest->front();
        course_.silent_copies = *longest;
    }

    const Direction& direction_;
    Course course_;
    bool has_begun_ = false;
    Psn next_, acked_;
    std::unordered_map<std::uint32_t, Sent> sent_;
    std::vector<Gap> gaps_;
    std::array<const Seen*, 64> reads_{};  // the newest
    std::size_t read_count_ = 0;
    const Seen* last_ = nullptr;
    const Seen* nak_ = nullptr;
    const Seen* rnr_ = nullptr;
    bool in_episode_ = false;
    std::optional<std::size_t> sequence_;  // the episode that a retransmission continues
    std::size_t asked_ = 0, asked_again_ = 0, acks_ = 0;
};

}  // namespace

std::size_t Course::count(Why why) const {
    return static_cast<std::size_t>(std::ranges::count(episodes, why, &Episode::why));
}

const Episode* Course::first(Why why) const {
    const auto found = std::ranges::find(episodes, why, &Episode::why);
    return found == episodes.end() ? nullptr : &*found;
}

std::int64_t Course::cost_of(Why why) const {
    std::int64_t sum = 0;
    for (const Episode& episode : episodes)
        sum += episode.why == why ? episode.cost_ns : 0;
    return sum;
}

Course course_of(const Direction& direction) {
    return Walk(direction).made();
}

}  // namespace explain
