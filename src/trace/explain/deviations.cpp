// Behaviour that the specification does not allow, as the check finds it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using conformance::Finding;

// Timers differ from the specification on many devices, and what they cost is explained elsewhere.
bool is_not_about_timers(conformance::Code code) {
    return code != conformance::Code::TimeoutEarly && code != conformance::Code::RnrEarly &&
           code != conformance::Code::ResendWithoutCause &&
           code != conformance::Code::RetriesExceeded;
}

bool is_about_contents(conformance::Code code) {
    return code == conformance::Code::ResendDiffers;
}

// Worth a look even if a missing packet may be the explanation, because requests stay without data.
bool is_about_data(conformance::Code code) {
    return code == conformance::Code::MissingResponse || code == conformance::Code::ResendFrom;
}

class Deviations {
  public:
    Deviations(const Whole& whole, const conformance::Report& report, Causes& causes)
        : whole_(whole), report_(report), causes_(causes) {
        for (const KeptStream& stream : whole.traffic.streams())
            for (const Seen& seen : stream.packets)
                if (seen.is_damaged)
                    damaged_.insert(seen.frame);
    }

    // Halves with an ACK of a request that the capture does not have: everything that the check finds
    // there may be due to that.
    void find_missing_requests() {
        std::map<Half, const Finding*> first;
        for (const Finding& one : report_.findings)
            if (one.code == conformance::Code::AckBeyond)
                first.emplace(half_of(one), &one);
        if (first.empty())
            return;
        std::unordered_map<std::uint64_t, const Seen*> acks;
        for (const auto& [half, finding] : first)
            acks[finding->frame] = nullptr;
        for (const KeptStream& stream : whole_.traffic.streams()) {
            streams_.emplace(way(stream.key.src, stream.key.dst, stream.key.dest_qpn), &stream);
            for (const Seen& seen : stream.packets)
                if (const auto ack = acks.find(seen.frame); ack != acks.end())
                    ack->second = &seen;
        }
        for (const Direction& direction : whole_.directions)
            directions_.emplace(direction.where(), &direction);
        for (const Cause& one : causes_)
            if (one.is_fatal)
                failed_.insert(one.where);
        for (const auto& [half, finding] : first)
            if (const Seen* ack = acks[finding->frame];
                ack != nullptr && lacks_requests(half, *ack) && may_be_sent(half))
                add_incomplete(half, *ack);
    }

    // Adds the kinds of findings at each direction, in the order of their first ones.
    void add(const conformance::Findings& findings, Certainty certainty,
             bool (*is_shown)(conformance::Code)) {
        constexpr std::size_t most = 10;  // 'rocecap check' has all
        std::map<Kind, std::uint64_t> counts;
        std::vector<const Finding*> firsts;
        for (const Finding& one : findings)
            if (is_shown(one.code) &&
                (is_about_contents(one.code) || !incomplete_.contains(half_of(one))) &&
                !was_damaged(one) && !was_connected_again(one.connection) &&
                ++counts[kind_of(one)] == 1 && firsts.size() < most)
                firsts.push_back(&one);
        for (const Finding* first : firsts)
            add(*first, counts[kind_of(*first)] + left_out(*first), certainty);
    }

  private:
    using Kind = std::tuple<conformance::Code, bool, std::size_t, bool>;
    static Kind kind_of(const Finding& one) {
        return {one.code, one.is_programs, one.connection, one.forward};
    }

    using Way =
        std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
    static Way way(const flow::Host& from, const flow::Host& to, std::uint32_t qpn) {
        return {from.high, from.low, to.high, to.low, qpn};
    }
    using Half = std::pair<std::size_t, bool>;  // connection, forward
    static Half half_of(const Finding& one) { return {one.connection, one.forward}; }

    std::string where(const Half& half) const {
        const auto& [connection, is_forward] = half;
        const conformance::ConnectionReport& at = report_.connections[connection];
        const flow::Host& requester = is_forward ? at.from : at.to;
        const flow::Host& responder = is_forward ? at.to : at.from;
        return fmt::format("{} → {}, QP {:#08x}", whole_.logs.name_of(requester, at.network),
                           whole_.logs.name_of(responder, at.network),
                           (is_forward ? at.to_qpn : at.from_qpn).value_or(0));
    }

    // Whether the capture has requests shortly before the ACK's PSN, but not all until it.
    bool lacks_requests(const Half& half, const Seen& ack) const {
        constexpr std::int32_t most = 1024;  // PSNs
        const conformance::ConnectionReport& at = report_.connections[half.first];
        const flow::Host& requester = half.second ? at.from : at.to;
        const flow::Host& responder = half.second ? at.to : at.from;
        const auto qpn = half.second ? at.to_qpn : at.from_qpn;
        std::set<std::int32_t> there;  // how far before the ACK's PSN
        const auto [begin, end] = streams_.equal_range(way(requester, responder, qpn.value_or(0)));
        for (auto stream = begin; stream != end; ++stream) {
            for (const Seen& seen : stream->second->packets) {
                const std::int32_t before = distance(seen.psn, ack.psn);
                const auto psns = static_cast<std::int32_t>(seen.psn_count(at.path_mtu));
                for (std::int32_t i = 0; seen.is_request() && i < std::min(psns, most); ++i)
                    if (before - i >= 0 && before - i < most)
                        there.insert(before - i);
            }
        }
        return !there.empty() && *there.rbegin() + 1 != std::ssize(there);
    }

    // Not if all requests that the requester posted were captured, or if the connection failed for a
    // reason that explains the ACK.
    bool may_be_sent(const Half& half) const {
        const std::string direction = where(half);
        const auto found = directions_.find(direction);
        if (failed_.contains(direction))
            return false;
        if (found == directions_.end() || found->second->requester == nullptr ||
            !whole_.logs.is_whole(found->second->requester->role))
            return true;
        std::set<std::uint32_t> ends;
        for (const Seen* request : found->second->requests)
            if (request->opcode->ends_message())
                ends.insert(request->psn.value());
        return std::ranges::count_if(found->second->requester->posts, &Post::has_packets) >
               std::ssize(ends);
    }

    void add_incomplete(const Half& half, const Seen& ack) {
        constexpr std::size_t most = 10;
        incomplete_.insert(half);
        if (incomplete_.size() > most)
            return;
        Cause cause{
            .code = Code::IncompleteCapture,
            .certainty = Certainty::Likely,
            .text = fmt::format(
                "an ACK acknowledges all requests up to PSN {:#08x}, and not all of them were "
                "captured: the capture lacks packets, or another host sent the ACK.",
                ack.psn),
            .evidence = {},
            .where = where(half)};
        cause.add(evidence(ack));
        causes_.push_back(std::move(cause));
    }

    // A wrong ICRC explains other contents: the path changed the packet.
    bool was_damaged(const Finding& one) const {
        return is_about_contents(one.code) &&
               (damaged_.contains(one.frame) ||
                std::ranges::any_of(
                    one.because, [this](std::uint64_t frame) { return damaged_.contains(frame); }));
    }

    // A queue pair that is reset and connected again begins with another PSN, and the check takes its
    // packets for those of the first connection.
    bool was_connected_again(std::size_t connection) {
        const auto [entry, is_new] = connected_again_.try_emplace(connection, false);
        if (!is_new)
            return entry->second;
        const conformance::ConnectionReport& at = report_.connections[connection];
        for (const KeptStream& stream : whole_.traffic.streams()) {
            const bool is_forward = stream.key.src == at.from && stream.key.dst == at.to &&
                                    at.to_qpn == stream.key.dest_qpn;
            const bool is_backward = stream.key.src == at.to && stream.key.dst == at.from &&
                                     at.from_qpn == stream.key.dest_qpn;
            if (is_forward || is_backward)
                entry->second |= has_new_psns(stream);
        }
        return entry->second;
    }

    static bool has_new_psns(const KeptStream& stream) {
        constexpr std::int32_t most_outstanding = 1 << 16;
        if (stream.forgotten != 0)
            return false;
        const Seen* last = nullptr;
        for (const Seen& seen : stream.packets) {
            if (!seen.is_request() || seen.is_damaged)
                continue;
            if (last != nullptr && std::abs(distance(last->psn, seen.psn)) > most_outstanding)
                return true;
            last = &seen;
        }
        return false;
    }

    std::uint64_t left_out(const Finding& like) const {
        const auto found =
            std::ranges::find_if(report_.left_out, [&](const conformance::LeftOut& more) {
                return more.code == like.code && more.connection == like.connection &&
                       more.forward == like.forward;
            });
        return found == report_.left_out.end() ? 0 : found->count;
    }

    // `first`: the first of several equal ones.
    void add(const Finding& first, std::uint64_t count, Certainty certainty) {
        const conformance::ConnectionReport& at = report_.connections[first.connection];
        const bool is_responders = conformance::is_responders(first.code);
        const flow::Host& requester = first.forward ? at.from : at.to;
        const flow::Host& responder = first.forward ? at.to : at.from;
        const auto name_of = [&](const flow::Host& host) {
            return whole_.logs.name_of(host, at.network);
        };
        std::string text = first.text;
        if (!first.is_programs)
            text = fmt::format("{} {} from the specification (IBTA volume 1, {}): {}",
                               spoken(name_of(is_responders ? responder : requester)),
                               certainty == Certainty::Possible ? "may deviate" : "deviates",
                               section(first.code), text);
        if (count > 1)
            text += fmt::format(" ({} times)", count);
        Cause cause{.code = first.is_programs ? Code::BufferReused : Code::Deviation,
                    .certainty = certainty,
                    .text = text + '.',
                    .evidence = {},
                    .where = where(half_of(first))};
        std::vector<std::uint64_t> frames = first.because;
        frames.push_back(first.frame);
        for (const std::uint64_t frame : frames)
            if (auto seen = whole_.traffic.evidence_of(frame))
                cause.add(*std::move(seen));
        causes_.push_back(std::move(cause));
    }

    const Whole& whole_;
    const conformance::Report& report_;
    Causes& causes_;
    std::unordered_set<std::uint64_t> damaged_;  // frames
    std::map<std::size_t, bool> connected_again_;
    std::set<Half> incomplete_;
    // For the halves with an ACK of a request that was not captured.
    std::multimap<Way, const KeptStream*> streams_;
    std::map<std::string, const Direction*> directions_;  // by where()
    std::set<std::string> failed_;                        // where()
};

}  // namespace

void explain_deviations(const Whole& whole, const conformance::Report& report, bool has_failed,
                        Causes& causes) {
    // What the path did to packets may explain most findings, and is a cause of its own. It does not
    // change the contents of a packet.
    const bool is_explained = !causes.empty();
    Deviations deviations(whole, report, causes);
    deviations.find_missing_requests();
    // Not certain: another host may have sent packets in the name of this one.
    deviations.add(report.findings, Certainty::Likely,
                   is_explained ? is_about_contents : is_not_about_timers);
    if (!is_explained && !has_failed)
        deviations.add(report.unknowable, Certainty::Possible, is_about_data);
}

}  // namespace explain
