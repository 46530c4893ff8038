// Requests that have no response.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using wire::AethKind;

class Silence {
  public:
    Silence(const Case& one, Causes& causes)
        : case_(one),
          direction_(one.direction),
          causes_(causes),
          error_(one.error("RETRY_EXC_ERR")) {
        if (error_ != nullptr)
            post_ = error_->post ? &*error_->post : nullptr;
    }

    void explain() {
        if (!direction_.is_reliable() || was_refused())
            return;
        const bool repeats = case_.course.silent_copies.size() >= least_copies;
        if (error_ == nullptr && !repeats && !gave_up_over_answers())
            return;
        if (is_known_beforehand())
            return;  // explain_set_up() has it
        if (only_ends_arrive())
            large_packets_lost();
        else if (gave_up_over_answers())
            answers_lost();
        else if (direction_.stream == nullptr || (error_ != nullptr && !failing_arrived()))
            nothing_arrived();
        else if (case_.course.silent != nullptr)
            nothing_came_back();
    }

  private:
    static constexpr std::size_t least_copies = 3;

    bool was_refused() const {
        return std::ranges::any_of(direction_.responses, [](const Seen* one) {
            return one->is_kind(AethKind::Nak) && one->aeth.code() != 0;
        });
    }

    // Another rule names the fault by the set-up of both ends.
    bool is_known_beforehand() const {
        return std::ranges::any_of(causes_, [this](const Cause& cause) {
            return cause.where == direction_.where() && cause.is_fatal &&
                   cause.certainty != Certainty::Possible;
        });
    }

    bool has_responder_log() const {
        return !direction_.responder_role.empty() &&
               case_.whole.logs.is_whole(direction_.responder_role);
    }

    // No new request came, and copies of an old one came after it had been acknowledged.
    bool gave_up_over_answers() const {
        constexpr std::size_t most_retries = 7;  // retry_cnt has three bits
        const Seen* newest = case_.course.newest;
        if (newest == nullptr)
            return false;
        const auto answer = std::ranges::find_if(direction_.responses, [&](const Seen* one) {
            return one->frame > newest->frame && !one->is_kind(AethKind::Nak) &&
                   !one->is_kind(AethKind::RnrNak) && distance(newest->psn, one->psn) >= 0;
        });
        if (answer == direction_.responses.end())
            return false;
        const auto copies = std::ranges::count_if(direction_.requests, [&](const Seen* request) {
            return request->frame > (*answer)->frame && request->psn == newest->psn;
        });
        return static_cast<std::size_t>(copies) >=
               (error_ != nullptr ? least_copies - 1 : most_retries);
    }

    // All attempts together are over before a slow path or peer responds.
    bool is_impatient() const {
        const LoggedQueuePair* requester = direction_.requester;
        constexpr std::int64_t unit_ns = 4096;
        constexpr std::int64_t patience_ns = 50'000'000;
        if (requester == nullptr || !requester->timeout || *requester->timeout == 0 ||
            *requester->timeout > 31 || !requester->retry_cnt)
            return false;
        const std::int64_t one = unit_ns << *requester->timeout;
        return one * static_cast<std::int64_t>(*requester->retry_cnt + 1) < patience_ns;
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.is_fatal = true;
        if (post_ != nullptr)
            cause.add(evidence(*direction_.requester, *post_));
        if (case_.course.silent != nullptr) {
            cause.add(evidence(*case_.course.silent));
            if (case_.course.silent_copies.size() > 1) {
                Evidence last = evidence(*case_.course.silent_copies.back());
                last.text += fmt::format("  (copy {})", case_.course.silent_copies.size());
                cause.add(last);
            }
        }
        if (error_ != nullptr)
            cause.add(evidence(*direction_.requester, *error_));
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    void answers_lost() {
        const Seen& request = *case_.course.newest;
        const auto last = std::ranges::find(direction_.requests.rbegin(),
                                            direction_.requests.rend(), request.psn, &Seen::psn);
        Cause& cause = add(
            Code::AcksLost, Certainty::Likely,
            "the responder acknowledged each copy of a request, and the requester sent it again "
            "until it gave up: the responses do not reach it.");
        cause.add(evidence(request));
        cause.add(evidence(*case_.course.last_answer));
        cause.add(evidence(**last));
        cause.is_fatal = true;
    }

    // Of a message the last packet alone, which is the only one that may be short.
    bool only_ends_arrive() const {
        const Seen* silent = case_.course.silent;
        return silent != nullptr && silent->opcode->is_last() &&
               case_.course.silent_copies.size() >= least_copies &&
               std::ranges::none_of(direction_.requests,
                                    [&](const Seen* one) { return one->psn == silent->psn - 1; });
    }

    void large_packets_lost() {
        Cause& cause =
            add(Code::LargePacketsLost, Certainty::Likely,
                fmt::format("of a message only the last packet arrives, which has {} bytes of "
                            "payload: the full packets before it are lost each time.",
                            case_.course.silent->payload));
        if (case_.course.last_answer != nullptr)
            cause.add(evidence(*case_.course.last_answer));
    }

    // Of the request that failed.
    bool failing_arrived() const {
        if (post_ == nullptr || !post_->psn_first || !post_->psn_last)
            return !direction_.requests.empty();
        const auto width =
            static_cast<std::uint32_t>(distance(*post_->psn_first, *post_->psn_last)) + 1;
        return std::ranges::any_of(direction_.requests, [&](const Seen* request) {
            return request->psn.is_within(*post_->psn_first, width);
        });
    }

    bool has_anything_from_requester() const {
        if (direction_.stream != nullptr)
            return true;
        const auto is_requester = [this](const flow::Host& host) {
            return case_.whole.logs.role_at(host) == direction_.requester_role;
        };
        return std::ranges::any_of(case_.whole.traffic.cm(),
                                   [&](const CmSeen& one) { return is_requester(one.from); }) ||
               std::ranges::any_of(case_.whole.traffic.streams(),
                                   [&](const Stream& one) { return is_requester(one.key.src); });
    }

    // The capture does not have the request that was posted and failed.
    void nothing_arrived() {
        if (!case_.whole.has_capture)
            return;
        std::uint32_t largest = 0;
        for (const Seen* request : direction_.requests)
            largest = std::max(largest, request->payload);
        const std::uint64_t lost = size_of_failing();
        if (!direction_.requests.empty() && lost > largest && case_.course.last_answer != nullptr) {
            Cause& cause = add(
                Code::LargePacketsLost, Certainty::Likely,
                fmt::format("packets with up to {} bytes of payload passed, and of a request with "
                            "packets of {} bytes none was captured.",
                            largest, lost));
            cause.add(evidence(*largest_passed(largest)));
            return;
        }
        if (!has_anything_from_requester() && !is_place_of_responder()) {
            return;
        }
        add(Code::PathBroken, Certainty::Likely,
            direction_.requests.empty()
                ? std::string("the requests that were posted are not in the capture: they were "
                              "lost before it.")
                : std::string("from some moment on the requests that were posted are not in the "
                              "capture: they were lost before it."));
    }

    bool is_place_of_responder() const {
        return case_.whole.place &&
               (case_.is_captured_at_responder() ||
                case_.whole.logs.role_at(*case_.whole.place) == direction_.responder_role);
    }

    const Seen* largest_passed(std::uint32_t size) const {
        return *std::ranges::find(direction_.requests, size, &Seen::payload);
    }

    std::uint64_t size_of_failing() const {
        if (post_ == nullptr || post_->opcode == "RDMA_READ")
            return 0;
        return direction_.path_mtu == 0
                   ? post_->length
                   : std::min<std::uint64_t>(post_->length, direction_.path_mtu);
    }

    // The requests are there, and no answer is.
    void nothing_came_back() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder != nullptr) {
            const auto ended =
                responder->destroyed_ns &&
                        (!responder->failed_ns || *responder->destroyed_ns < *responder->failed_ns)
                    ? responder->destroyed_ns
                    : responder->failed_ns;
            if (ended && is_early(*ended)) {
                Cause& cause =
                    add(Code::PeerGone,
                        case_.is_captured_at_responder() ? Certainty::Certain : Certainty::Likely,
                        fmt::format(
                            "{} {} before the requests that have no response.", responder->called(),
                            ended == responder->destroyed_ns ? "was destroyed" : "left RTS"));
                cause.add({.role = responder->role,
                           .t_ns = *ended,
                           .text = ended == responder->destroyed_ns
                                       ? "the queue pair was destroyed"
                                       : "the queue pair went to " + responder->state});
                return;
            }
        }
        if (const runlog::Event* end = end_of_responder(); end != nullptr) {
            Cause& cause = add(Code::PeerGone, Certainty::Certain,
                               fmt::format("the program of {} ended before the requests that "
                                           "have no response.",
                                           spoken(direction_.to)));
            cause.add(evidence(*end));
            return;
        }
        if (overran())
            return;
        if (const CmSeen* leave = leave_of_responder(); leave != nullptr) {
            Cause& cause = add(Code::PeerGone, Certainty::Likely,
                               fmt::format("{} disconnected, and requests came after that.",
                                           spoken(direction_.to)));
            cause.add(evidence(*leave));
            return;
        }
        if (direction_.back == nullptr && case_.course.last_answer == nullptr)
            return;  // nothing ever came back: anything may be wrong
        if (is_larger_than_answered()) {
            Cause& cause = add(
                Code::LargePacketsLost, is_alive() ? Certainty::Likely : Certainty::Possible,
                fmt::format("requests with less payload were acknowledged before, and none of the "
                            "copies of this one, which has {} bytes.",
                            case_.course.silent->payload));
            cause.add(evidence(*case_.course.last_answer));
            return;
        }
        if (case_.course.last_answer != nullptr && responder != nullptr && !is_alive() &&
            !case_.is_captured_at_responder()) {
            Cause& cause =
                add(Code::PathBroken, Certainty::Likely,
                    fmt::format("after frame {} nothing came from {}, whose queue pair was ready.",
                                case_.course.last_answer->frame, spoken(direction_.to)));
            cause.add(evidence(*case_.course.last_answer));
            return;
        }
        // Nothing else came from there: the path may be broken as well.
        if (case_.course.last_answer == nullptr || responder != nullptr ||
            !(is_alive() || case_.is_captured_at_responder()))
            return;
        Cause& cause = add(Code::PeerGone, Certainty::Likely,
                           fmt::format("{} responded until frame {}, and then no more{}.",
                                       direction_.target(), case_.course.last_answer->frame,
                                       is_alive() ? ", although its host goes on sending" : ""));
        cause.add(evidence(*case_.course.last_answer));
    }

    // The responder's completion queue was full of receives when it fell silent.
    bool overran() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || !responder->recv_cq || case_.course.last_answer == nullptr)
            return false;
        const std::uint64_t entries =
            case_.whole.logs.entries_of(responder->role, *responder->recv_cq);
        const wire::Psn acked = case_.course.last_answer->psn;
        std::uint64_t taken = 0;
        std::optional<wire::Psn> newest;
        for (const Seen* request : direction_.requests) {
            const bool is_new = !newest || distance(*newest, request->psn) > 0;
            if (!is_new || distance(request->psn, acked) < 0)
                continue;
            newest = request->psn;
            const bool takes_receive =
                request->is(wire::Operation::Send) || request->opcode->has(wire::header::immdt);
            taken += takes_receive && request->opcode->ends_message() ? 1 : 0;
        }
        const auto polled = static_cast<std::uint64_t>(
            std::ranges::lower_bound(responder->receive_times, case_.course.silent->t_ns) -
            responder->receive_times.begin());
        if (entries == 0 || taken < polled + entries)
            return false;
        Cause& cause = add(Code::CqOverrun, Certainty::Likely,
                           fmt::format("{} messages had come and {} completions were polled when "
                                       "{} fell silent: its completion queue has {} entries.",
                                       taken, polled, responder->called(), entries));
        cause.add(evidence(*case_.course.last_answer));
        cause.add(value(responder->role, fmt::format("completion queue {} with {} entries",
                                                     *responder->recv_cq, entries)));
        return true;
    }

    // Than any request that was answered; a packet that every path carries is not large.
    bool is_larger_than_answered() const {
        constexpr std::uint32_t smallest_path_mtu = 256;
        const Seen& silent = *case_.course.silent;
        if (case_.course.last_answer == nullptr || silent.payload <= smallest_path_mtu)
            return false;
        return std::ranges::none_of(direction_.requests, [&](const Seen* request) {
            return request->payload >= silent.payload &&
                   distance(request->psn, case_.course.last_answer->psn) >= 0;
        });
    }

    // The responder's host sent something else after the request that it did not answer.
    bool is_alive() const {
        const flow::Host& host = direction_.stream->key.dst;
        const std::uint64_t since = case_.course.silent->frame;
        const auto is_later = [&](const auto& one) { return one.frame > since; };
        return std::ranges::any_of(
                   case_.whole.traffic.cm(),
                   [&](const CmSeen& one) { return one.from == host && is_later(one); }) ||
               std::ranges::any_of(case_.whole.traffic.streams(), [&](const Stream& one) {
                   return one.key.src == host && is_later(one.packets.back());
               });
    }

    // Before the request that nobody answered was sent again, as far as clocks can be compared.
    bool is_early(std::int64_t t_ns, std::int64_t doubt_ns = 2'000'000) const {
        const auto& copies = case_.course.silent_copies;
        return t_ns <= copies[std::min<std::size_t>(1, copies.size() - 1)]->t_ns + doubt_ns;
    }

    const runlog::Event* end_of_responder() const {
        if (!has_responder_log() || case_.course.silent == nullptr)
            return nullptr;
        constexpr std::int64_t noticed_ns = 250'000'000;  // rocetrace looks from time to time
        const auto& notices = case_.whole.logs.notices();
        const auto found = std::ranges::find_if(notices, [&](const runlog::Event& event) {
            return event.name == "process_end" && event.role == direction_.responder_role &&
                   is_early(event.t_ns, noticed_ns);
        });
        return found == notices.end() ? nullptr : &*found;
    }

    const CmSeen* leave_of_responder() const {
        const auto& cm = case_.whole.traffic.cm();
        const auto found = std::ranges::find_if(cm, [&](const CmSeen& message) {
            return message.attribute == wire::CmAttribute::DisconnectRequest &&
                   message.from == direction_.stream->key.dst &&
                   message.to == direction_.stream->key.src &&
                   message.t_ns <= case_.course.silent_copies.back()->t_ns &&
                   (direction_.back == nullptr || message.qpn == direction_.back->key.dest_qpn) &&
                   (case_.course.last_answer == nullptr ||
                    message.frame + 64 > case_.course.last_answer->frame);
        });
        return found == cm.end() ? nullptr : &*found;
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
    const Completion* error_ = nullptr;
    const Post* post_ = nullptr;
};

}  // namespace

void explain_silence(const Case& one, Causes& causes) {
    Silence(one, causes).explain();
}

}  // namespace explain
