// Behaviour that the specification does not allow, as the check finds it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
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

// A late response explains no deviation.
bool may_be_harmless(const Cause& cause) {
    return cause.code == Code::NeedlessRetransmissions && cause.certainty == Certainty::Possible;
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

    // Halves with requests that were acknowledged and not captured: everything that the check finds
    // there may be due to that.
    void find_missing_requests() {
        if (std::ranges::none_of(report_.connections, [](const auto& one) {
                return one.forward.missing.psns != 0 || one.backward.missing.psns != 0;
            }))
            return;
        for (const Cause& one : causes_)
            if (one.is_fatal)
                failed_.insert(one.where);
        for (std::size_t i = 0; i < report_.connections.size(); ++i) {
            const conformance::ConnectionReport& at = report_.connections[i];
            for (const bool forward : {true, false}) {
                const auto& missing = (forward ? at.forward : at.backward).missing;
                const Half half{i, forward};
                if (missing.psns == 0 || failed_.contains(where(half)))
                    continue;
                if (has_all_posted(half))
                    whole_requests_.insert(half);
                else
                    add_incomplete(half, missing);
            }
        }
    }

    bool lacks_packets() const { return !incomplete_.empty(); }

    // An ACK of a request that the requester did not post.
    bool was_not_posted(const Finding& one) const {
        return one.code == conformance::Code::AckBeyond && whole_requests_.contains(half_of(one));
    }

    // Adds the kinds of findings at each direction, in the order of their first ones.
    template <typename Predicate>
    void add(const conformance::Findings& findings, Certainty certainty, Predicate is_shown) {
        constexpr std::size_t most = 10;  // 'rocecap check' has all
        std::map<Kind, std::uint64_t> counts;
        std::vector<const Finding*> firsts;
        for (const Finding& one : findings)
            if (is_shown(one) &&
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

    // Whether all requests that the requester posted were captured.
    bool has_all_posted(const Half& half) const {
        const Direction* direction = whole_.directions.at(where(half));
        if (direction == nullptr || direction->requester == nullptr ||
            !whole_.logs.is_whole(direction->requester->role))
            return false;
        std::set<std::uint32_t> ends;
        for (const Seen* request : direction->requests)
            if (request->opcode->ends_message())
                ends.insert(request->psn.value());
        return std::ranges::count_if(direction->requester->posts, &Post::has_packets) <=
               std::ssize(ends);
    }

    void add_incomplete(const Half& half, const conformance::Responder::Missing& missing) {
        constexpr std::size_t most = 10;
        incomplete_.insert(half);
        if (incomplete_.size() > most)
            return;
        Cause cause{.code = Code::IncompleteCapture,
                    .certainty = Certainty::Likely,
                    .text = fmt::format(
                        "the request with PSN {:#08x} was acknowledged, but not captured{}: the "
                        "capture lacks packets, or another host sent the ACK.",
                        missing.first,
                        missing.psns == 1 ? std::string()
                                          : fmt::format(" (in all, {} PSNs)", missing.psns)),
                    .evidence = {},
                    .where = where(half)};
        if (auto seen = whole_.traffic.evidence_of(missing.frame))
            cause.add(*std::move(seen));
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
    std::set<Half> whole_requests_;  // with an ACK of another request
    std::set<std::string> failed_;   // where()
};

}  // namespace

void explain_deviations(const Whole& whole, const conformance::Report& report, bool has_failed,
                        Causes& causes) {
    // What the path did to packets may explain most findings, and is a cause of its own. It does not
    // change the contents of a packet.
    const bool is_explained = !std::ranges::all_of(causes, may_be_harmless);
    Deviations deviations(whole, report, causes);
    deviations.find_missing_requests();
    // Not certain: another host may have sent packets in the name of this one.
    deviations.add(report.findings, Certainty::Likely, [&](const Finding& one) {
        return is_explained ? is_about_contents(one.code) : is_not_about_timers(one.code);
    });
    if (is_explained)
        return;
    deviations.add(report.unknowable, Certainty::Likely,
                   [&](const Finding& one) { return deviations.was_not_posted(one); });
    if (!has_failed && !deviations.lacks_packets())
        deviations.add(report.unknowable, Certainty::Possible,
                       [](const Finding& one) { return is_about_data(one.code); });
}

}  // namespace explain
