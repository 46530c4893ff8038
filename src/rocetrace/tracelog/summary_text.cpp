#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rocetrace/tracelog/summary.hpp"
#include "util/printable.hpp"

namespace tracelog {
namespace {

std::string address(std::string_view gid) {
    return util::printable(logged::address_of(gid));
}

std::string optional_number(const char* name, std::optional<std::uint64_t> value) {
    return value ? fmt::format(", {} {}", name, *value) : "";
}

// Only for a queue with so many requests that one figure says little about it.
std::string history(std::string_view what, const Series& series, std::uint64_t requests) {
    constexpr std::uint64_t enough = 20;
    constexpr std::size_t intervals = 10;
    const auto counts = series.intervals(intervals);
    if (requests < enough || counts.size() < 2)
        return {};
    return fmt::format("    {} in each of {} parts of {:.3f} s: {}\n", what, counts.size(),
                       static_cast<double>(series.duration_ns()) / 1e9, fmt::join(counts, " "));
}

}  // namespace

std::string Summary::text_of(const PairSummary& pair) const {
    std::string out =
        fmt::format("{}: QP {:#08x} {}, {}{}", util::printable(pair.role), pair.qpn,
                    pair.type.empty() ? "of unknown type" : util::printable(pair.type),
                    util::printable(pair.state), pair.destroyed_ns ? ", destroyed" : "");
    if (pair.dest_qpn)
        out += fmt::format(", to QP {:#08x}{}{}", *pair.dest_qpn,
                           pair.dest_gid.empty() ? "" : " at ", address(pair.dest_gid));
    out += '\n';
    if (pair.path_mtu != 0)
        out += fmt::format("  path MTU {}{}{}{}{}{}\n", pair.path_mtu,
                           pair.gid.empty() ? "" : ", own GID " + address(pair.gid),
                           optional_number("timeout", pair.timeout),
                           optional_number("retry_cnt", pair.retry_cnt),
                           optional_number("rnr_retry", pair.rnr_retry),
                           optional_number("min_rnr_timer", pair.min_rnr_timer));
    if (const PairSummary* peer = pairs_.peer_of(pair);
        peer != nullptr && peer->path_mtu != pair.path_mtu)
        out += fmt::format("  the peer has path MTU {}: the two must be equal\n", peer->path_mtu);
    out += fmt::format(
        "  send queue: {} posted ({} bytes), {} completed{}, {} outstanding; at most "
        "{}{} at once\n",
        pair.posted_before + pair.posted, pair.bytes, pair.completed_before + pair.completed,
        pair.discarded != 0 ? fmt::format(", {} discarded by RESET", pair.discarded) : "",
        pair.outstanding(), pair.most_outstanding,
        pair.max_send_wr != 0 ? fmt::format(" of {}", pair.max_send_wr) : "");
    if (pair.forgotten != 0)
        out += fmt::format(
            "  {} requests were not followed to their completion: too many were outstanding\n",
            pair.forgotten);
    out += history("most requests outstanding", pair.over_time, pair.posted_before + pair.posted);
    const Depth& receives = pair.receives;
    if (receives.posted != 0)
        out += fmt::format("  receive queue: {} posted, {} used, {} left; minimum depth {} of {}\n",
                           receives.posted, receives.used, receives.left(),
                           receives.has_received ? receives.least : receives.posted, receives.most);
    out += history("fewest receives left", receives.over_time, receives.used);
    if (receives.empty_ns != 0 || (receives.empty_since && !pair.destroyed_ns))
        out +=
            fmt::format("  RNR risk: no receive was posted for {} µs{}\n", receives.empty_ns / 1000,
                        receives.empty_since ? ", and none is at the end" : "");
    for (std::size_t i = 0; i < std::min(pair.errors.size(), most_listed); ++i) {
        const Error& error = pair.errors[i];
        out += fmt::format("  {} wr {}: {}", runlog::time_of_day(error.t_ns), error.wr_id,
                           util::printable(error.status));
        if (error.request)
            out += fmt::format(": {} of {} bytes, posted {}{}",
                               util::printable(error.request->opcode), error.request->len,
                               runlog::time_of_day(error.request->t_ns), error.request->psns);
        if (error.receive_len)
            out += fmt::format(": receive of {} bytes", *error.receive_len);
        out += error.flushed != 0 ? fmt::format("; {} flushed after it\n", error.flushed) : "\n";
    }
    if (pair.errors.empty() && pair.flushed != 0)
        out += fmt::format("  {} requests flushed, none failed\n", pair.flushed);
    return out;
}

std::string Summary::text_of_memory() const {
    std::string out;
    const auto& all = regions_.all();
    for (std::size_t i = 0; i < std::min(all.size(), 4 * most_listed); ++i) {
        const logged::Region& region = all[i];
        out += fmt::format("  {}: {:#x} + {} bytes, lkey {:#010x} rkey {:#010x}, {}{}\n",
                           util::printable(region.role), region.va, region.length, region.lkey,
                           region.rkey, util::printable(region.access),
                           region.gone_ns ? ", deregistered" : "");
        if (const auto uses = uses_.find(i); uses != uses_.end())
            for (const auto& [user, count] : uses->second)
                out += fmt::format("    used by {}: {} requests\n", user, count);
    }
    if (all.size() > 4 * most_listed)
        out += fmt::format("  and {} more\n", all.size() - 4 * most_listed);
    return out;
}

std::string Summary::text() const {
    std::string out;
    std::size_t unused = 0;
    for (const PairSummary& pair : pairs_.all()) {
        const bool was_used =
            pair.posted_before + pair.posted != 0 || pair.receives.posted != 0 || pair.dest_qpn;
        unused += !was_used;
        if (was_used)
            out += text_of(pair);
    }
    if (unused != 0)
        out += fmt::format("{} queue pairs were created but not used\n", unused);
    for (const auto& [key, depth] : srqs_) {
        out += fmt::format(
            "{}: shared receive queue {}: {} posted, {} used, {} left; minimum depth {}\n",
            util::printable(key.first), key.second, depth.posted, depth.used, depth.left(),
            depth.has_received ? depth.least : depth.posted);
        out += history("fewest receives left", depth.over_time, depth.used);
    }
    if (!regions_.all().empty())
        out += "memory regions\n" + text_of_memory();
    if (failed_ != 0)
        out += fmt::format("failed calls: {}\n", failed_);
    for (const runlog::Event& failure : failures_)
        out += fmt::format("  {} {}: {} {}\n", runlog::time_of_day(failure.t_ns),
                           util::printable(failure.role), util::printable(failure[key::call]),
                           util::printable(failure[key::error]));
    if (dropped_ != 0)
        out += fmt::format(
            "{} events are missing in the log: counts of completions may be too "
            "small\n",
            dropped_);
    return out;
}

}  // namespace tracelog
