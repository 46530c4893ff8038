#include "trace/explain/logs.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace explain {
namespace {

using logged::psn;
using runlog::Event;

// Returns the request of a send completion.
std::optional<Post> post_of(const LoggedQueuePair& pair, const Completion& completion) {
    const auto found =
        completion.request
            ? pair.posts.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                       *completion.request, pair.posts.size()))
            : std::ranges::find(pair.posts, completion.wr_id, &Post::wr_id);
    return found == pair.posts.end() ? std::nullopt : std::optional(*found);
}

runlog::Sges sges_of(const Event& post) {
    const runlog::Value* value = post.find(key::sges.name);
    const auto* sges = value == nullptr ? nullptr : std::get_if<runlog::Sges>(value);
    return sges == nullptr ? runlog::Sges() : *sges;
}

// What a program does with the requests of others to connect.
constexpr auto answering_calls = std::to_array<std::string_view>(
    {"rdma_listen", "rdma_accept", "rdma_reject", "rdma_destroy_id"});

bool is_notice(const Event& event) {
    return event.is_one_of({"failed", "async", "cm_event", "error", "process_end"}) ||
           (event.is_one_of({"cm_call", "begun"}) && event[key::call] == "rdma_connect") ||
           (event.is("cm_call") &&
            std::ranges::find(answering_calls, event[key::call]) != answering_calls.end());
}

}  // namespace

std::string Post::text() const {
    std::string line = fmt::format("post_send  wr {} {} {} B", wr_id, opcode, length);
    if (rkey)
        line += fmt::format(" → va {:#x} rkey {:#010x}", remote_va, *rkey);
    if (psn_first && psn_last)
        line += fmt::format("  PSN {:#08x} to {:#08x}", *psn_first, *psn_last);
    return line;
}

std::string Completion::text() const {
    return fmt::format("wc  wr {} {}{}", wr_id, status, is_receive ? " (receive)" : "");
}

std::string LoggedQueuePair::called() const {
    return fmt::format("{}'s queue pair {:#08x}", spoken(role), qpn);
}

void LoggedQueuePair::take(const Event& event) {
    if (event.is("post_send")) {
        post(event);
    } else if (event.is("post_recv")) {
        if (receive_lengths.empty())
            first_receive_ns = event.t_ns;
        receive_lengths.push_back(event[key::len].value_or(0));
        receives_.push_back(sges_of(event));
    } else if (event.is("wc")) {
        complete(event);
    } else if (event.is("qp_state") && state == "RESET") {
        posts.clear();
        destinations.clear();
        outstanding = 0;
        receive_lengths.clear();
        receives_.clear();
        receive_times.clear();
        received = 0;
    }
}

void LoggedQueuePair::post(const Event& event) {
    const std::uint64_t number = event[key::request].value_or(posts.size());
    // If events were dropped, the missing numbers have no request.
    constexpr std::size_t most_missing = 65536;
    if (number >= posts.size() && number - posts.size() < most_missing)
        posts.resize(static_cast<std::size_t>(number));
    Post& request = posts.emplace_back();
    request.t_ns = event.t_ns;
    request.wr_id = event[key::wr_id].value_or(0);
    request.length = event[key::len].value_or(0);
    request.remote_va = event[key::remote_va].value_or(0);
    request.rkey = event[key::rkey];
    request.psn_first = psn(event, key::psn_first);
    request.psn_last = psn(event, key::psn_last);
    request.dest_qpn = event[key::dest_qpn].value_or(0);
    request.q_key = event[key::q_key];
    request.is_signaled = event[key::signaled].value_or(true);
    request.opcode = event[key::opcode];
    if (event[key::send_flags].find("INLINE") == std::string::npos)
        request.sges = sges_of(event);
    ++outstanding;
}

void LoggedQueuePair::complete(const Event& event) {
    Completion one{event.t_ns,
                   event[key::wr_id].value_or(0),
                   std::string(event[key::status]),
                   logged::is_receive(event),
                   event[key::request],
                   std::nullopt,
                   {}};
    const bool is_flushed = one.status == "WR_FLUSH_ERR";
    const bool is_unexplained =
        is_flushed && !one.is_receive && errors.empty() && !flushed && !failed_ns;
    if (is_unexplained || (one.status != "SUCCESS" && !is_flushed && !one.is_receive))
        one.post = post_of(*this, one);
    if (one.post)
        one.sges = one.post->sges;
    if (one.is_receive) {
        receive_times.push_back(event.t_ns);
        one.sges = next_receive();
        received += one.status == "SUCCESS" ? 1 : 0;
    } else {
        ++sends_done;
        last_done_ns = event.t_ns;
        for (std::size_t i = 0; one.request && i <= *one.request && i < posts.size(); ++i) {
            const std::size_t from_end = static_cast<std::size_t>(*one.request) - i;
            if (from_end >= posts.size() || posts[from_end].is_done)
                break;
            posts[from_end].is_done = true;
            posts[from_end].done_ns = event.t_ns;
            posts[from_end].sges = {};
            outstanding -= posts[from_end].opcode.empty() ? 0 : 1;
        }
    }
    if (is_unexplained)
        flushed = std::move(one);
    else if (one.status != "SUCCESS" && !is_flushed)
        errors.push_back(std::move(one));
}

runlog::Sges LoggedQueuePair::next_receive() {
    if (receives_.empty())
        return {};
    runlog::Sges sges = std::move(receives_.front());
    receives_.pop_front();
    return sges;
}

void LoggedQueuePair::shift(std::int64_t by) {
    QueuePair::shift(by);
    const auto shift_post = [by](Post& request) {
        request.t_ns += by;
        request.done_ns += request.is_done ? by : 0;
    };
    const auto shift_completion = [&](Completion& one) {
        one.t_ns += by;
        if (one.post)
            shift_post(*one.post);
    };
    std::ranges::for_each(posts, shift_post);
    std::ranges::for_each(errors, shift_completion);
    if (flushed)
        shift_completion(*flushed);
    for (std::int64_t& time : receive_times)
        time += by;
    if (first_receive_ns)
        *first_receive_ns += by;
    last_done_ns += last_done_ns == 0 ? 0 : by;
}

void Logs::shift(const std::string& role, std::int64_t by) {
    pairs_.shift(role, by);
    regions_.shift(role, by);
    collectives_.shift(role, by);
    for (Event& event : notices_)
        event.t_ns += event.role == role ? by : 0;
    for (auto& [key, timers] : timers_)
        for (auto& [timer, sent] : timers)
            timer.t_ns += key.first == role ? by : 0;
    for (auto& [key, queue] : cqs_)
        for (auto* time : {&queue.armed_ns, &queue.event_ns})
            if (*time && key.first == role)
                **time += by;
    if (const auto period = periods_.find(role); period != periods_.end())
        for (std::int64_t* time : {&period->second.begin_ns, &period->second.end_ns})
            *time += by;
}

void Logs::learn(const Event& event) {
    if (event.is("driver"))
        return learn_driver(event);
    collectives_.learn(event);
    periods_[event.role].add(event.t_ns);
    if (LoggedQueuePair* pair = pairs_.learn(event)) {
        pair->take(event);
        if (event.is("post_send"))
            learn_destination(event, *pair);
    }
    regions_.learn(event);
    if (event.is("dropped"))
        torn_.insert(event.role);
    if (beginnings_.is_missing_before(event))
        late_.insert(event.role);
    if (const logged::Device* device = devices().of(event); device != nullptr && device->host)
        hosts_.emplace(*device->host, event.role);
    else if (event.is_one_of({"cq", "req_notify", "cq_event"}))
        learn_queue(event);
    else if (const auto host =
                 event.is("ah") ? flow::host_of_gid(event[key::dest_gid]) : std::nullopt)
        handles_.insert_or_assign({event.role, event[key::object].value_or(0)}, *host);
    else if (auto told = logged::Told::of(event))
        told_.push_back(*std::move(told));
    if (const auto srq = event[key::srq]; event.is("post_recv") && srq) {
        std::uint64_t& longest = longest_receives_[{event.role, *srq}];
        longest = std::max(longest, event[key::len].value_or(0));
    }
    if (is_notice(event))
        notices_.push_back(with_state(event));
}

// Of the driver's steps, a timer is the reason of a retransmission. Of many, the first are kept.
void Logs::learn_driver(const Event& event) {
    constexpr std::size_t most = 4096;
    const auto qpn = event[key::qpn];
    if (!qpn)
        return;
    if (event[key::step] == "ack_timer" || event[key::step] == "rnr_timer") {
        auto& timers = timers_[{event.role, *qpn}];
        if (timers.size() < most)
            timers.emplace_back(event, std::nullopt);
    } else if (const auto sent = psn(event, key::psn); sent && event[key::step] == "transmit") {
        const auto timers = timers_.find({event.role, *qpn});
        if (timers != timers_.end() && !timers->second.back().second)
            timers->second.back().second = sent;
    }
}

const Event* Logs::timer_before(const std::string& role, std::uint32_t qpn, wire::Psn psn,
                                std::int64_t t_ns) const {
    const auto found = timers_.find({role, qpn});
    const Event* nearest = nullptr;
    if (found != timers_.end())
        for (const auto& [timer, sent] : found->second)
            if (sent == psn && (nearest == nullptr ||
                                std::abs(timer.t_ns - t_ns) < std::abs(nearest->t_ns - t_ns)))
                nearest = &timer;
    return nearest;
}

void Logs::learn_queue(const Event& event) {
    CompletionQueue& queue = cqs_[{event.role, event[key::cq].value_or(0)}];
    if (event.is("cq")) {
        queue = {};
        queue.entries = event[key::entries].value_or(0);
    } else if (event.is("cq_event")) {
        queue.event_ns = event.t_ns;
    } else {
        queue.armed_ns = event.t_ns;
        queue.is_solicited_only = event[key::solicited_only].value_or(false);
    }
}

void Logs::learn_destination(const Event& event, LoggedQueuePair& pair) const {
    constexpr std::size_t most = 64;
    const auto handle = handles_.find({event.role, event[key::ah].value_or(0)});
    if (handle == handles_.end() || pair.destinations.size() == most ||
        std::ranges::find(pair.destinations, handle->second, &LoggedQueuePair::Destination::host) !=
            pair.destinations.end())
        return;
    pair.destinations.push_back({handle->second, pair.posts.size() - 1});
}

// Older logs have the state of the queue pair only in its other events.
Event Logs::with_state(Event event) const {
    const auto qpn = event[key::qpn];
    const LoggedQueuePair* pair =
        event.is("failed") && event[key::call] == "ibv_post_send" && qpn && is_whole(event.role)
            ? pairs_.find(event.role, *qpn)
            : nullptr;
    if (pair == nullptr || event[key::sends_outstanding])
        return event;
    // Without requests, the log may not have the calls that post.
    if (!pair->posts.empty())
        event.fields.emplace_back(key::sends_outstanding, pair->outstanding);
    if (event[key::state].empty() && pair->made_ns)
        event.fields.emplace_back(key::state, pair->state);
    return event;
}

std::string Logs::role_at(const flow::Host& host) const {
    const auto found = hosts_.find(host);
    return found == hosts_.end() || !periods_.contains(found->second) ? std::string()
                                                                      : found->second;
}

const LoggedQueuePair* Logs::pair_at(const Event& event) const {
    const auto qpn = event[key::qpn];
    const auto all = qpn ? find(event.role, *qpn) : std::vector<const LoggedQueuePair*>();
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const LoggedQueuePair* pair) {
        return pair->made_ns.value_or(event.t_ns) <= event.t_ns;
    });
    return found == all.rend() ? nullptr : *found;
}

std::optional<std::uint64_t> Logs::longest_receive_of(const std::string& role,
                                                      std::uint64_t srq) const {
    const auto found = longest_receives_.find({role, srq});
    return found == longest_receives_.end() ? std::nullopt : std::optional(found->second);
}

Logs::CompletionQueue Logs::queue(const std::string& role, std::uint64_t cq) const {
    const auto found = cqs_.find({role, cq});
    return found == cqs_.end() ? CompletionQueue() : found->second;
}

const Event* Logs::cm_event(std::string_view type) const {
    const auto found = std::ranges::find_if(notices_, [&](const Event& event) {
        return event.is("cm_event") && event[key::cm_type] == type;
    });
    return found == notices_.end() ? nullptr : &*found;
}

bool Logs::was_ended(const std::string& role) const {
    return std::ranges::any_of(notices_, [&](const Event& event) {
        return event.role == role && event.is("process_end") &&
               (event[key::signal] || !event[key::end].empty() ||
                event[key::exit_status].value_or(0) != 0);
    });
}

std::string Logs::name_of(const flow::Host& host, flow::Network network) const {
    const auto found = hosts_.find(host);
    return found == hosts_.end() ? flow::text(host, network) : found->second;
}

std::string spoken(const std::string& name) {
    return name.starts_with("client") || name.starts_with("server") ? "the " + name : name;
}

Evidence evidence(const Event& event) {
    return {.role = event.role, .t_ns = event.t_ns, .text = runlog::to_text(event)};
}

Evidence evidence(const LoggedQueuePair& pair, const Completion& completion) {
    return {.role = pair.role, .t_ns = completion.t_ns, .text = completion.text()};
}

Evidence evidence(const LoggedQueuePair& pair, const Post& post) {
    return {.role = pair.role, .t_ns = post.t_ns, .text = post.text()};
}

Evidence value(const std::string& role, std::string text) {
    return {.role = role, .text = std::move(text)};
}

}  // namespace explain
