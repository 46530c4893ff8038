#include "trace/logged/objects.hpp"

#include <fmt/format.h>

namespace logged {
namespace {

bool can_receive(std::string_view state) {
    return state == "RTR" || state == "RTS" || state == "SQD" || state == "SQE";
}

}  // namespace

std::optional<wire::Psn> psn(const runlog::Event& event, const runlog::Number32Key& key) {
    const auto value = event[key];
    return value ? std::optional(wire::Psn(*value)) : std::nullopt;
}

bool is_receive(const runlog::Event& wc) {
    const auto queue = wc[key::queue];
    return queue.empty() ? wc[key::opcode].starts_with("RECV") : queue == "recv";
}

std::optional<std::int64_t> QueuePair::ack_timeout_ns() const {
    constexpr std::int64_t unit_ns = 4096;
    constexpr std::uint64_t largest = 31;
    return timeout && *timeout != 0 && *timeout <= largest ? std::optional(unit_ns << *timeout)
                                                           : std::nullopt;
}

void QueuePair::learn(const runlog::Event& event, const Devices& devices) {
    if (event.is("qp")) {
        type = event[key::type];
        pd = event[key::pd];
        srq = event[key::srq];
        send_cq = event[key::send_cq];
        recv_cq = event[key::recv_cq];
        max_send_wr = event[key::max_send_wr].value_or(0);
        max_recv_wr = event[key::max_recv_wr].value_or(0);
        // ibv_open_qp does not tell the sizes: they are all 0 then.
        if (max_send_wr != 0) {
            max_send_sge = event[key::max_send_sge];
            max_inline_data = event[key::max_inline_data];
        }
        if (max_recv_wr != 0)
            max_recv_sge = event[key::max_recv_sge];
        made_ns = event.t_ns;
        state = "RESET";
    } else if (is_state(event)) {
        change(event, devices);
    } else if (event.is("post_send")) {
        has_posted_ = true;
    } else if (event.is("destroyed") && event[key::what] == "qp") {
        destroyed_ns = event.t_ns;
    }
}

void QueuePair::change(const runlog::Event& event, const Devices& devices) {
    const bool could_receive = can_receive(state);
    const bool could_send = could_receive && state != "RTR";
    state = event[key::state];
    if (could_receive && !failed_ns && (state == "ERR" || state == "RESET"))
        failed_ns = event.t_ns;
    if (state == "RESET") {
        has_posted_ = false;
        return;
    }
    hides_psns |= !event.hidden(key::sq_psn).empty();
    if (state == "RTR" || (state == "RTS" && !could_receive)) {
        ready_ns = event.t_ns;
        rq_psn = psn(event, key::rq_psn);
    }
    // Later, sq_psn is the PSN of the next request.
    if (state == "RTS" && !could_send && !has_posted_)
        sq_psn = psn(event, key::sq_psn);
    path_mtu = event[key::path_mtu].value_or(path_mtu);
    if (const auto peer = event[key::dest_qpn]; peer && *peer != 0)
        dest_qpn = peer;
    if (const auto now = event[key::q_key])
        q_key = now;
    if (const auto index = event[key::gid_index])
        if (const Device* device = devices.find(role, *index))
            gid = device->gid;
    if (const auto now = event[key::dest_gid]; !now.empty())
        dest_gid = now;
    if (const auto now = event[key::access]; !now.empty())
        access = now;
    for (const auto& [name, member] : {std::pair{key::timeout, &QueuePair::timeout},
                                       {key::retry_cnt, &QueuePair::retry_cnt},
                                       {key::rnr_retry, &QueuePair::rnr_retry},
                                       {key::min_rnr_timer, &QueuePair::min_rnr_timer},
                                       {key::max_rd_atomic, &QueuePair::max_rd_atomic},
                                       {key::max_dest_rd_atomic, &QueuePair::max_dest_rd_atomic}})
        if (const auto now = event[name])
            this->*member = now;
}

void QueuePair::shift(std::int64_t by) {
    for (auto* time : {&made_ns, &ready_ns, &failed_ns, &destroyed_ns})
        if (*time)
            **time += by;
}

Region Region::of(const runlog::Event& event) {
    return {.role = event.role,
            .va = event[key::va].value_or(0),
            .length = event[key::len].value_or(0),
            .lkey = event[key::lkey].value_or(0),
            .rkey = event[key::rkey].value_or(0),
            .access = std::string(event[key::access]),
            .pd = event[key::pd],
            .registered_ns = event.t_ns,
            .gone_ns = std::nullopt};
}

std::optional<Told> Told::of(const runlog::Event& event) {
    if (!event.is("exchange") || event[key::direction] != "received")
        return std::nullopt;
    const auto rkey = event[key::rkey].value_or(0);
    return rkey == 0 ? std::nullopt
                     : std::optional(Told{event.role, event[key::va].value_or(0),
                                          event[key::len].value_or(0), rkey});
}

std::string Region::text() const {
    return fmt::format("memory {:#x} + {} B  rkey {:#010x}  {}", va, length, rkey, access);
}

std::string Region::local_text() const {
    return fmt::format("memory {:#x} + {} B  lkey {:#010x}  {}", va, length, lkey, access);
}

void Regions::end(Indices& regions, std::int64_t t_ns) {
    for (const std::size_t index : regions)
        if (!all_[index].gone_ns)
            all_[index].gone_ns = t_ns;
    regions.clear();
}

void Regions::learn(const runlog::Event& event) {
    if (event.is_one_of({"mr", "bind_mw"})) {
        const Region made = Region::of(event);
        // A window has one rkey at a time, of which only the lowest 8 bits change when it is bound anew.
        Indices& same_window = windows_[{made.rkey >> 8U, made.role}];
        if (event.is("bind_mw") && made.rkey != 0)
            end(same_window, event.t_ns);
        if (made.lkey == 0)
            same_window.push_back(all_.size());
        by_rkey_[{made.rkey, made.role}].push_back(all_.size());
        by_memory_[{made.role, made.lkey, made.va}].push_back(all_.size());
        all_.push_back(made);
    }
    // Not by the rkey: all regions without remote rights may have the rkey 0.
    const auto lkey = event[key::lkey];
    const auto va = event[key::va];
    if (event.is("destroyed") && event[key::what] == "mr" && lkey && va)
        end(by_memory_[{event.role, *lkey, *va}], event.t_ns);
    // A request of the owner or a SEND of the peer invalidates an rkey.
    const auto rkey = event.is("post_send") ? event[key::invalidates] : std::nullopt;
    if (!rkey)
        return;
    const bool is_by_owner = event[key::opcode] == "LOCAL_INV";
    for (auto at = by_rkey_.lower_bound({*rkey, {}});
         at != by_rkey_.end() && at->first.first == *rkey; ++at)
        if ((at->first.second == event.role) == is_by_owner)
            end(at->second, event.t_ns);
}

void Regions::shift(const std::string& role, std::int64_t by) {
    for (Region& region : all_) {
        if (region.role != role)
            continue;
        region.registered_ns += by;
        if (region.gone_ns)
            *region.gone_ns += by;
    }
}

bool Beginnings::is_missing_before(const runlog::Event& event) {
    const auto is_unmade = [&](Kind kind, std::optional<std::uint64_t> number) {
        return number && !made_.contains({{event.role, 0}, Kind::Process}) &&
               !made_.contains({{event.role, *number}, kind});
    };
    if (event.is("process"))
        made_.insert({{event.role, 0}, Kind::Process});
    else if (event.is("pd"))
        made_.insert({{event.role, event[key::handle].value_or(0)}, Kind::Pd});
    else if (event.is("qp"))
        made_.insert({{event.role, event[key::qpn].value_or(0)}, Kind::QueuePair});
    if (event.is_one_of({"mr", "qp"}))
        return is_unmade(Kind::Pd, event[key::pd]);
    if (event.is_one_of({"qp_state", "post_send", "post_recv"}))
        return is_unmade(Kind::QueuePair, event[key::qpn]);
    return event.is("destroyed") &&
           (is_unmade(Kind::QueuePair, event[key::qpn]) ||
            (event[key::what] == "pd" && is_unmade(Kind::Pd, event[key::handle])));
}

}  // namespace logged
