// What the logs of both ends show without a capture.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

// The hosts' clocks may differ.
constexpr std::int64_t doubt_ns = 200'000'000;
constexpr std::int64_t long_ns = 1'000'000'000;

class TwoLogs {
  public:
    TwoLogs(const Case& one, Causes& causes)
        : case_(one),
          direction_(one.direction),
          requester_(*one.direction.requester),
          responder_(*one.direction.responder),
          causes_(causes) {}

    void explain() {
        if (case_.has_fatal(causes_))
            return;
        if (direction_.is_datagram())
            other_q_key();
        else if (case_.error("RETRY_EXC_ERR") != nullptr)
            ended() || unheard_responses();
        else if (case_.error("REM_INV_REQ_ERR") != nullptr)
            depth();
        else if (requester_.errors.empty())
            too_few_receives();
    }

  private:
    const Logs& logs() const { return case_.whole.logs; }

    Cause& add(Code code, Certainty certainty, std::string text) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.is_fatal = true;
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    // The responder's queue pair or program ended before the request that got no response.
    bool ended() {
        const Completion& error = *case_.error("RETRY_EXC_ERR");
        if (!error.post)
            return false;
        const auto is_early = [&](std::int64_t t_ns) {
            return t_ns + doubt_ns <= error.post->t_ns;
        };
        const auto& notices = logs().notices();
        const auto end = std::ranges::find_if(notices, [&](const runlog::Event& event) {
            return event.is("process_end") && event.role == responder_.role && is_early(event.t_ns);
        });
        std::optional<std::int64_t> gone = responder_.failed_ns;
        if (responder_.destroyed_ns)
            gone = std::min(gone.value_or(*responder_.destroyed_ns), *responder_.destroyed_ns);
        const bool is_pair = gone && is_early(*gone);
        if (!is_pair && end == notices.end())
            return false;
        Cause& cause = add(
            Code::PeerGone, Certainty::Likely,
            is_pair
                ? fmt::format("{} {} before the request that has no response.", responder_.called(),
                              gone == responder_.destroyed_ns ? "was destroyed" : "left RTS")
                : fmt::format("the program of {} ended before the request that "
                              "has no response.",
                              spoken(direction_.to)));
        if (is_pair)
            cause.add({.role = responder_.role,
                       .t_ns = *gone,
                       .text = gone == responder_.destroyed_ns ? "the queue pair was destroyed"
                                                               : "the queue pair left RTS"});
        else
            cause.add(evidence(*end));
        cause.add(evidence(requester_, *error.post));
        cause.add(evidence(requester_, error));
        return true;
    }

    // The responder received the message for which the requester got no response.
    bool unheard_responses() {
        const Completion& error = *case_.error("RETRY_EXC_ERR");
        const std::uint64_t number = error.request.value_or(requester_.posts.size());
        if (responder_.srq || number >= requester_.posts.size() || !error.post ||
            !error.post->takes_receive())
            return false;
        const auto messages = static_cast<std::uint64_t>(
            std::ranges::count(requester_.posts.begin(),
                               requester_.posts.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                               true, &Post::takes_receive));
        if (responder_.received < messages)
            return false;
        Cause& cause =
            add(Code::AcksLost, Certainty::Likely,
                fmt::format("{} received message {}, for which the requester got no response until "
                            "it gave up: the responses do not reach it.",
                            responder_.called(), messages));
        cause.add(evidence(requester_, *error.post));
        cause.add(evidence(requester_, error));
        cause.add(value(responder_.role,
                        counted(responder_.received, "receive") + " completed without an error"));
        return true;
    }

    // More READs and atomics than the responder accepts.
    void depth() {
        const auto depth = requester_.max_rd_atomic, most = responder_.max_dest_rd_atomic;
        const auto posted = std::ranges::count_if(requester_.posts, &Post::is_read_or_atomic);
        const Completion& error = *case_.error("REM_INV_REQ_ERR");
        if (!depth || !most || *depth <= *most || static_cast<std::uint64_t>(posted) <= *most ||
            !error.post || !error.post->is_read_or_atomic())
            return;
        Cause& cause =
            add(Code::ReadDepth, Certainty::Likely,
                fmt::format("{} may have {} READs and atomics outstanding, and {} accepts {}.",
                            requester_.called(), *depth, responder_.called(), *most));
        cause.add(evidence(requester_, *error.post));
        cause.add(evidence(requester_, error));
        cause.add(value(requester_.role, fmt::format("max_rd_atomic {}", *depth)));
        cause.add(value(responder_.role, fmt::format("max_dest_rd_atomic {}", *most)));
    }

    // The requester waits without limit (rnr_retry 7) for a receive that was not posted.
    void too_few_receives() {
        const auto waiting = std::ranges::find(requester_.posts, false, &Post::is_done);
        if (waiting == requester_.posts.end() || responder_.srq || requester_.rnr_retry != 7U ||
            !responder_.ready_ns || has_ended(responder_) || has_ended(requester_))
            return;
        const std::int64_t since = std::max(waiting->t_ns, requester_.last_done_ns);
        const auto messages = static_cast<std::uint64_t>(std::ranges::count(
            requester_.posts.begin(), std::next(waiting), true, &Post::takes_receive));
        const std::uint64_t posted = responder_.receive_lengths.size();
        if (!waiting->takes_receive() || messages <= posted ||
            logs().end_of(requester_.role) < since + long_ns ||
            logs().end_of(responder_.role) < since + long_ns + doubt_ns)
            return;
        Cause& cause =
            add(Code::ReceiverNotReady, Certainty::Likely,
                fmt::format("{} waits for message {} to be received, and the program of {} posted "
                            "{} in all.",
                            requester_.called(), messages, spoken(direction_.to),
                            counted(posted, "receive")));
        cause.add(evidence(requester_, *waiting));
        cause.add(value(requester_.role, "rnr_retry 7 (without limit)"));
    }

    static bool has_ended(const LoggedQueuePair& pair) {
        return pair.failed_ns || pair.destroyed_ns;
    }

    void other_q_key() {
        constexpr std::uint32_t own_q_key = 0x80000000;  // the sender's queue pair has it
        const auto wrong = std::ranges::find_if(requester_.posts, [&](const Post& post) {
            return post.dest_qpn == responder_.qpn && post.q_key && responder_.q_key &&
                   (*post.q_key & own_q_key) == 0 && *post.q_key != *responder_.q_key;
        });
        if (wrong == requester_.posts.end() || responder_.received != 0)
            return;
        Cause& cause = add(
            Code::WrongQKey, Certainty::Certain,
            fmt::format("the datagrams have Q_Key {:#010x}, but {} has {:#010x}: it drops them.",
                        *wrong->q_key, responder_.called(), *responder_.q_key));
        cause.add(evidence(requester_, *wrong));
        cause.add(value(responder_.role, fmt::format("q_key {:#010x}", *responder_.q_key)));
    }

    const Case& case_;
    const Direction& direction_;
    const LoggedQueuePair& requester_;
    const LoggedQueuePair& responder_;
    Causes& causes_;
};

}  // namespace

void explain_two_logs(const Case& one, Causes& causes) {
    const Direction& direction = one.direction;
    if (one.whole.has_capture || direction.requester == nullptr || direction.responder == nullptr ||
        !one.whole.logs.is_whole(direction.requester->role) ||
        !one.whole.logs.is_whole(direction.responder->role))
        return;
    TwoLogs(one, causes).explain();
}

}  // namespace explain
