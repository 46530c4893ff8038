// What a capture at both ends shows of the path between them.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

constexpr std::string_view where_to_look =
    "Look for drops between the two captures: switch counters, PFC, and the interfaces' own "
    "(ethtool -S).";

class BothEnds {
  public:
    BothEnds(const Case& one, Causes& causes)
        : case_(one),
          direction_(one.direction),
          course_(one.course),
          causes_(causes),
          requests_(one.whole.passages->requests_of(one.direction.stream->number)),
          responses_(one.whole.passages->responses_of(
              one.direction.back == nullptr ? 0 : one.direction.back->number)) {}

    void explain() {
        if (direction_.is_reliable()) {
            losses();
            never_sent_again();
            dropped_by_host();
        } else {
            unreliable();
        }
        changed(requests_);
        changed(responses_);
        doubled();
    }

    // The requester gave up or repeats a request until the end, and the path lost all copies of it.
    bool explain_end() {
        constexpr std::size_t least = 3;
        const auto& copies = course_.silent_copies;
        if (copies.size() < (case_.error("RETRY_EXC_ERR") == nullptr ? least : 1))
            return false;
        const auto fate_of = [&](const Seen* one) {
            return case_.whole.passages->fate_of(one->frame);
        };
        // Nothing may follow the last copy in the capture at the other end.
        const bool are_lost = std::ranges::all_of(copies, [&](const Seen* copy) {
            return fate_of(copy) == Passage::Fate::Lost ||
                   (copy == copies.back() && fate_of(copy) == Passage::Fate::Unknown);
        });
        if (are_lost && fate_of(copies.front()) == Passage::Fate::Lost) {
            add_end(Code::PathBroken,
                    fmt::format("{} sent a request {}, and none of the copies arrived at {}.",
                                direction_.from, times(copies.size()), direction_.to));
            return true;
        }
        if (!has_lost_all_that_ask())
            return false;
        const Seen* answer = course_.last_answer;
        add_end(Code::Loss,
                fmt::format("{}no last packet of a message arrived at {}, and the "
                            "others ask for no response.",
                            answer == nullptr ? std::string()
                                              : fmt::format("after frame {}, ", answer->frame),
                            direction_.to));
        return true;
    }

  private:
    // Since the last response. The newest have not arrived yet; the responder had nothing to respond to.
    bool has_lost_all_that_ask() const {
        const std::uint64_t since = course_.last_answer == nullptr ? 0 : course_.last_answer->frame;
        bool has_lost = false;
        for (const Seen* request : direction_.requests) {
            const bool asks = request->requires_response() || request->opcode->ends_message();
            if (request->frame < since || !asks)
                continue;
            const Passage::Fate fate = case_.whole.passages->fate_of(request->frame);
            if (fate != Passage::Fate::Lost && fate != Passage::Fate::Unknown)
                return false;
            has_lost |= fate == Passage::Fate::Lost;
        }
        return has_lost;
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        causes_.push_back(case_.cause(code, certainty, std::move(text)));
        return causes_.back();
    }

    void add_end(Code code, std::string text) {
        Cause cause = silent_cause(case_, code, Certainty::Certain, std::move(text));
        cause.try_this = where_to_look;
        causes_.push_back(std::move(cause));
    }

    void add_frame(Cause& cause, std::uint64_t frame, std::string_view what) const {
        if (auto seen = case_.whole.traffic.evidence_of(frame)) {
            seen->text += what;
            cause.add(*std::move(seen));
        }
    }

    // "3 packets were lost between the client and the server, 1 of them a response".
    std::string lost_text() const {
        const std::size_t responses = responses_.lost.size();
        const std::size_t all = requests_.lost.size() + responses;
        std::string text = fmt::format("{} lost between {} and {}", packets(all, "was", "were"),
                                       spoken(direction_.from), spoken(direction_.to));
        if (responses == all)
            text += all == 1 ? ": a response" : ", all of them responses";
        else if (responses != 0)
            text += fmt::format(", {} of them {}", responses,
                                responses == 1 ? "a response" : "responses");
        return text;
    }

    // None of them is the reason of an end: see explain_end().
    void losses() {
        const auto is_lost = [](const Episode& one) { return one.lost != 0; };
        const auto first = std::ranges::find_if(course_.episodes, is_lost);
        if (first == course_.episodes.end())
            return;
        Cause& cause = add(Code::Loss, Certainty::Certain,
                           fmt::format("{}, and {} retransmitted.", lost_text(),
                                       packets(course_.repeats, "was", "were")));
        for (const Episode& one : course_.episodes)
            cause.cost_ns += is_lost(one) ? one.cost_ns : 0;
        cause.try_this = where_to_look;
        add_frame(cause, first->lost, "  (did not arrive)");
        if (first->lost != first->first->frame)
            cause.add(evidence(*first->first));
        add_retransmission(case_, cause, *first);
    }

    // The last lost request: its requester gave up at once, or waits without limit.
    void never_sent_again() {
        if (requests_.lost.empty() || case_.is_end_explained(causes_))
            return;
        const std::uint64_t frame = requests_.lost.back();
        const auto lost = std::ranges::find(direction_.requests, frame, &Seen::frame);
        if (lost == direction_.requests.end() ||
            std::any_of(lost, direction_.requests.end(),
                        [&](const Seen* one) {
                            return one != *lost && !one->psn.is_after((*lost)->psn);
                        }) ||
            std::ranges::any_of(direction_.responses, [&](const Seen* one) {
                return one->frame > frame && one->acknowledges((*lost)->psn);
            }))
            return;
        Cause& cause = add(Code::Loss, Certainty::Certain,
                           fmt::format("PSN {:#08x} did not arrive at {}, and was not sent again "
                                       "until the end of the capture.",
                                       (*lost)->psn, spoken(direction_.to)));
        cause.is_fatal = true;
        cause.try_this = where_to_look;
        add_frame(cause, frame, "  (did not arrive)");
    }

    // The requests arrived in order, and the responder asked for them again or answered only the second
    // copy.
    void dropped_by_host() {
        const auto is_dropped = [](const Episode& one) {
            return one.is_known && one.why == Why::LostBehind && one.lost == 0;
        };
        const auto first = std::ranges::find_if(course_.episodes, is_dropped);
        // Where responses were late more often, so were these.
        if (first == course_.episodes.end() ||
            course_.count(Why::AnswerLate) > course_.count(Why::LostBehind))
            return;
        std::int64_t cost = 0;
        for (const Episode& one : course_.episodes)
            cost += is_dropped(one) ? one.cost_ns : 0;
        causes_.push_back(explain::dropped_by_host(case_, &*first, cost));
    }

    void unreliable() {
        // Somebody misses one of a hundred packets.
        constexpr std::uint64_t share = 100;
        if (const std::size_t lost = requests_.lost.size(); lost != 0) {
            Cause& cause =
                add(Code::Loss, Certainty::Certain,
                    fmt::format("{}, of {} in all: the transport does not retransmit packets.",
                                lost_text(), course_.requests));
            cause.is_fatal = !direction_.is_datagram() && lost * share >= course_.requests;
            cause.try_this = where_to_look;
            add_frame(cause, requests_.lost.front(), "  (did not arrive)");
        }
        if (const std::size_t overtaken = requests_.overtaken.size(); overtaken != 0)
            add_frame(
                add(Code::Reordering, Certainty::Certain,
                    fmt::format("{} overtaken on the way.", packets(overtaken, "was", "were"))),
                requests_.overtaken.front(), "  (arrived after a later one)");
    }

    void changed(const Passages::Fates& stream) {
        if (stream.changed.empty())
            return;
        Cause& cause = add(Code::Corruption, Certainty::Certain,
                           fmt::format("{} changed between {} and {}, with a right ICRC: the "
                                       "receiver cannot notice it.",
                                       packets(stream.changed.size(), "was", "were"),
                                       spoken(direction_.from), spoken(direction_.to)));
        add_frame(cause, stream.changed.front(), "  (arrived as another packet)");
        cause.try_this = "Look for a device on the path that rewrites packets.";
    }

    void doubled() {
        if (requests_.doubled.empty())
            return;
        Cause& cause =
            add(Code::NeedlessRetransmissions, Certainty::Certain,
                fmt::format("{} once, and arrived more often: something on the path duplicates "
                            "packets.",
                            packets(requests_.doubled.size(), "was sent", "were sent")));
        add_frame(cause, requests_.doubled.front(), "  (arrived twice)");
        cause.try_this = "Find the device on the path that duplicates packets.";
    }

    const Case& case_;
    const Direction& direction_;
    const Course& course_;
    Causes& causes_;
    const Passages::Fates& requests_;
    const Passages::Fates& responses_;
};

bool has_both_ends(const Case& one) {
    return one.whole.passages != nullptr && one.direction.stream != nullptr;
}

}  // namespace

void explain_both_ends(const Case& one, Causes& causes) {
    if (has_both_ends(one))
        BothEnds(one, causes).explain();
}

bool explain_end_at_both_ends(const Case& one, Causes& causes) {
    return has_both_ends(one) && BothEnds(one, causes).explain_end();
}

}  // namespace explain
