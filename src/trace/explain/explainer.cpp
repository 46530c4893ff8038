#include "trace/explain/explainer.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/clocks.hpp"
#include "trace/explain/other_runs.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using conformance::IcrcTrust;

constexpr std::size_t most_signs = 5;

// Collects signs of a failure, whether or not it is explained.
class Signs {
  public:
    Signs(const Logs& logs, const Traffic& traffic, const Directions& directions,
          const Progress& progress, const std::vector<Course>& courses, Explanation& out)
        : out_(out) {
        for (std::size_t i = 0; i < directions.size(); ++i)
            look(directions[i], courses[i]);
        for (const KeptStream& stream : traffic.streams())
            if (!stream.peer)
                look(stream);
        for (const LoggedQueuePair& pair : logs.queue_pairs())
            for (const Completion& error : pair.errors)
                add(evidence(pair, error));
        for (const runlog::Event& event : logs.notices())
            if (explain::is_failure(event, progress) || is_notice_of_failure(event))
                add(evidence(event));
        for (const LoggedQueuePair& pair : logs.queue_pairs())
            if (const Post* post = waiting(pair, logs))
                add(evidence(pair, *post));
        ends(logs);
    }

  private:
    void add(Evidence sign) {
        out_.has_failed = true;
        if (out_.signs.size() < most_signs)
            out_.signs.push_back(std::move(sign));
    }

    // A request without a completion when the program was ended, which had waited for it.
    static const Post* waiting(const LoggedQueuePair& pair, const Logs& logs) {
        constexpr std::int64_t least_ns = 2'000'000'000;
        if (pair.failed_ns || pair.destroyed_ns || !pair.errors.empty() ||
            !logs.is_whole(pair.role) || !logs.was_ended(pair.role))
            return nullptr;
        const auto found = std::ranges::find_if(pair.posts, [&](const Post& post) {
            return !post.is_done && post.is_signaled && post.has_packets() &&
                   logs.end_of(pair.role) - post.t_ns > least_ns;
        });
        return found == pair.posts.end() ? nullptr : &*found;
    }

    // NAKs whose requests are unknown.
    void look(const KeptStream& responses) {
        const auto nak = std::ranges::find_if(responses.packets, [](const Seen& one) {
            return one.is_fatal_nak() && !one.is_damaged;
        });
        if (nak != responses.packets.end() &&
            std::ranges::find(out_.signs, nak->frame, &Evidence::frame) == out_.signs.end())
            add(evidence(*nak));
    }

    void look(const Direction& direction, const Course& course) {
        const auto nak = std::ranges::find_if(direction.responses, &Seen::is_fatal_nak);
        if (nak != direction.responses.end())
            add(evidence(**nak));
        if (auto last = unanswered_request(course))
            add(*std::move(last));
    }

    void ends(const Logs& logs) {
        for (const auto& of_role : logs.statuses()) {
            const bool is_logged =
                std::ranges::any_of(logs.notices(), [&](const runlog::Event& event) {
                    return event.role == of_role.first && is_failed_end(event);
                });
            if (is_failed_status(of_role.second) && !is_logged)
                add(value(of_role.first, fmt::format("ended with status {}", of_role.second)));
        }
    }

    // A person or a script ends programs that run until then by these signals, or by timeout(1).
    static bool is_failed_status(std::uint64_t status) {
        constexpr std::uint64_t of_signal = 128;  // as a shell reports it
        constexpr std::uint64_t of_timeout = 124;
        return status != 0 && status != of_signal + SIGINT && status != of_signal + SIGTERM &&
               status != of_timeout;
    }
    static bool is_failed_end(const runlog::Event& event) {
        if (!event.is("process_end"))
            return false;
        const auto signal = event[key::signal];
        return is_failed_status(event[key::exit_status].value_or(0)) ||
               (signal && *signal != SIGINT && *signal != SIGTERM);
    }

    static bool is_notice_of_failure(const runlog::Event& event) {
        if (is_failed_end(event))
            return true;
        constexpr auto types =
            std::to_array<std::string_view>({"REJECTED", "UNREACHABLE", "ADDR_ERROR", "ROUTE_ERROR",
                                             "CONNECT_ERROR", "DEVICE_REMOVAL"});
        if (event.is("cm_event"))
            return std::ranges::find(types, event[key::cm_type]) != types.end();
        return event.is("async") && (event[key::async_type].find("ERR") != std::string::npos ||
                                     event[key::async_type].find("FATAL") != std::string::npos);
    }

    Explanation& out_;
};

// Merges causes of the same kind at the same place that several rules found.
void merge(Causes& causes) {
    Causes merged;
    using Known = std::set<std::tuple<std::uint64_t, std::string, std::string>>;
    std::vector<Known> evidence;  // of each merged one
    const auto is_new = [](Known& known, const Evidence& one) {
        return known.emplace(one.frame, one.role, one.text).second;
    };
    std::map<std::pair<Code, std::string>, std::vector<std::size_t>> by_kind;
    for (Cause& cause : causes) {
        std::vector<std::size_t>& indices = by_kind[{cause.code, cause.where}];
        const auto found = std::ranges::find_if(indices, [&](std::size_t index) {
            const Cause& one = merged[index];
            return one.try_this == cause.try_this || one.try_this.empty() || cause.try_this.empty();
        });
        if (found == indices.end()) {
            indices.push_back(merged.size());
            Known& known = evidence.emplace_back();
            for (const Evidence& one : cause.evidence)
                is_new(known, one);
            merged.push_back(std::move(cause));
            continue;
        }
        Cause* same = &merged[*found];
        if (cause.certainty > same->certainty) {
            same->certainty = cause.certainty;
            same->text = cause.text;
            same->excluded = std::move(cause.excluded);
            same->open = std::move(cause.open);
        }
        if (same->try_this.empty())
            same->try_this = std::move(cause.try_this);
        same->is_fatal |= cause.is_fatal;
        same->cost_ns = std::max(same->cost_ns, cause.cost_ns);
        for (Evidence& one : cause.evidence)
            if (is_new(evidence[*found], one))
                same->evidence.push_back(std::move(one));
    }
    causes = std::move(merged);
}

void shift(std::vector<Evidence>& all, const std::string& role, std::int64_t by) {
    for (Evidence& one : all)
        if (one.role == role && one.t_ns != 0)
            one.t_ns += by;
}

bool comes_first(const Cause& a, const Cause& b) {
    if (a.is_fatal != b.is_fatal)
        return a.is_fatal;
    if (a.certainty != b.certainty)
        return a.certainty > b.certainty;
    // Retransmissions repair a loss, and not data that the program has changed.
    if ((a.code == Code::BufferReused) != (b.code == Code::BufferReused))
        return a.code == Code::BufferReused;
    // Of what is possible, something worse.
    const auto is_harmless = [](const Cause& one) {
        return one.certainty == Certainty::Possible && one.code == Code::NeedlessRetransmissions;
    };
    if (is_harmless(a) != is_harmless(b))
        return is_harmless(b);
    if (a.cost_ns != b.cost_ns)
        return a.cost_ns > b.cost_ns;
    return false;
}

}  // namespace

// A sender may leave the ICRC to its adapter, so it is judged only where the packet arrived.
void Explainer::check(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                      std::uint64_t stream) {
    const auto key = flow::StreamKey::of(packet);
    checker_.add_at_one_point(frame, t_ns, packet, stream,
                              key && key->dst == place_ ? IcrcTrust::Full : IcrcTrust::None);
}

void Explainer::add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                    util::Bytes bytes, const conformance::Passing& at) {
    has_capture_ = true;
    period_.add(t_ns);
    if (!passages_)
        passages_.emplace();
    const auto key = flow::StreamKey::of(packet);
    if (at.host)
        passages_->captured(*at.host, t_ns);
    else
        passages_->captured_at_all(t_ns);
    if (!key) {
        if (at.side == conformance::LinkSide::Ingress)
            traffic_.add(frame, t_ns, packet, 0, bytes);
        return;
    }
    const auto added = checker_.add(frame, at.side, t_ns, packet, at.identity, at.trust);
    if (at.side == conformance::LinkSide::Egress) {
        arrive(frame, t_ns, packet, bytes, at, added);
    } else {
        passages_->sent(Seen::of(frame, t_ns, packet), added.stream, key->dst);
        traffic_.add(frame, t_ns, packet, added.stream, bytes);
    }
    if (traffic_.kept() >= next_)
        forget();
}

void Explainer::arrive(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                       util::Bytes bytes, const conformance::Passing& at,
                       conformance::Checker::Added added) {
    const bool is_damaged = conformance::is_damaged(packet, at.trust);
    if (added.origin != 0) {
        const std::uint64_t stream = passages_->arrived({.sent = added.origin,
                                                         .arrival = frame,
                                                         .t_ns = t_ns,
                                                         .is_damaged = is_damaged,
                                                         .is_changed = added.is_changed,
                                                         .has_twin = added.has_twin});
        if (is_damaged && stream != 0)
            traffic_.add(frame, t_ns, packet, stream, bytes);
        const Passage* passage = passages_->of(added.origin);
        const Seen seen = Seen::of(frame, t_ns, packet);
        if (!is_damaged && passage != nullptr && seen.is_marked && !passage->was_marked)
            traffic_.was_marked(seen);
        return;
    }
    // The sender's capture does not have it.
    const flow::StreamKey key = *flow::StreamKey::of(packet);
    if (added.stream == 0)
        added.stream = tracker_.add(std::chrono::nanoseconds(t_ns), packet, bytes.size());
    passages_->sent(Seen::of(frame, t_ns, packet), added.stream, key.dst);
    passages_->arrived({.sent = frame, .arrival = frame, .t_ns = t_ns, .is_damaged = is_damaged});
    traffic_.add(frame, t_ns, packet, added.stream, bytes);
}

void Explainer::forget() {
    traffic_.settle(tracker_);
    if (passages_)
        passages_->settle(false);
    const std::size_t each = most_ / traffic_.streams().size();
    const Traffic::Share share{.first = std::clamp<std::size_t>(each / 8, 2, 32),
                               .newest = std::max<std::size_t>(each / 4, 2),
                               .special = each / 8};
    const std::size_t episodes = std::max<std::size_t>(each / 16, 2);
    std::unordered_set<const Seen*> held;
    const auto hold = [&held](const Seen* seen) { held.insert(seen); };
    for (const Direction& direction : directions_of(traffic_, logs_)) {
        if (direction.stream == nullptr)
            continue;
        // A walk that has begun refers to packets, also to those of a former peer.
        if (!walks_.contains(direction.stream->number) && share.has_all(*direction.stream) &&
            (direction.back == nullptr || share.has_all(*direction.back)))
            continue;
        const auto& packets = direction.stream->packets;
        const auto window = std::min(share.newest, packets.size());
        Walk& walk = walks_[direction.stream->number];
        walk.go_on(direction);
        const auto newest = std::prev(packets.end(), static_cast<std::ptrdiff_t>(window));
        walk.forget({.frame = newest->frame, .episodes = episodes}, direction, passages(), hold);
    }
    traffic_.forget(held, share);
    if (passages_)
        passages_->forget(traffic_.frames());
    next_ = std::max(most_, 2 * traffic_.kept());
}

Explanation Explainer::explanation() {
    tracker_.finish();
    traffic_.settle(tracker_);
    if (passages_)
        passages_->settle(true);
    const Directions directions = directions_of(traffic_, logs_);
    Explanation out;
    const Offsets offsets = clock_offsets(directions);
    if (has_capture_)
        out.other_runs = other_runs(directions, logs_, offsets, period_);
    for (const auto& [role, offset] : offsets)
        logs_.shift(role, offset);
    const Progress progress(logs_);
    const Whole whole{traffic_, logs_,        link_,  directions,
                      progress, has_capture_, place_, passages()};
    std::vector<Course> courses;
    courses.reserve(directions.size());
    for (const Direction& direction : directions) {
        Walk walk;
        if (const auto begun = walks_.find(direction.stream ? direction.stream->number : 0);
            begun != walks_.end())
            walk = std::move(begun->second);
        walk.go_on(direction);
        courses.push_back(walk.finish(direction, passages()));
    }

    out.packets = traffic_.packets();
    Signs(logs_, traffic_, directions, progress, courses, out);
    Causes causes;
    explain_connection_manager(whole, causes);
    for (std::size_t i = 0; i < directions.size(); ++i) {
        const Case one{directions[i], courses[i], whole};
        out.connections += directions[i].is_reliable() ? 1 : 0;
        Causes found;
        explain_set_up(one, found);
        explain_refusal(one, found);
        explain_receiver(one, found);
        explain_silence(one, found);
        explain_recovery(one, found);
        explain_datagrams(one, found);
        explain_capture(one, found);
        explain_two_logs(one, found);
        explain_unpolled(one, found);
        exclude_alternatives(one, found);
        // Requests that the responder takes for copies are acknowledged, and not executed.
        if (one.has_succeeded())
            for (Cause& cause : found)
                cause.is_fatal = cause.code == Code::WrongPsn;
        std::ranges::move(found, std::back_inserter(causes));
    }
    explain_failed_rtr(whole, causes);
    explain_programs(whole, causes);
    explain_overruns(whole, causes);
    explain_calls(whole, causes);
    explain_missing_requests(whole, causes);
    explain_ended(whole, causes);
    explain_congestion(whole, causes);
    explain_one_path(whole, causes);
    if (has_capture_) {
        if (!passages_)
            checker_.captured_at({place_});
        explain_deviations(whole, checker_.finish(), out.has_failed, causes);
    }
    explain_cut(whole, causes);
    explain_link(whole, out.has_failed, causes);
    explain_collectives(whole, causes);
    out.is_of_both_ends = passages_.has_value();
    out.unanswered = unanswered_without_cause(whole, courses, causes);
    out.retransmissions = retransmissions_without_cause(whole, courses, causes);
    merge(causes);
    std::ranges::stable_sort(causes, comes_first);
    for (const Cause& cause : causes)
        out.has_failed |= cause.is_fatal;
    out.causes = std::move(causes);
    // A reader looks for the times of the logs.
    for (const auto& [role, offset] : offsets) {
        logs_.shift(role, -offset);
        shift(out.signs, role, -offset);
        for (Cause& cause : out.causes)
            shift(cause.evidence, role, -offset);
        for (Retransmissions& one : out.retransmissions)
            shift(one.evidence, role, -offset);
        if (std::abs(offset) > usual_clock_error_ns)
            out.clocks.push_back({role, offset});
    }
    return out;
}

}  // namespace explain
