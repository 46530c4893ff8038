#include "trace/explain/rules.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/clocks.hpp"

namespace explain {

const Completion* Case::error(std::string_view status) const {
    if (direction.requester == nullptr)
        return nullptr;
    const auto& errors = direction.requester->errors;
    const auto found = std::ranges::find_if(errors, [&](const Completion& completion) {
        return !completion.is_receive && completion.status == status;
    });
    return found == errors.end() ? nullptr : &*found;
}

bool Case::has_succeeded() const {
    const LoggedQueuePair* requester = direction.requester;
    return direction.is_reliable() && requester != nullptr &&
           whole.logs.is_whole(requester->role) && !requester->posts.empty() &&
           requester->errors.empty() && std::ranges::all_of(requester->posts, [](const Post& post) {
               return post.is_done || !post.has_packets();
           });
}

bool Case::is_explained_by(Code code, const Causes& causes) const {
    return std::ranges::any_of(causes, [&](const Cause& one) {
        return one.code == code && one.where == direction.where();
    });
}

bool Case::is_end_explained(const Causes& causes) const {
    return std::ranges::any_of(causes, [&](const Cause& one) {
        return one.is_fatal && one.certainty != Certainty::Possible &&
               one.where == direction.where();
    });
}

bool Case::has_fatal(const Causes& causes) const {
    return std::ranges::any_of(
        causes, [&](const Cause& one) { return one.is_fatal && one.where == direction.where(); });
}

bool Case::has_unfinished_read() const {
    const LoggedQueuePair* requester = direction.requester;
    return requester != nullptr && std::ranges::any_of(requester->posts, [](const Post& post) {
               return post.opcode == "RDMA_READ" && !post.is_done;
           });
}

bool Case::was_answered() const {
    if (direction.stream == nullptr) {
        const LoggedQueuePair* requester = direction.requester;
        return requester != nullptr &&
               (has_executed(*requester) ||
                std::ranges::any_of(requester->errors, [](const Completion& error) {
                    return error.status.starts_with("REM_") || error.status.starts_with("RNR_");
                }));
    }
    return std::ranges::any_of(direction.responses,
                               [](const Seen* one) { return !one->is_kind(wire::AethKind::Nak); });
}

const Seen* Case::first_accepted() const {
    std::unordered_map<std::uint32_t, std::uint64_t> sent;  // first frames by PSN
    for (const Seen* request : direction.requests)
        sent.try_emplace(request->psn.value(), request->frame);
    const auto found = std::ranges::find_if(direction.responses, [&](const Seen* response) {
        const auto asked = sent.find(response->psn.value());
        return !response->is_sequence_nak() && asked != sent.end() &&
               asked->second < response->frame;
    });
    return found == direction.responses.end() ? nullptr : *found;
}

bool Case::is_responders_log_whole() const {
    const std::string& role = direction.responder_role;
    const bool lacks_it = direction.responder == nullptr && whole.logs.has_queue_pairs(role) &&
                          first_accepted() != nullptr;
    return whole.logs.is_whole(role) && !lacks_it;
}

bool Case::is_responders_log_there() const {
    return direction.begin_ns() <=
               whole.logs.end_of(direction.responder_role) + usual_clock_error_ns &&
           is_responders_log_whole();
}

bool has_executed(const LoggedQueuePair& pair) {
    return !pair.posts.empty() && pair.posts.front().is_done &&
           std::ranges::none_of(pair.errors, [](const Completion& error) {
               return !error.is_receive && error.request.value_or(0) == 0;
           });
}

bool Case::is_before(std::int64_t earlier, std::int64_t later) const {
    constexpr std::int64_t same_host_ns = 2'000'000;     // delay of a log entry
    constexpr std::int64_t other_host_ns = 200'000'000;  // NTP accuracy
    if (direction.requests.empty())
        return false;
    return is_captured_at_responder() ? earlier <= later + same_host_ns
                                      : earlier + other_host_ns <= later;
}

bool Case::is_responder_alive(std::uint64_t since_frame) const {
    const flow::Host& host = direction.stream->key.dst;
    return std::ranges::any_of(
               whole.traffic.cm(),
               [&](const CmSeen& one) { return one.from == host && one.frame > since_frame; }) ||
           std::ranges::any_of(whole.traffic.streams(), [&](const KeptStream& one) {
               return one.key.src == host && one.packets.back().frame > since_frame;
           });
}

Cause Case::cause(Code code, Certainty certainty, std::string text) const {
    return {.code = code,
            .certainty = certainty,
            .text = std::move(text),
            .evidence = {},
            .where = direction.where()};
}

std::string Whole::where_of(const LoggedQueuePair& pair, bool as_responder) const {
    const Direction* found =
        as_responder ? directions.of_responder(pair) : directions.of_requester(pair);
    return found == nullptr ? fmt::format("{}, QP {:#08x}", pair.role, pair.qpn) : found->where();
}

Cause& add_fatal(Causes& causes, Code code, Certainty certainty, std::string text,
                 std::string where) {
    causes.push_back({.code = code,
                      .certainty = certainty,
                      .text = std::move(text),
                      .where = std::move(where),
                      .is_fatal = true});
    return causes.back();
}

Cause& add_fatal(const Case& one, Causes& causes, Code code, Certainty certainty,
                 std::string text) {
    Cause& cause = causes.emplace_back(one.cause(code, certainty, std::move(text)));
    cause.is_fatal = true;
    if (!one.direction.requests.empty())
        cause.add(evidence(*one.direction.requests.front()));
    return cause;
}

std::string times(std::uint64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string packets(std::uint64_t count, std::string_view singular, std::string_view plural) {
    return fmt::format("{} packet{} {}", count, count == 1 ? "" : "s",
                       count == 1 ? singular : plural);
}

bool is_in_other_byte_order(std::uint32_t one, std::uint32_t other) {
    constexpr std::uint32_t bits = 0xffffff;
    if (one == 0 || other == 0)
        return false;
    return __builtin_bswap32(one) >> 8U == other || (__builtin_bswap32(one) & bits) == other ||
           (__builtin_bswap32(other) & bits) == one;
}

std::string milliseconds(std::int64_t ns) {
    return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

}  // namespace explain
