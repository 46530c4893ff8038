// What the path did to packets.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

void add_episode(Cause& cause, const Episode& episode) {
    if (episode.first != nullptr)
        cause.add(evidence(*episode.first));
    if (episode.answer != nullptr)
        cause.add(evidence(*episode.answer));
    Evidence again = evidence(*episode.again);
    again.text += "  (again)";
    cause.add(again);
}

// Returns "every 100th packet" if the distances are similar, otherwise nothing.
std::string pattern_of(const Course::Spacing& spacing) {
    if (spacing.episodes < 4)
        return {};
    if (spacing.least > 4 &&
        spacing.most - spacing.least <= std::max<std::uint64_t>(2, spacing.most / 10))
        return fmt::format(", about every {} packets", (spacing.least + spacing.most) / 2);
    return ", at irregular distances";
}

class Recovery {
  public:
    Recovery(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), course_(one.course), causes_(causes) {}

    void explain() {
        damage();
        if (direction_.is_datagram())
            return;
        if (!direction_.is_reliable()) {
            unreliable();
            return;
        }
        // A responder also asks for overtaken packets: their retransmission is no loss.
        const std::size_t overtaken = course_.count(Why::Reordered);
        const std::size_t missing = course_.count(Why::LostBefore);
        const bool is_disorder = overtaken > 0 && missing <= overtaken;
        const std::size_t lost = is_disorder ? 0 : missing + course_.count(Why::LostBehind);
        const std::size_t data = course_.count(Why::DataLost);
        const std::size_t answers = lost_answers();
        if (overtaken == 0 && !has(Code::AcksLost) && !has(Code::LargePacketsLost))
            late(answers + data, lost + continued_reads());
        if (!is_late_ && lost + data > 0 && !is_damaged_ && !has(Code::PeerNotReady) &&
            !has(Code::WrongPsn) && !has(Code::LargePacketsLost))
            loss(lost + data);
        if (!is_late_ && !is_disorder && answers > 0 && !has(Code::WrongQpn) &&
            !has(Code::AcksLost))
            answers_lost(answers);
        if (overtaken > 0)
            reordering(overtaken);
        doubled();
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text, std::int64_t cost) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.cost_ns = cost;
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    bool has(Code code) const {
        return std::ranges::any_of(causes_, [&](const Cause& one) {
            return one.code == code && one.where == direction_.where();
        });
    }

    bool has_given_up() const {
        return case_.error("RETRY_EXC_ERR") != nullptr || course_.silent_copies.size() > 2;
    }

    void damage() {
        const Course::Damage& damage = course_.damage;
        Damaged corrupted = damage.unexplained, explained = damage.other;
        // A source port that fits few of many is a coincidence.
        (damage.port.count > corrupted.count ? explained : corrupted).add(damage.port);
        is_damaged_ = corrupted.count + explained.count != 0;
        // A mirror may rewrite the port of all packets, which are right for their receiver.
        explained.add(damage.trusted);
        wrong(Code::WrongIcrc, Certainty::Likely, explained, "right " + hints_of(explained));
        wrong(Code::Corruption, Certainty::Certain, corrupted,
              "something on the path changed them, and their receiver drops them");
    }

    static std::string hints_of(const Damaged& explained) {
        std::set<std::string_view> causes;
        for (const wire::IcrcHint* hint : explained.hints)
            causes.insert(hint->cause());
        std::string text;
        for (const std::string_view cause : causes)
            text += fmt::format("{}{}", text.empty() ? "" : "; or ", cause);
        return text;
    }

    void wrong(Code code, Certainty certainty, const Damaged& packets, std::string_view how) {
        if (packets.count == 0)
            return;
        const Course::Damage& damage = course_.damage;
        Cause& cause =
            add(code, certainty,
                fmt::format("{} of {} packets have a wrong ICRC: {}.", packets.count,
                            damage.unexplained.count + damage.port.count + damage.other.count +
                                course_.requests + course_.responses,
                            how),
                course_.cost_of(Why::Damaged) + course_.cost_of(Why::LostBefore));
        cause.is_fatal = has_given_up();
        for (const Seen* one : packets.first)
            cause.add(evidence(*one));
    }

    void unreliable() {
        if (course_.gaps == 0)
            return;
        // Nothing is retransmitted: a packet that arrives after its gap was overtaken.
        if (course_.filled >= course_.gaps) {
            reordering(course_.filled);
            return;
        }
        Cause& cause = add(Code::Loss, Certainty::Certain,
                           packets(course_.gaps - course_.filled, "is", "are") +
                               " missing: the transport does not retransmit packets.",
                           0);
        constexpr std::uint64_t share = 100;  // of the packets: somebody misses them
        cause.is_fatal = (course_.gaps - course_.filled) * share >= course_.requests;
        for (const auto& [before, behind] : course_.jumps) {
            cause.add(evidence(*before));
            cause.add(evidence(*behind));
        }
    }

    // Counts the retransmissions that a timer can have caused. A timer that started before the
    // request was sent, as in Soft-RoCE, may expire early: a retransmission long before the timeout
    // shows neither a loss nor a delay.
    std::size_t timed_out(Why why) const {
        const auto timeout = timeout_ns();
        return timeout ? course_.count(why, (*timeout + 1) / 2) : course_.count(why);
    }

    // If the timeout is unknown, one retransmission is not sufficient evidence.
    std::size_t lost_answers() const {
        const std::size_t count = timed_out(Why::AnswerLost);
        return timeout_ns() || count > 1 ? count : 0;
    }

    // READs requested again from a packet in the middle of their response: the packets before it
    // had reached the requester, and this one had not.
    std::size_t continued_reads() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(course_.episodes, [](const Episode& episode) {
                return episode.why == Why::DataLost && episode.first->psn != episode.again->psn;
            }));
    }

    // Compares the ACK timeout with the response time.
    void late(std::size_t answered, std::size_t lost) {
        const std::size_t late = timed_out(Why::AnswerLate);
        const auto timeout = timeout_ns();
        const bool is_each = answered >= 3 && case_.error("RETRY_EXC_ERR") == nullptr &&
                             answered * 5 >= course_.asked * 4 && lost == 0;
        const bool has_failed = case_.error("RETRY_EXC_ERR") != nullptr;
        const bool is_slow = timeout && course_.answered >= 3 && course_.are_copies_answered &&
                             course_.fastest_ns > *timeout;
        if (late < (has_failed ? 1U : 2U) && !is_each && !is_slow)
            return;
        if (late < answered && !is_each && !is_slow)
            return;
        is_late_ = true;
        const bool is_certain = is_slow || (late >= 2 && lost == 0);
        Cause& cause = add(
            Code::TimeoutTooShort, is_certain ? Certainty::Certain : Certainty::Likely,
            is_slow ? fmt::format("each request was retransmitted before its response arrived: the "
                                  "fastest response took {}, and the ACK timeout is {}.",
                                  milliseconds(course_.fastest_ns), milliseconds(*timeout))
                    : fmt::format("{} requests were retransmitted although both copies arrived: "
                                  "the ACK timeout is shorter than the time until the response "
                                  "arrives.",
                                  late + answered),
            course_.cost_of(Why::AnswerLate));
        cause.is_fatal = has_given_up();
        const Episode* example = course_.first(Why::AnswerLate);
        if (example == nullptr)
            example = course_.first(Why::AnswerLost);
        if (example == nullptr)
            example = course_.first(Why::DataLost);
        if (example == nullptr && !course_.episodes.empty())
            example = &course_.episodes.front();
        if (example != nullptr)
            add_episode(cause, *example);
        if (timeout && course_.fastest_ns > 0)
            cause.try_this = fmt::format(
                "Use a longer ACK timeout than {} (attribute timeout: 4.096 us * 2^n): {} is the "
                "first n that leaves twice the time of the fastest response, {}.",
                milliseconds(*timeout), least_timeout(2 * course_.fastest_ns),
                milliseconds(course_.fastest_ns));
        if (timeout && direction_.requester != nullptr && direction_.requester->timeout)
            cause.add(value(direction_.requester->role,
                            fmt::format("timeout {} ({})", *direction_.requester->timeout,
                                        milliseconds(*timeout))));
    }

    // The smallest attribute whose time is longer.
    static unsigned least_timeout(std::int64_t ns) {
        constexpr unsigned most = 31;
        unsigned n = 1;
        while (n < most && (std::int64_t{4096} << n) <= ns)
            ++n;
        return n;
    }

    // From the requester's log, or from the connection manager's messages.
    std::optional<std::int64_t> timeout_ns() const {
        const LoggedQueuePair* requester = direction_.requester;
        if (requester != nullptr && requester->ack_timeout_ns())
            return requester->ack_timeout_ns();
        return direction_.stream == nullptr ? std::nullopt
                                            : direction_.stream->facts.retry.ack_timeout_ns;
    }

    void loss(std::size_t count) {
        const std::int64_t cost = course_.cost_of(Why::LostBefore) +
                                  course_.cost_of(Why::LostBehind) + course_.cost_of(Why::DataLost);
        Cause& cause =
            add(Code::Loss, Certainty::Likely,
                fmt::format("packets were lost {}{}, and {} retransmitted.", times(count),
                            pattern_of(course_.spacing), packets(course_.repeats, "was", "were")),
                cost);
        cause.is_fatal = has_given_up();
        for (const Why why : {Why::LostBefore, Why::LostBehind, Why::DataLost})
            if (const Episode* episode = course_.first(why)) {
                add_episode(cause, *episode);
                break;
            }
    }

    void answers_lost(std::size_t count) {
        Cause& cause =
            add(Code::AcksLost, Certainty::Likely,
                fmt::format("requests were retransmitted {} although the capture has their "
                            "responses: the responses were lost or late after they were captured.",
                            times(count)),
                course_.cost_of(Why::AnswerLost));
        add_episode(cause, *course_.first(Why::AnswerLost));
    }

    void reordering(std::size_t count) {
        Cause& cause = add(Code::Reordering, Certainty::Likely,
                           fmt::format("packets arrived out of order {}.", times(count)),
                           course_.cost_of(Why::Reordered));
        const Episode* episode = course_.first(Why::Reordered);
        add_episode(cause, episode != nullptr ? *episode : course_.episodes.front());
    }

    // Soft-RoCE's timer is not started again by each request, and may expire just after one was sent.
    // Then the copies have at least the distance of the timeout.
    bool may_be_a_running_timer() const {
        constexpr std::int64_t usual_ns = 67'108'864;  // timeout 14
        const std::int64_t timeout = timeout_ns().value_or(usual_ns);
        const Episode* last = nullptr;
        for (const Episode& one : course_.episodes) {
            if (one.why != Why::Doubled)
                continue;
            if (last != nullptr && one.again->t_ns - last->again->t_ns < timeout - timeout / 8)
                return false;
            last = &one;
        }
        return direction_.is_reliable();
    }

    void doubled() {
        const std::size_t count = course_.count(Why::Doubled);
        if (count == 0 || may_be_a_running_timer())
            return;
        Cause& cause = add(Code::NeedlessRetransmissions, Certainty::Likely,
                           fmt::format("{} request packets arrived a second time, so soon that no "
                                       "timer can have sent them: something on the path duplicates "
                                       "packets, or the capture records them twice.",
                                       count),
                           0);
        add_episode(cause, *course_.first(Why::Doubled));
    }

    const Case& case_;
    const Direction& direction_;
    const Course& course_;
    Causes& causes_;
    bool is_late_ = false;
    bool is_damaged_ = false;
};

}  // namespace

void explain_recovery(const Case& one, Causes& causes) {
    Recovery(one, causes).explain();
}

}  // namespace explain
