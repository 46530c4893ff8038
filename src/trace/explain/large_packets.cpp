// Small packets arrive, and larger ones do not: the MTU of the path is too small.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

constexpr std::size_t least_copies = 3;

void add_lost(const Case& one, Causes& causes, std::string text,
              std::initializer_list<const Seen*> shown) {
    Cause& cause = causes.emplace_back(
        silent_cause(one, Code::LargePacketsLost, Certainty::Likely, std::move(text)));
    for (const Seen* seen : shown)
        if (seen != nullptr)
            cause.add(evidence(*seen));
}

std::size_t copies_of(const Seen& request, const Direction& direction) {
    return static_cast<std::size_t>(
        std::ranges::count(direction.requests, request.psn, &Seen::psn));
}

// Of a READ that was requested repeatedly, only the last response was captured each time, which is the
// only one that may be short.
bool only_last_responses(const Case& one, const Seen& request, Causes& causes) {
    const Seen* last = nullptr;
    std::size_t ends = 0;
    for (const Seen* response : one.direction.responses) {
        if (response->frame < request.frame || !response->is(wire::Operation::RdmaReadResponse))
            continue;
        if (!response->opcode->is_last() || response->psn == request.psn)
            return false;
        last = last == nullptr ? response : last;
        ++ends;
    }
    if (ends < least_copies)
        return false;
    add_lost(one, causes,
             fmt::format("of the responses to a READ, only the last packet arrives, which has {} "
                         "bytes of payload: the full packets before it are lost each time.",
                         last->payload),
             {&request, last});
    return true;
}

// The responses to a READ were captured and did not reach the requester, which sent it again and again,
// and they are larger than all before.
bool larger_responses(const Case& one, const Seen& request, Causes& causes) {
    std::uint32_t largest = 0;
    std::size_t before = 0;
    std::vector<const Seen*> lost;
    for (const Seen* response : one.direction.responses) {
        if (!response->is(wire::Operation::RdmaReadResponse))
            continue;
        if (response->frame < request.frame) {
            largest = std::max(largest, response->payload);
            ++before;
        } else if (response->psn == request.psn) {
            lost.push_back(response);
        }
    }
    const auto is_larger = [&](const Seen* response) { return response->payload > largest; };
    if (before < least_copies || lost.size() < least_copies || largest == 0 ||
        !std::ranges::all_of(lost, is_larger))
        return false;
    add_lost(one, causes,
             fmt::format("responses with up to {} bytes of payload reached the requester, and one "
                         "with {} bytes does not, each time it is sent.",
                         largest, lost.front()->payload),
             {&request, lost.front(), one.direction.requests.back()});
    return true;
}

}  // namespace

bool explain_large_responses(const Case& one, Causes& causes) {
    const Seen* request = one.course.newest;
    if (request == nullptr || !request->is(wire::Operation::RdmaReadRequest) ||
        copies_of(*request, one.direction) < least_copies)
        return false;
    return only_last_responses(one, *request, causes) || larger_responses(one, *request, causes);
}

// Of a message, only the last packet arrives, which is the only one that may be short.
bool explain_large_requests(const Case& one, Causes& causes) {
    const Seen* silent = one.course.silent;
    if (silent == nullptr || !silent->opcode->is_last() ||
        one.course.silent_copies.size() < least_copies ||
        std::ranges::count(one.direction.requests, silent->psn - 1, &Seen::psn) != 0)
        return false;
    add_lost(one, causes,
             fmt::format("only the last packet of a message arrives, which has {} bytes of "
                         "payload: the full packets before it are lost each time.",
                         silent->payload),
             {one.course.last_answer});
    return true;
}

}  // namespace explain
