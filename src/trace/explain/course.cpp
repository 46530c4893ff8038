// Requests: their copies, and the gaps between them. Responses: course_responses.cpp.
#include "trace/explain/course.hpp"

#include <algorithm>
#include <utility>

namespace explain {
namespace {

using wire::Operation;
using wire::Psn;

// A copy within this time of the first was not sent by a timer: the shortest useful ACK timeout is
// longer. A NAK in between would be visible.
constexpr std::int64_t soon_ns = 200'000;
constexpr std::size_t most_jumps = 2;

bool asks_for_ack(const Seen& request) {
    return request.ack_req && !request.is(Operation::RdmaReadRequest);
}

// Another request with the same PSN is not a copy (explain_deviations()).
bool is_copy(const Seen& again, const Seen& first) {
    return again.opcode == first.opcode && again.payload == first.payload &&
           (again.is(Operation::RdmaReadRequest) ||
            (again.va == first.va && again.rkey == first.rkey && again.dmalen == first.dmalen));
}

bool is_port(const wire::IcrcHint* hint) {
    return hint != nullptr && hint->kind == wire::IcrcHint::Kind::SourcePort;
}

}  // namespace

void Walk::go_on(const Direction& direction) {
    path_mtu_ = direction.path_mtu;
    const auto next_of = [this](const std::vector<const Seen*>& all) {
        return std::ranges::upper_bound(all, frame_, {}, &Seen::frame);
    };
    auto request = next_of(direction.requests);
    auto response = next_of(direction.responses);
    auto damaged = next_of(direction.damaged);
    const auto frame_of = [](auto one, const std::vector<const Seen*>& all) {
        return one == all.end() ? UINT64_MAX : (*one)->frame;
    };
    while (true) {
        const std::uint64_t asked = frame_of(request, direction.requests);
        const std::uint64_t answered = frame_of(response, direction.responses);
        const std::uint64_t broken = frame_of(damaged, direction.damaged);
        const std::uint64_t frame = std::min({asked, answered, broken});
        if (frame == UINT64_MAX)
            return;
        frame_ = frame;
        if (frame == broken) {
            see_damaged(**damaged++);
            continue;
        }
        const Seen& seen = frame == asked ? **request++ : **response++;
        if (seen.hint != nullptr)
            (is_port(seen.hint) ? course_.damage.trusted_port : course_.damage.trusted).add(seen);
        if (frame == asked)
            ask(seen);
        else
            take(seen);
    }
}

void Walk::see_damaged(const Seen& seen) {
    damaged_frame_ = seen.frame;
    damaged_psn_ = seen.psn;
    Course::Damage& damage = course_.damage;
    (seen.hint == nullptr ? damage.unexplained
     : is_port(seen.hint) ? damage.port
                          : damage.other)
        .add(seen);
}

void Walk::ask(const Seen& request) {
    if (request.wants_data())
        follow_data(request);
    ++course_.requests;
    if (last_ != nullptr && request.psn != last_->psn + 1 && course_.jumps.size() < most_jumps)
        course_.jumps.emplace_back(last_, &request);
    if (!newest_asked_ || distance(*newest_asked_, request.psn) > 0) {
        newest_asked_ = request.psn;
        course_.asked += request.requires_response() ? 1 : 0;
    }
    const std::uint32_t width = request.psn_count(path_mtu_);
    if (!has_begun_) {
        has_begun_ = true;
        next_ = acked_ = request.psn;
    }
    go_to(request.psn);
    const std::int32_t ahead = distance(next_, request.psn);
    if (ahead == 0)
        go_past(request);
    if (flow::is_far(next_, request.psn)) {
        left_ = {next_, acked_, std::exchange(sent_, {}), last_};
        next_ = acked_ = request.psn;
        pass(request, width);
    } else if (ahead >= 0) {
        // After a READ of unknown width, the gap consists of the READ's own PSNs.
        const bool was_read = last_ != nullptr && last_->is(Operation::RdmaReadRequest) &&
                              (path_mtu_ == 0 || last_->lacks_headers);
        if (ahead > 0 && !was_read) {
            const auto missing = static_cast<std::uint32_t>(ahead);
            course_.gaps += missing;
            gaps_.push_back({.first = next_, .count = missing, .behind = &request});
            gaps_.back().was_damaged =
                damaged_frame_ != 0 && damaged_psn_.is_within(next_, missing);
            if (std::exchange(broken_at_, course_.ends) != course_.ends)
                ++course_.broken;
        }
        pass(request, width);
    } else {
        come_again(request, width);
    }
    if (!midst_.empty() && course_.episodes[midst_.back()].again != &request)
        midst_.clear();
    last_ = &request;
    if (request.requires_response())
        due_frame_ = request.frame;
}

// Goes back to the sequence before the current one, if the PSN is in it.
void Walk::go_to(Psn psn) {
    if (!left_ || !flow::is_far(next_, psn) || flow::is_far(left_->next, psn))
        return;
    std::swap(next_, left_->next);
    std::swap(acked_, left_->acked);
    std::swap(sent_, left_->sent);
    std::swap(last_, left_->last);
}

void Walk::pass(const Seen& request, std::uint32_t width) {
    ++course_.messages;
    course_.ends += request.opcode->ends_message() ? 1 : 0;
    course_.newest = &request;
    next_ = request.psn + width;
    ids_.see(request);
    sent_[request.psn.value()] = {.last = &request, .first = &request, .width = width};
    if (request.is(Operation::RdmaReadRequest))
        reads_[read_count_++ % reads_.size()] = &request;
    in_episode_ = false;
    asked_ += asks_for_ack(request) ? 1 : 0;
}

// A missing packet came alone, and the next one is new: a requester that goes back sends all packets again
// that follow the missing one. It was overtaken, unless somebody had asked for it alone.
void Walk::go_past(const Seen& request) {
    for (const std::size_t index : midst_) {
        Episode& episode = course_.episodes[index];
        if (episode.why == Why::LostBefore && request.t_ns - episode.again->t_ns < soon_ns)
            episode.why = Why::Reordered;
    }
}

void Walk::come_again(const Seen& request, std::uint32_t width) {
    const auto known = sent_.find(request.psn.value());
    const auto gap = gap_with(request.psn);
    const bool continues = in_episode_ && follows(request, *last_);
    asked_again_ += asks_for_ack(request) ? 1 : 0;
    if (!continues)
        sequence_.reset();
    else if (sequence_)
        course_.episodes[*sequence_].add_copy(request.requires_response());
    if (known == sent_.end()) {
        sent_[request.psn.value()] = {.last = &request, .first = &request, .width = width};
        const bool was_asked = nak_ != nullptr && nak_->psn == request.psn;
        if (gap != gaps_.end())
            fill(*gap, request, continues);
        else if (!continues && was_asked)  // the capture begins behind it
            note({Why::LostBefore, last_, &request, nak_});
        else if (!continues && answered_read(request) != nullptr)
            note({Why::DataLost, answered_read(request), &request});
        ++course_.repeats;
        in_episode_ = true;
        return;
    }
    ++course_.repeats;
    const bool is_of_gap = gap != gaps_.end() && gap->is_filled && gap->first == request.psn &&
                           gap->episode < course_.episodes.size();
    const Why why = is_of_gap ? course_.episodes[gap->episode].why : Why::Unanswered;
    if (why == Why::LostBefore)
        reordered(*gap, request, known->second);
    else if (!continues && !(why == Why::Reordered && was_asked_for(*gap)))
        judge(request, known->second);
    known->second.last = &request;
    in_episode_ = true;
}

// Whether the request continues the retransmission that `last` belongs to. If packets between
// the two were lost again, only their next retransmission counts.
bool Walk::follows(const Seen& request, const Seen& last) const {
    const std::int32_t missing = distance(last.psn + last.psn_count(path_mtu_), request.psn);
    const bool was_asked_for = nak_ != nullptr && nak_->frame > last.frame;
    return missing == 0 || (missing > 0 && !was_asked_for && request.t_ns - last.t_ns < soon_ns);
}

// Searches the newest gaps. Returns gaps_.end() if none has the PSN.
Walk::Gaps::iterator Walk::gap_with(Psn psn) {
    const auto begin =
        gaps_.size() > newest_gaps ? gaps_.end() - std::ptrdiff_t{newest_gaps} : gaps_.begin();
    return std::find_if(begin, gaps_.end(),
                        [&](const Gap& one) { return psn.is_within(one.first, one.count); });
}

// A missing packet arrived: counts as lost and retransmitted, unless reordered() finds
// otherwise.
void Walk::fill(Gap& gap, const Seen& request, bool continues) {
    const std::int64_t late_ns = request.t_ns - gap.behind->t_ns;
    const bool is_misplaced = late_ns < 0;
    ++course_.filled;
    course_.misplaced += is_misplaced ? 1 : 0;
    if (std::exchange(gap.is_filled, true) || is_misplaced)
        return;
    gap.episode = course_.episodes.size();
    gap.was_in_sequence = continues;
    // No NAK has asked for it yet, and no retransmission goes on with it: it was overtaken.
    const bool was_asked = was_asked_for(gap);
    const bool is_late = late_ns < overtaken_ns && !was_asked && !continues && !gap.was_damaged;
    const bool is_midst =
        midst_.empty() ? last_ == course_.newest && !continues : request.psn != last_->psn + 1;
    if (is_midst && late_ns < long_overtaken_ns && !was_asked)
        midst_.push_back(gap.episode);
    note({is_late ? Why::Reordered : Why::LostBefore, gap.behind, &request,
          was_asked ? nak_ : nullptr});
}

// A changed packet may have made the responder ask for the missing one before the gap shows.
bool Walk::was_asked_for(const Gap& gap) const {
    return nak_ != nullptr &&
           (nak_->frame > gap.behind->frame || nak_->psn.is_within(gap.first, gap.count));
}

// It arrived and was then retransmitted: the responder had asked for it while it was in flight.
void Walk::reordered(const Gap& gap, const Seen& again, const Sent& sent) {
    Episode& episode = course_.episodes[gap.episode];
    if (episode.next_copy == nullptr)
        episode.next_copy = &again;
    const bool was_soon = again.t_ns - sent.first->t_ns < overtaken_ns;
    if (was_soon && episode.cost_ns < overtaken_ns && !gap.was_in_sequence && !gap.was_damaged)
        episode.why = Why::Reordered;
}

// Returns the READ request whose response contains this PSN.
const Seen* Walk::answered_read(const Seen& again) const {
    if (!again.is(Operation::RdmaReadRequest))
        return nullptr;
    const auto found = std::ranges::find_if(reads_, [&](const Seen* one) {
        return one != nullptr && again.psn.is_within(one->psn, one->psn_count(path_mtu_));
    });
    return found == reads_.end() ? nullptr : *found;
}

// Of a READ whose responses were sent: one of them may not have reached the requester, which asks for it
// as soon as it has the next one. A copy that the path made comes sooner.
bool Walk::is_asked_for_again(const Seen& request, const Sent& sent) {
    constexpr std::int64_t least_ns = 20'000;
    return request.wants_data() && sent.answer != nullptr &&
           (sent.answer->psn.is_after(request.psn) || request.t_ns - sent.answer->t_ns >= least_ns);
}

void Walk::judge(const Seen& request, const Sent& sent) {
    if (!is_copy(request, *sent.last))
        return;
    Episode episode{Why::Unanswered, sent.last, &request, sent.answer};
    episode.was_due = due_frame_ >= sent.last->frame;
    episode.is_same_packet = ids_.are_one(*sent.last, request);
    if (episode.is_same_packet)
        episode.why = Why::Doubled;
    else if (damaged_frame_ >= sent.last->frame)
        episode.why = Why::Damaged;
    else if (rnr_ != nullptr && rnr_->frame > sent.last->frame)
        episode = {Why::NotReady, sent.last, &request, rnr_};
    else if (nak_ != nullptr && nak_->frame > sent.last->frame &&
             !nak_->psn.is_after(request.psn)) {
        // Go-back-N: all packets after the requested one are retransmitted with it.
        if (nak_->psn != request.psn) {
            go_on_behind_overtaken(request);
            return;
        }
        episode = {Why::LostBehind, sent.last, &request, nak_};
    } else if (request.t_ns - sent.last->t_ns < soon_ns && !is_asked_for_again(request, sent))
        episode.why = flow::PacketIds::are_two(*sent.last, request) ? Why::Early : Why::Doubled;
    else if (sent.answer != nullptr)
        episode.why = request.wants_data() ? Why::DataLost : Why::AnswerLost;
    note(episode);
}

// The packet that the responder asked for was acknowledged before it was sent again: it was overtaken, and
// the requester goes back to the first one that is not acknowledged.
void Walk::go_on_behind_overtaken(const Seen& request) {
    const auto asked = sent_.find(nak_->psn.value());
    if (asked != sent_.end() && nak_->psn.is_before(acked_) && !request.psn.is_after(acked_) &&
        asked->second.last->frame < nak_->frame && gap_with(nak_->psn) == gaps_.end())
        note({Why::Reordered, asked->second.last, &request, nak_});
}

void Walk::note(Episode episode) {
    if (episode.why == Why::DataLost) {
        const std::uint64_t begin = episode.first->frame;
        const Seen* last = course_.last_answer;
        const auto data = data_.find(episode.again->psn.value());
        episode.had_data = data != data_.end() && data->second > begin;
        episode.was_passed_over =
            last != nullptr && last->frame > begin && last->psn.is_after(episode.again->psn);
        episode.data_asked = 1;
    }
    episode.cost_ns = episode.again->t_ns - episode.first->t_ns;
    episode.newest = next_ - 1;
    episode.idle_ns = episode.again->t_ns - last_->t_ns;
    Course::Spacing& spacing = course_.spacing;
    const std::uint64_t last = std::exchange(spacing.last, course_.requests);
    if (spacing.episodes++ != 0) {
        spacing.least = std::min(spacing.least, course_.requests - last);
        spacing.most = std::max(spacing.most, course_.requests - last);
    }
    episode.asking = episode.again->requires_response() ? 1 : 0;
    sequence_ = course_.episodes.size();
    course_.episodes.push_back(episode);
}

}  // namespace explain
