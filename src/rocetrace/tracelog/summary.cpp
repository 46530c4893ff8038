#include "rocetrace/tracelog/summary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/printable.hpp"

namespace tracelog {
namespace {

using runlog::Event;

std::string psns_of(const Event& post) {
    const auto first = post[key::psn_first];
    const auto last = post[key::psn_last];
    return first && last ? fmt::format(", PSN {:#08x} to {:#08x}", *first, *last) : "";
}

}  // namespace

void Summary::Depth::post(std::int64_t t_ns) {
    ++posted;
    most = std::max(most, left());
    if (empty_since) {
        empty_ns += t_ns - *empty_since;
        empty_since.reset();
    }
    over_time.add(t_ns, left());
}

void Summary::Depth::use(std::int64_t t_ns, bool by_message) {
    used += static_cast<std::uint64_t>(left() != 0);
    over_time.add(t_ns, left());
    if (!by_message)
        return;
    const std::uint64_t depth = left();
    least = has_received ? std::min(least, depth) : depth;
    has_received = true;
    if (depth == 0 && !empty_since)
        empty_since = t_ns;
}

void Summary::add_memory(const Event& event) {
    if (event.is_one_of({"mr", "destroyed"}))
        regions_.learn(event);
}

void Summary::add(const Event& event) {
    const auto srq = event[key::srq];
    if (PairSummary* pair = pairs_.learn(event))
        take(*pair, event);
    else if (event.is("post_recv") && srq)
        srqs_[{event.role, *srq}].post(event.t_ns);
    else if (event.is("dropped"))
        dropped_ += event[key::records].value_or(0);
    if (event.is("failed") && ++failed_ <= most_listed)
        failures_.push_back(event);
}

void Summary::take(PairSummary& pair, const Event& event) {
    if (event.is_one_of({"post_send", "bind_mw"})) {
        post_send(pair, event);
    } else if (event.is("post_recv")) {
        pair.receives.post(event.t_ns);
        pair.receive_lens.push_back(event[key::len].value_or(0));
    } else if (event.is("wc")) {
        complete(pair, event);
    } else if (event.is("qp_state") && pair.state == "RESET") {
        reset(pair, event.t_ns);
    } else if (event.is("destroyed")) {
        pair.forgotten = event[key::forgotten].value_or(0);
        // Exact, even if events were dropped.
        pair.posted = event[key::sends_posted].value_or(pair.posted);
        if (const auto left = event[key::sends_outstanding])
            pair.completed = pair.posted - std::min(*left, pair.posted);
    }
}

// The numbers of its requests begin at 0 again.
void Summary::reset(PairSummary& pair, std::int64_t t_ns) {
    pair.discarded += pair.outstanding();
    pair.posted_before += pair.posted;
    pair.completed_before += pair.completed;
    pair.requests.clear();
    pair.first = pair.posted = pair.completed = 0;
    pair.over_time.add(t_ns, 0);
    pair.receives.discarded += pair.receives.left();
    pair.receives.empty_since.reset();
    pair.receive_lens.clear();
}

void Summary::post_send(PairSummary& pair, const Event& event) {
    const std::uint64_t number = event[key::request].value_or(pair.posted);
    // If events were dropped, the numbers in between get an empty request.
    if (pair.requests.empty())
        pair.first = number;
    while (pair.first + pair.requests.size() < number)
        pair.requests.emplace_back();
    // The length of a window, or of a range to flush, is none of data.
    const bool is_bind = event.is("bind_mw"), is_flush = event[key::opcode] == "FLUSH";
    const std::uint64_t length = is_bind || is_flush ? 0 : event[key::len].value_or(0);
    pair.requests.push_back({event[key::wr_id].value_or(0),
                             is_bind ? "BIND_MW" : std::string(event[key::opcode]), length,
                             event.t_ns, psns_of(event)});
    pair.posted = number + 1;
    pair.bytes += length;
    pair.most_outstanding = std::max(pair.most_outstanding, pair.outstanding());
    pair.over_time.add(event.t_ns, pair.outstanding());
    use_memory(event);
}

// Finds the region that the rkey names, of the other end (or of the same, for a connection within
// a log). If several had the number in turn, the last one counts.
void Summary::use_memory(const Event& event) {
    const auto rkey = event[key::rkey];
    const auto va = event[key::remote_va];
    if (!rkey || !va)
        return;
    const auto& all = regions_.all();
    std::size_t found = all.size();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].rkey == *rkey && all[i].has(*va, std::min<std::uint64_t>(all[i].length, 1)) &&
            (found == all.size() || all[i].role != event.role))
            found = i;
    if (found != all.size())
        ++uses_[found][fmt::format("QP {:#08x} of {}", event[key::qpn].value_or(0),
                                   util::printable(event.role))];
}

void Summary::complete(PairSummary& pair, const Event& event) {
    const bool is_recv = logged::is_receive(event);
    const auto status = event[key::status];
    const bool succeeded = status == "SUCCESS";
    if (is_recv && pair.srq)
        srqs_[{event.role, *pair.srq}].use(event.t_ns, succeeded);
    else if (is_recv)
        pair.receives.use(event.t_ns, succeeded);
    if (status == "WR_FLUSH_ERR") {
        ++pair.flushed;
        if (!pair.errors.empty())
            ++pair.errors.back().flushed;
    } else if (!succeeded) {
        fail(pair, event);
    }
    const auto number = event[key::request];
    if (is_recv || !number || *number < pair.completed)
        return;
    pair.completed = *number + 1;
    pair.posted = std::max(pair.posted, pair.completed);
    pair.over_time.add(event.t_ns, pair.outstanding());
    const auto done = std::min<std::uint64_t>(
        pair.requests.size(), pair.completed > pair.first ? pair.completed - pair.first : 0);
    pair.requests.erase(pair.requests.begin(),
                        pair.requests.begin() + static_cast<std::ptrdiff_t>(done));
    pair.first += done;
}

void Summary::fail(PairSummary& pair, const Event& event) {
    Error error{event.t_ns,
                event[key::wr_id].value_or(0),
                std::string(event[key::status]),
                std::string(event[key::queue]),
                std::nullopt,
                std::nullopt,
                0};
    const auto number = event[key::request];
    if (error.queue == "recv" && number && *number < pair.receive_lens.size())
        error.receive_len = pair.receive_lens[static_cast<std::size_t>(*number)];
    if (error.queue != "recv" && number && *number >= pair.first &&
        *number - pair.first < pair.requests.size())
        error.request = pair.requests[static_cast<std::size_t>(*number - pair.first)];
    pair.errors.push_back(std::move(error));
}

}  // namespace tracelog
