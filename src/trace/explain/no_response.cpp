// Requests that arrived but have no response.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class NoResponse {
  public:
    NoResponse(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (queue_pair_ended() || program_ended() || overran() || disconnected())
            return;
        // Without any response at all, the cause is undetermined.
        if (case_.course.last_answer == nullptr)
            return;
        if (!was_asked())
            none_asked();
        else if (is_larger_than_answered())
            large_packet();
        else if (direction_.responder == nullptr)
            silent_queue_pair();
        else if (!is_alive() && !case_.is_captured_at_responder())
            silent_host();
    }

  private:
    bool queue_pair_ended() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr)
            return false;
        const bool was_destroyed =
            responder->destroyed_ns &&
            (!responder->failed_ns || *responder->destroyed_ns < *responder->failed_ns);
        const auto ended = was_destroyed ? responder->destroyed_ns : responder->failed_ns;
        if (!ended || !is_early(*ended))
            return false;
        Cause& cause =
            add(Code::PeerGone,
                case_.is_captured_at_responder() ? Certainty::Certain : Certainty::Likely,
                fmt::format("{} {} before the requests that have no response.", responder->called(),
                            was_destroyed ? "was destroyed" : "left RTS"));
        cause.add({.role = responder->role,
                   .t_ns = *ended,
                   .text = was_destroyed ? "the queue pair was destroyed"
                                         : "the queue pair went to " + responder->state});
        return true;
    }

    bool program_ended() {
        const runlog::Event* end = end_of_responder();
        if (end == nullptr)
            return false;
        add(Code::PeerGone,
            case_.is_captured_at_responder() ? Certainty::Certain : Certainty::Likely,
            fmt::format("the program of {} ended before the requests that have no response.",
                        spoken(direction_.to)))
            .add(evidence(*end));
        return true;
    }

    bool disconnected() {
        const CmSeen* leave = leave_of_responder();
        if (leave == nullptr)
            return false;
        add(Code::PeerGone, Certainty::Likely,
            fmt::format("{} disconnected, and requests arrived after that.", spoken(direction_.to)))
            .add(evidence(*leave));
        return true;
    }

    void large_packet() {
        add(Code::LargePacketsLost, is_alive() ? Certainty::Likely : Certainty::Possible,
            fmt::format("requests with less payload were acknowledged before, and none of the "
                        "copies of this one, which has {} bytes.",
                        case_.course.silent->payload))
            .add(evidence(*case_.course.last_answer));
    }

    // Since its last response.
    bool was_asked() const {
        return case_.is_captured_at_requester() ||
               std::ranges::any_of(direction_.requests, [&](const Seen* request) {
                   return request->frame > case_.course.last_answer->frame &&
                          (request->requires_response() || request->opcode->ends_message());
               });
    }

    void none_asked() {
        add(Code::Loss, Certainty::Likely,
            fmt::format(
                "after frame {}, the capture has no last packet of a message, which would ask "
                "for a response: these were lost before the capture.",
                case_.course.last_answer->frame))
            .add(evidence(*case_.course.last_answer));
    }

    // If its host is silent too, and the capture was made elsewhere, the path may be broken instead.
    void silent_queue_pair() {
        const bool is_path_open = is_alive() || case_.is_captured_at_responder();
        std::string rest = is_alive() ? ", although its host still sends" : "";
        if (!is_path_open)
            rest =
                ": its program or queue pair has ended, or the path behind the capture lost all "
                "packets. Its log, or a capture at its host, shows which";
        add(Code::PeerGone, is_path_open ? Certainty::Likely : Certainty::Possible,
            fmt::format("queue pair {:#08x} of {} stopped responding after frame {}{}.",
                        direction_.dest_qpn, direction_.to, case_.course.last_answer->frame, rest))
            .add(evidence(*case_.course.last_answer));
    }

    // According to its log, its queue pair has not ended.
    void silent_host() {
        add(Code::PathBroken, Certainty::Likely,
            fmt::format("after frame {} no packet arrived from {}, whose queue pair was ready.",
                        case_.course.last_answer->frame, spoken(direction_.to)))
            .add(evidence(*case_.course.last_answer));
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        causes_.push_back(silent_cause(case_, code, certainty, std::move(text)));
        return causes_.back();
    }

    // The responder's completion queue was full of receives, also of other queue pairs, when the responses
    // stopped.
    bool overran() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || !responder->recv_cq || case_.course.last_answer == nullptr)
            return false;
        const std::uint64_t entries =
            case_.whole.logs.queue(responder->role, *responder->recv_cq).entries;
        std::uint64_t taken = 0, polled = 0, pairs = 0;
        for (const Direction& other : case_.whole.directions) {
            if (other.responder == nullptr || other.responder->role != responder->role ||
                other.responder->recv_cq != responder->recv_cq || other.stream == nullptr)
                continue;
            ++pairs;
            taken += other.stream->forgotten_receives + taken_messages(other).size();
            polled +=
                static_cast<std::uint64_t>(std::ranges::lower_bound(other.responder->receive_times,
                                                                    case_.course.silent->t_ns) -
                                           other.responder->receive_times.begin());
        }
        if (entries == 0 || taken < polled + entries)
            return false;
        Cause& cause =
            add(Code::CqOverrun, Certainty::Likely,
                fmt::format("{} messages{} had arrived and {} completions had been polled when {} "
                            "stopped responding: its completion queue has {} entries.",
                            taken, pairs == 1 ? "" : fmt::format(" for {} queue pairs", pairs),
                            polled, responder->called(), entries));
        cause.add(evidence(*case_.course.last_answer));
        cause.add(value(responder->role, fmt::format("completion queue {} with {} entries",
                                                     *responder->recv_cq, entries)));
        return true;
    }

    // Returns whether it is larger than all answered requests. A packet that fits every path MTU is
    // not large.
    bool is_larger_than_answered() const {
        constexpr std::uint32_t smallest_path_mtu = 256;
        const Seen& silent = *case_.course.silent;
        if (silent.payload <= smallest_path_mtu)
            return false;
        bool has_answered = false;
        for (const Seen* request : direction_.requests) {
            if (!case_.course.last_answer->acknowledges(request->psn))
                continue;
            has_answered = true;
            if (request->payload >= silent.payload)
                return false;
        }
        return has_answered;
    }

    // ACKs and data before the first retransmission may be the responses to earlier requests.
    bool is_alive() const {
        const Seen& answer = *case_.course.last_answer;
        return case_.is_responder_alive(second_copy().frame) ||
               (answer.is_sequence_nak() && answer.frame > case_.course.silent->frame);
    }

    const Seen& second_copy() const {
        const auto& copies = case_.course.silent_copies;
        return *copies[std::min<std::size_t>(1, copies.size() - 1)];
    }

    // Before the unanswered request was retransmitted, as far as the clocks can be compared.
    bool is_early(std::int64_t t_ns, std::int64_t doubt_ns = 2'000'000) const {
        return t_ns <= second_copy().t_ns + doubt_ns;
    }

    const runlog::Event* end_of_responder() const {
        const std::string& role = direction_.responder_role;
        if (role.empty() || !case_.whole.logs.is_whole(role))
            return nullptr;
        constexpr std::int64_t noticed_ns = 250'000'000;  // rocetrace polls
        const auto& notices = case_.whole.logs.notices();
        const auto found = std::ranges::find_if(notices, [&](const runlog::Event& event) {
            return event.is("process_end") && event.role == role &&
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
};

}  // namespace

void explain_no_response(const Case& one, Causes& causes) {
    NoResponse(one, causes).explain();
}

}  // namespace explain
