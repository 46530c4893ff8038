// What only the end of the capture shows of a direction, and what a walk forgets before.
#include <algorithm>
#include <utility>

#include "trace/explain/course.hpp"

namespace explain {
namespace {

using wire::AethKind;

constexpr std::size_t most_damaged = 3;

}  // namespace

void Damaged::add(const Seen& seen) {
    ++count;
    if (first.size() < most_damaged)
        first.push_back(&seen);
    if (seen.hint != nullptr)
        hints.emplace(seen.hint, seen.is_request());
}

void Damaged::add(const Damaged& other) {
    count += other.count;
    first.insert(first.end(), other.first.begin(), other.first.end());
    std::ranges::sort(first, {}, &Seen::frame);
    first.resize(std::min(first.size(), most_damaged));
    hints.insert(other.hints.begin(), other.hints.end());
}

void Walk::forget(const Share& share, const Direction& direction, const Passages* passages,
                  const std::function<void(const Seen*)>& hold) {
    const std::uint64_t frame = share.frame;
    learn_acknowledgements();
    for (Episode& episode : course_.episodes)
        if (episode.again->frame <= frame) {
            settle(episode);
            know(episode, direction, passages);
        }
    std::erase_if(data_, [&](const auto& one) { return one.second <= frame; });
    const auto forget_copies = [&](Copies& all) {
        std::erase_if(all, [&](const auto& one) { return one.second.last->frame <= frame; });
        for (const auto& [psn, sent] : all)
            for (const Seen* seen : {sent.last, sent.first, sent.answer})
                hold(seen);
    };
    forget_copies(sent_);
    if (left_) {
        forget_copies(left_->sent);
        hold(left_->last);
    }
    if (gaps_.size() > newest_gaps)
        gaps_.erase(gaps_.begin(), gaps_.end() - std::ptrdiff_t{newest_gaps});
    limit_episodes(share.episodes);
    for (const Gap& gap : gaps_)
        hold(gap.behind);
    for (const Episode& episode : course_.episodes)
        for (const Seen* seen : {episode.first, episode.again, episode.answer, episode.next_copy})
            hold(seen);
    for (const Seen* read : reads_)
        hold(read);
    for (const auto& [before, behind] : course_.jumps)
        for (const Seen* seen : {before, behind})
            hold(seen);
    const Course::Damage& damage = course_.damage;
    for (const Damaged* kind :
         {&damage.unexplained, &damage.port, &damage.other, &damage.trusted, &damage.trusted_port})
        for (const Seen* seen : kind->first)
            hold(seen);
    const Course::Refused& refused = course_.refused_without_receive;
    for (const Seen* seen :
         {last_, nak_, rnr_, course_.newest, course_.last_answer, refused.request, refused.nak})
        hold(seen);
}

// Keeps the first and the last ones.
void Walk::limit_episodes(std::size_t most) {
    std::vector<Episode>& all = course_.episodes;
    if (all.size() <= most)
        return;
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(most / 2);
    const auto to = all.end() - static_cast<std::ptrdiff_t>(most - most / 2);
    for (auto one = from; one != to; ++one) {
        Course::Forgotten& forgotten = course_.forgotten[static_cast<std::size_t>(one->why)];
        ++forgotten.count;
        forgotten.cost_ns += one->cost_ns;
    }
    const auto gone = static_cast<std::size_t>(to - from);
    const auto kept = static_cast<std::size_t>(from - all.begin());
    const auto moved = [&](std::size_t episode) {
        return episode < kept ? episode : episode < kept + gone ? no_episode : episode - gone;
    };
    for (Gap& gap : gaps_)
        if (gap.episode != no_episode)
            gap.episode = moved(gap.episode);
    if (sequence_ && (sequence_ = moved(*sequence_)) == no_episode)
        sequence_.reset();
    midst_.clear();
    all.erase(from, to);
}

const Walk::Sent* Walk::copies_of(wire::Psn psn) const {
    if (const auto found = sent_.find(psn.value()); found != sent_.end())
        return &found->second;
    if (!left_)
        return nullptr;
    const auto found = left_->sent.find(psn.value());
    return found == left_->sent.end() ? nullptr : &found->second;
}

// Decides what only the later packets show.
void Walk::settle(Episode& episode) const {
    // The first packets do not show how their sender uses identifications.
    episode.is_same_packet |= ids_.are_one(*episode.first, *episode.again);
    if (episode.is_same_packet)
        episode.why = Why::Doubled;
    // Of a missing packet, `first` is the packet behind it. It was overtaken if it came later, even after
    // its retransmission.
    const auto was_overtaken = [&](const Seen* missing) {
        return missing != nullptr && ids_.was_sent_before(*missing, *episode.first);
    };
    if (episode.why == Why::LostBefore && episode.first->psn != episode.again->psn &&
        (was_overtaken(episode.again) || was_overtaken(episode.next_copy)))
        episode.why = Why::Reordered;
    if (episode.why == Why::Doubled && episode.packets > 1 && !episode.is_same_packet)
        episode.why = Why::Early;
    if (episode.why != Why::Unanswered)
        return;
    const Sent* known = copies_of(episode.again->psn);
    if (known == nullptr || known->answer == nullptr)
        return;
    episode.answer = known->answer;
    const auto was_late = was_first_copy_answered(episode);
    if (!was_late)
        return;
    // Every copy that arrives is acknowledged, if a response is due: otherwise, the requester waited
    // for the response to a later request.
    episode.why = *was_late ? Why::AnswerLate : episode.was_due ? Why::LostBehind : Why::LostBefore;
}

// Both copies of each request that asks for an ACK explain two of them. More are of copies that do not ask.
void Walk::learn_acknowledgements() {
    acknowledges_each_copy_ |= std::ranges::any_of(course_.episodes, [](const Episode& episode) {
        return episode.why == Why::Unanswered && !episode.shares_answers &&
               episode.answers > 2 * episode.asking;
    });
}

// nullopt: unknown. Some responders acknowledge each packet of a retransmission, others those that ask
// for it, and others several with one ACK.
std::optional<bool> Walk::was_first_copy_answered(const Episode& episode) const {
    const bool has_fewer_acks = acks_ * 10 < asked_ * 9;
    if (has_fewer_acks)
        return episode.has_second_answer;
    if (episode.answers > episode.packets)
        return true;
    if (episode.answers <= episode.asking || acknowledges_each_copy_)
        return false;
    return std::nullopt;
}

Course Walk::finish(const Direction& direction, const Passages* passages) {
    course_.are_copies_answered = asked_again_ > 0 && acks_ >= asked_ + (asked_again_ + 1) / 2;
    learn_acknowledgements();
    for (Episode& episode : course_.episodes)
        settle(episode);
    find_late_doubles();
    for (Episode& episode : course_.episodes)
        know(episode, direction, passages);
    find_silence(direction);
    return std::move(course_);
}

// On a path that duplicates packets, a second copy may also be delayed; so may a second packet of a
// requester whose timer runs already when it sends the first one. A requester that retransmits goes
// back: it sends the requests after the first one again, too.
void Walk::find_late_doubles() {
    constexpr std::ptrdiff_t least = 3;
    const auto is_single = [](const Episode& episode) {
        const bool was_asked_for =
            episode.answer != nullptr && episode.answer->is_kind(AethKind::Nak);
        return (episode.why == Why::AnswerLost || episode.why == Why::AnswerLate ||
                episode.why == Why::LostBehind) &&
               episode.packets == 1 && !was_asked_for && episode.cost_ns < overtaken_ns;
    };
    const auto is_soon = [](const Episode& episode) {
        return episode.why == Why::Doubled || (episode.why == Why::Early && episode.packets == 1);
    };
    const auto soon = std::ranges::count_if(course_.episodes, is_soon);
    const auto singles = std::ranges::count_if(course_.episodes, is_single);
    if (soon < least || soon < singles)
        return;
    for (Episode& episode : course_.episodes)
        if (is_single(episode))
            episode.why = flow::PacketIds::are_two(*episode.first, *episode.again) ? Why::Early
                                                                                   : Why::Doubled;
}

void Walk::find_silence(const Direction& direction) {
    if (!direction.is_reliable() || last_ == nullptr)
        return;
    const auto since = course_.last_answer == nullptr ? 0 : course_.last_answer->frame;
    std::unordered_map<std::uint32_t, std::vector<const Seen*>> copies;
    for (const Seen* request : direction.requests)
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

std::size_t Course::count(Why why) const {
    return count(why, std::numeric_limits<std::int64_t>::min());
}

// A forgotten one counts with the mean cost of its kind.
std::size_t Course::count(Why why, std::int64_t least_ns) const {
    const Forgotten& more = forgotten[static_cast<std::size_t>(why)];
    const auto known = std::ranges::count_if(episodes, [&](const Episode& episode) {
        return episode.why == why && episode.cost_ns >= least_ns;
    });
    const bool is_counted =
        more.count != 0 && more.cost_ns / static_cast<std::int64_t>(more.count) >= least_ns;
    return static_cast<std::size_t>(known) + (is_counted ? more.count : 0);
}

const Episode* Course::first(Why why) const {
    const auto found = std::ranges::find(episodes, why, &Episode::why);
    return found == episodes.end() ? nullptr : &*found;
}

std::int64_t Course::cost_of(Why why) const {
    std::int64_t sum = forgotten[static_cast<std::size_t>(why)].cost_ns;
    for (const Episode& episode : episodes)
        sum += episode.why == why ? episode.cost_ns : 0;
    return sum;
}

}  // namespace explain
