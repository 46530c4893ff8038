// What the path did to packets.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

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
        const std::size_t missing = count_losses(Why::LostBefore);
        const bool is_disorder = overtaken > 0 && missing <= overtaken;
        const std::size_t lost = is_disorder ? 0 : missing + count_losses(Why::LostBehind);
        const std::size_t data = count_losses(Why::DataLost);
        const std::size_t answers = lost_answers();
        if (overtaken == 0 && !has(Code::AcksLost) && !has(Code::LargePacketsLost))
            is_late_ = explain_short_timeout(case_, answers + data, lost + continued_reads(),
                                             has_given_up(), causes_);
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
        if (Cause* cause = wrong(Code::WrongIcrc, Certainty::Likely, explained,
                                 "right " + hints_of(explained)))
            cause->try_this = advice_for(explained);
        wrong(Code::Corruption, Certainty::Certain, corrupted,
              "something on the path changed them, and their receiver drops them");
    }

    std::string hints_of(const Damaged& explained) const {
        std::set<std::string> causes;
        for (const auto& [hint, is_request] : explained.hints)
            causes.insert(cause_of(*hint, is_request));
        return fmt::format("{}", fmt::join(causes, "; or "));
    }

    std::string cause_of(const wire::IcrcHint& hint, bool is_request) const {
        if (!is_of_address(hint))
            return std::string(hint.cause());
        return fmt::format(
            "with {} address {} instead of {}: a device on the path may have rewritten it (NAT)",
            hint.kind == wire::IcrcHint::Kind::SourceAddress ? "source" : "destination",
            wire::text(hint.address), address_instead(hint, is_request));
    }

    static bool is_of_address(const wire::IcrcHint& hint) {
        return hint.kind == wire::IcrcHint::Kind::SourceAddress ||
               hint.kind == wire::IcrcHint::Kind::DestinationAddress;
    }

    // The one that the packet has.
    std::string address_instead(const wire::IcrcHint& hint, bool is_request) const {
        const flow::StreamKey& key = direction_.stream->key;
        const bool is_source = hint.kind == wire::IcrcHint::Kind::SourceAddress;
        return flow::text(is_source == is_request ? key.src : key.dst, key.network);
    }

    // Empty: that of the code.
    std::string advice_for(const Damaged& explained) const {
        std::set<std::string> pairs;
        for (const auto& [hint, is_request] : explained.hints)
            if (is_of_address(*hint))
                pairs.insert(fmt::format("{} and {}", wire::text(hint->address),
                                         address_instead(*hint, is_request)));
        if (pairs.empty())
            return {};
        return fmt::format(
            "Exempt UDP port 4791 from the translation between {} (NAT), or connect "
            "the hosts by addresses that need none.",
            *pairs.begin());
    }

    // Returns nullptr if there is no such packet.
    Cause* wrong(Code code, Certainty certainty, const Damaged& packets, std::string_view how) {
        if (packets.count == 0)
            return nullptr;
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
        return &cause;
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
        // Somebody misses one of a hundred packets or messages. Each missing packet breaks a message.
        constexpr std::uint64_t share = 100;
        cause.is_fatal = (course_.gaps - course_.filled) * share >= course_.requests ||
                         course_.broken * share >= course_.ends + course_.broken;
        for (const auto& [before, behind] : course_.jumps) {
            cause.add(evidence(*before));
            cause.add(evidence(*behind));
        }
    }

    // If the timeout is unknown, one retransmission is not sufficient evidence.
    std::size_t lost_answers() const {
        const std::size_t count = timed_out(case_, Why::AnswerLost);
        return ack_timeout_of(direction_) || count > 1 ? count : 0;
    }

    // A timer that started before the request was sent, as in Soft-RoCE, may expire early: a copy long
    // before the timeout does not show that the first one was lost.
    bool shows_loss(const Episode& episode) const {
        const std::int64_t least = (ack_timeout_of(direction_).value_or(0) + 1) / 2;
        switch (episode.why) {
            case Why::LostBefore:  // a request behind it may be the one that was lost
                return episode.first->psn != episode.again->psn || episode.cost_ns >= least;
            case Why::LostBehind:
                return episode.cost_ns >= least || episode.answer->frame < episode.again->frame;
            case Why::DataLost:
                return (episode.cost_ns >= least || episode.first->psn != episode.again->psn) &&
                       !(case_.is_captured_at_requester() && has_data(episode));
            default:
                return false;
        }
    }

    // Whether the capture has the response that the request asks for again.
    bool has_data(const Episode& episode) const {
        const auto& all = direction_.responses;
        const auto from = std::ranges::upper_bound(all, episode.first->frame, {}, &Seen::frame);
        const auto to = std::ranges::lower_bound(all, episode.again->frame, {}, &Seen::frame);
        return std::any_of(from, to, [&](const Seen* one) {
            return one->psn == episode.again->psn && one->is_data();
        });
    }

    std::size_t count_losses(Why why) const {
        const auto known = std::ranges::count_if(course_.episodes, [&](const Episode& episode) {
            return episode.why == why && shows_loss(episode);
        });
        return static_cast<std::size_t>(known) +
               course_.forgotten[static_cast<std::size_t>(why)].count;
    }

    // READs requested again from a packet in the middle of their response: the packets before it
    // had reached the requester, and this one had not.
    std::size_t continued_reads() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(course_.episodes, [](const Episode& episode) {
                return episode.why == Why::DataLost && episode.first->psn != episode.again->psn;
            }));
    }

    void loss(std::size_t count) {
        const std::int64_t cost = course_.cost_of(Why::LostBefore) +
                                  course_.cost_of(Why::LostBehind) + course_.cost_of(Why::DataLost);
        // The path delivered all packets that the capture at the responder has.
        const bool is_host =
            case_.is_captured_at_responder() && count_losses(Why::LostBehind) == count;
        Cause& cause =
            is_host ? add(Code::Loss, Certainty::Possible,
                          fmt::format("{} retransmitted{}, although the first copy had arrived at "
                                      "the responder's host: it dropped it, or it was late to "
                                      "process it.",
                                      packets(course_.repeats, "was", "were"),
                                      pattern_of(course_.spacing)),
                          cost)
                    : add(Code::Loss, Certainty::Likely,
                          fmt::format("packets were lost {}{}, and {} retransmitted.", times(count),
                                      pattern_of(course_.spacing),
                                      packets(course_.repeats, "was", "were")),
                          cost);
        if (is_host)
            cause.try_this =
                "Look at the responder's host for packets that it drops (ethtool -S, "
                "nstat: UdpRcvbufErrors) and for a busy CPU.";
        cause.is_fatal = has_given_up();
        for (const Why why : {Why::LostBefore, Why::LostBehind, Why::DataLost}) {
            const auto found = std::ranges::find_if(course_.episodes, [&](const Episode& episode) {
                return episode.why == why && shows_loss(episode);
            });
            if (found == course_.episodes.end())
                continue;
            add_episode(case_, cause, *found);
            break;
        }
    }

    void answers_lost(std::size_t count) {
        const bool is_host = case_.is_captured_at_requester();
        Cause& cause =
            is_host ? add(Code::TimeoutTooShort, Certainty::Possible,
                          fmt::format("requests were retransmitted {} although their responses had "
                                      "arrived at the requester's host: it was late to process "
                                      "them.",
                                      times(count)),
                          course_.cost_of(Why::AnswerLost))
                    : add(Code::AcksLost, Certainty::Likely,
                          fmt::format("requests were retransmitted {} although the capture has "
                                      "their responses: the responses were lost or late after they "
                                      "were captured.",
                                      times(count)),
                          course_.cost_of(Why::AnswerLost));
        if (is_host)
            cause.try_this = "Look for a busy CPU at the requester, or use a longer ACK timeout.";
        add_episode(case_, cause, *course_.first(Why::AnswerLost));
    }

    void reordering(std::size_t count) {
        Cause& cause = add(Code::Reordering, Certainty::Likely,
                           fmt::format("packets arrived out of order {}.", times(count)),
                           course_.cost_of(Why::Reordered));
        const Episode* episode = course_.first(Why::Reordered);
        add_episode(case_, cause, episode != nullptr ? *episode : course_.episodes.front());
    }

    // Soft-RoCE's timer is not started again by each request, and may expire just after one was sent.
    // Then the copies have at least the distance of the timeout.
    bool may_be_a_running_timer() const {
        constexpr std::int64_t usual_ns = 67'108'864;  // timeout 14
        const std::int64_t timeout = ack_timeout_of(direction_).value_or(usual_ns);
        const Episode* last = nullptr;
        for (const Episode& one : course_.episodes) {
            if (one.why != Why::Doubled)
                continue;
            if (one.is_same_packet)
                return false;
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
        const Episode* same = course_.first(Why::Doubled);
        Cause& cause = add(
            Code::NeedlessRetransmissions, Certainty::Likely,
            fmt::format("{} arrived a second time, {}: something on the path duplicates "
                        "packets, or the capture records them twice.",
                        counted(count, "request packet"),
                        same->is_same_packet ? "with the same IP identification as the first time"
                                             : fmt::format("so soon that no timer can have sent {}",
                                                           count == 1 ? "it" : "them")),
            0);
        add_episode(case_, cause, *same);
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
