#include "trace/explain/logs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace explain {
namespace {

using runlog::Event;

std::optional<std::uint32_t> number32(const Event& event, std::string_view key) {
    const auto value = event.number(key);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::optional<wire::Psn> psn(const Event& event, std::string_view key) {
    const auto value = number32(event, key);
    return value ? std::optional(wire::Psn(*value)) : std::nullopt;
}

bool flag(const Event& event, std::string_view key, bool otherwise) {
    for (const auto& field : event.fields)
        if (field.key == key)
            if (const bool* value = std::get_if<bool>(&field.value))
                return *value;
    return otherwise;
}

// Returns the request of a send completion.
std::optional<Post> post_of(const LoggedQueuePair& pair, const Completion& completion) {
    const auto found =
        completion.request
            ? pair.posts.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                       *completion.request, pair.posts.size()))
            : std::ranges::find(pair.posts, completion.wr_id, &Post::wr_id);
    return found == pair.posts.end() ? std::nullopt : std::optional(*found);
}

bool is_notice(const Event& event) {
    constexpr auto names =
        std::to_array<std::string_view>({"failed", "async", "cm_event", "error", "process_end"});
    return std::ranges::find(names, event.name) != names.end() ||
           (event.name == "cm_call" && event.text("call") == "rdma_connect");
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

std::optional<std::int64_t> LoggedQueuePair::ack_timeout_ns() const {
    constexpr std::int64_t unit_ns = 4096;
    constexpr std::uint64_t largest = 31;
    return timeout && *timeout != 0 && *timeout <= largest ? std::optional(unit_ns << *timeout)
                                                           : std::nullopt;
}

std::string LoggedQueuePair::called() const {
    return fmt::format("{}'s queue pair {:#08x}", spoken(role), qpn);
}

std::string Region::text() const {
    return fmt::format("memory {:#x} + {} B  rkey {:#010x}  {}", va, length, rkey, access);
}

void Logs::learn(const Event& event) {
    std::int64_t& end = ends_.try_emplace(event.role, event.t_ns).first->second;
    end = std::max(end, event.t_ns);
    if (event.name == "post_send" || event.name == "post_recv")
        post(event);
    else if (event.name == "wc")
        complete(event);
    else if (event.name == "qp")
        make(event);
    else if (event.name == "qp_state")
        change(event);
    else if (event.name == "destroyed")
        destroy(event);
    else if (event.name == "device")
        device(event);
    else if (event.name == "mr" || event.name == "bind_mw")
        region(event);
    else if (event.name == "cq")
        cqs_[{event.role, event.number("cq").value_or(0)}] = event.number("entries").value_or(0);
    else if (event.name == "dropped")
        torn_[event.role] = true;
    else if (event.name == "exchange" && event.text("direction") == "received" &&
             event.number("rkey"))
        told_.push_back({event.role, event.number("va").value_or(0),
                         event.number("len").value_or(0), *number32(event, "rkey")});
    if (is_notice(event))
        notices_.push_back(event);
}

std::string Logs::role_at(const flow::Host& host) const {
    const auto found = hosts_.find(host);
    return found == hosts_.end() || !ends_.contains(found->second) ? std::string() : found->second;
}

std::vector<const LoggedQueuePair*> Logs::find(const std::string& role, std::uint32_t qpn) const {
    std::vector<const LoggedQueuePair*> found;
    for (const LoggedQueuePair& pair : pairs_)
        if (pair.role == role && pair.qpn == qpn)
            found.push_back(&pair);
    return found;
}

std::uint64_t Logs::entries_of(const std::string& role, std::uint64_t cq) const {
    const auto found = cqs_.find({role, cq});
    return found == cqs_.end() ? 0 : found->second;
}

std::string Logs::gid_of(const std::string& role, std::optional<std::uint64_t> index) const {
    const auto found = gids_.find({role, index.value_or(0)});
    return !index || found == gids_.end() ? std::string() : found->second;
}

std::uint64_t Logs::path_mtu_of(const std::string& role) const {
    const auto found = path_mtus_.find(role);
    return found == path_mtus_.end() ? 0 : found->second;
}

LoggedQueuePair* Logs::present(const Event& event) {
    const auto qpn = event.number("qpn");
    if (!qpn)
        return nullptr;
    const auto known = by_qpn_.find({event.role, *qpn});
    return known == by_qpn_.end() ? nullptr : &pairs_[known->second];
}

void Logs::make(const Event& event) {
    const auto qpn = number32(event, "qpn");
    if (!qpn)
        return;
    by_qpn_[{event.role, *qpn}] = pairs_.size();
    LoggedQueuePair& pair = pairs_.emplace_back();
    pair.role = event.role;
    pair.qpn = *qpn;
    pair.type = event.text("type");
    pair.pd = event.number("pd");
    pair.send_cq = event.number("send_cq");
    pair.recv_cq = event.number("recv_cq");
    pair.max_send_wr = event.number("max_send_wr").value_or(0);
    pair.has_srq = event.number("srq").has_value();
    pair.made_ns = event.t_ns;
    pair.state = "RESET";
}

void Logs::change(const Event& event) {
    LoggedQueuePair* pair = present(event);
    if (pair == nullptr) {
        make(event);
        pair = present(event);
        if (pair == nullptr)
            return;
        pair->made_ns.reset();
    }
    const auto state = event.text("state");
    const bool could_receive = pair->ready_ns.has_value();
    const bool could_send = could_receive && pair->state != "RTR";
    pair->state = state;
    if (state == "ERR" || state == "RESET") {
        if (could_receive && !pair->failed_ns)
            pair->failed_ns = event.t_ns;
        if (state == "RESET") {
            pair->posts.clear();
            pair->receive_lengths.clear();
            pair->receive_times.clear();
        }
        return;
    }
    if (state == "RTR" || (state == "RTS" && !could_receive)) {
        pair->ready_ns = event.t_ns;
        pair->rq_psn = psn(event, "rq_psn");
    }
    if (state == "RTS" && !could_send)
        pair->sq_psn = psn(event, "sq_psn");
    if (const auto qpn = number32(event, "dest_qpn"); qpn && *qpn != 0)
        pair->dest_qpn = qpn;
    pair->path_mtu = event.number("path_mtu").value_or(pair->path_mtu);
    if (const auto key = number32(event, "q_key"))
        pair->q_key = key;
    if (!event.text("dest_gid").empty())
        pair->dest_gid = event.text("dest_gid");
    if (!event.text("access").empty())
        pair->access = event.text("access");
    if (const auto index = event.number("gid_index"))
        if (const auto gid = gids_.find({event.role, *index}); gid != gids_.end())
            pair->gid = gid->second;
    for (const auto& [key, member] : {std::pair{"timeout", &LoggedQueuePair::timeout},
                                      {"retry_cnt", &LoggedQueuePair::retry_cnt},
                                      {"rnr_retry", &LoggedQueuePair::rnr_retry},
                                      {"max_rd_atomic", &LoggedQueuePair::max_rd_atomic},
                                      {"max_dest_rd_atomic", &LoggedQueuePair::max_dest_rd_atomic}})
        if (const auto read = event.number(key))
            pair->*member = read;
}

void Logs::post(const Event& event) {
    LoggedQueuePair* pair = present(event);
    if (pair == nullptr)
        return;
    if (event.name == "post_recv") {
        pair->receive_lengths.push_back(event.number("len").value_or(0));
        return;
    }
    const std::uint64_t number = event.number("request").value_or(pair->posts.size());
    // If events were dropped, the missing numbers have no request.
    constexpr std::size_t most_missing = 65536;
    if (number >= pair->posts.size() && number - pair->posts.size() < most_missing)
        pair->posts.resize(static_cast<std::size_t>(number));
    Post& request = pair->posts.emplace_back();
    request.t_ns = event.t_ns;
    request.wr_id = event.number("wr_id").value_or(0);
    request.length = event.number("len").value_or(0);
    request.remote_va = event.number("remote_va").value_or(0);
    request.rkey = number32(event, "rkey");
    request.psn_first = psn(event, "psn_first");
    request.psn_last = psn(event, "psn_last");
    request.dest_qpn = number32(event, "dest_qpn").value_or(0);
    request.q_key = number32(event, "q_key");
    request.is_signaled = flag(event, "signaled", true);
    request.opcode = event.text("opcode");
    if (const auto key = number32(event, "invalidates"))
        invalidate(event, *key);
}

// By a SEND of the peer, or by a request of the region's owner.
void Logs::invalidate(const Event& event, std::uint32_t rkey) {
    const bool is_own = event.text("opcode") == "LOCAL_INV";
    for (Region& region : regions_)
        if (region.rkey == rkey && (region.role == event.role) == is_own && !region.gone_ns)
            region.gone_ns = event.t_ns;
}

void Logs::complete(const Event& event) {
    LoggedQueuePair* pair = present(event);
    if (pair == nullptr)
        return;
    Completion one{event.t_ns,
                   event.number("wr_id").value_or(0),
                   std::string(event.text("status")),
                   event.text("queue") == "recv",
                   event.number("request"),
                   std::nullopt};
    if (event.text("queue").empty())
        one.is_receive = event.text("opcode").starts_with("RECV");
    if (one.is_receive) {
        pair->receive_times.push_back(event.t_ns);
    } else {
        ++pair->sends_done;
        for (std::size_t i = 0; one.request && i <= *one.request && i < pair->posts.size(); ++i) {
            const std::size_t from_end = static_cast<std::size_t>(*one.request) - i;
            if (from_end >= pair->posts.size() || pair->posts[from_end].is_done)
                break;
            pair->posts[from_end].is_done = true;
        }
    }
    if (one.status == "SUCCESS" || one.status == "WR_FLUSH_ERR")
        return;
    if (!one.is_receive)
        one.post = post_of(*pair, one);
    pair->errors.push_back(std::move(one));
}

void Logs::destroy(const Event& event) {
    if (event.text("what") == "qp") {
        if (LoggedQueuePair* pair = present(event))
            pair->destroyed_ns = event.t_ns;
    } else if (event.text("what") == "mr") {
        for (Region& region : regions_)
            if (region.role == event.role && !region.gone_ns &&
                region.rkey == number32(event, "rkey").value_or(0) &&
                region.va == event.number("va").value_or(0))
                region.gone_ns = event.t_ns;
    }
}

void Logs::device(const Event& event) {
    const auto host = flow::host_of_gid(event.text("gid"));
    if (!host)
        return;
    hosts_.emplace(*host, event.role);
    path_mtus_[event.role] = event.number("path_mtu").value_or(0);
    gids_[{event.role, event.number("gid_index").value_or(0)}] = event.text("gid");
}

void Logs::region(const Event& event) {
    Region& one = regions_.emplace_back();
    one.role = event.role;
    one.va = event.number("va").value_or(0);
    one.length = event.number("len").value_or(0);
    one.rkey = number32(event, "rkey").value_or(0);
    one.access = event.text("access");
    one.pd = event.number("pd");
    one.registered_ns = event.t_ns;
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
