#include "trace/logged/objects.hpp"

#include <fmt/format.h>

namespace logged {
namespace {

bool can_receive(std::string_view state) {
    return state == "RTR" || state == "RTS" || state == "SQD" || state == "SQE";
}

}  // namespace

std::optional<wire::Psn> psn(const runlog::Event& event, std::string_view key) {
    const auto value = event.number32(key);
    return value ? std::optional(wire::Psn(*value)) : std::nullopt;
}

bool is_receive(const runlog::Event& wc) {
    const auto queue = wc.text("queue");
    return queue.empty() ? wc.text("opcode").starts_with("RECV") : queue == "recv";
}

std::optional<std::int64_t> QueuePair::ack_timeout_ns() const {
    constexpr std::int64_t unit_ns = 4096;
    constexpr std::uint64_t largest = 31;
    return timeout && *timeout != 0 && *timeout <= largest ? std::optional(unit_ns << *timeout)
                                                           : std::nullopt;
}

void QueuePair::learn(const runlog::Event& event, const Devices& devices) {
    if (event.name == "qp") {
        type = event.text("type");
        pd = event.number("pd");
        srq = event.number("srq");
        send_cq = event.number("send_cq");
        recv_cq = event.number("recv_cq");
        max_send_wr = event.number("max_send_wr").value_or(0);
        made_ns = event.t_ns;
        state = "RESET";
    } else if (is_state(event)) {
        change(event, devices);
    } else if (event.name == "post_send") {
        has_posted_ = true;
    } else if (event.name == "destroyed" && event.text("what") == "qp") {
        destroyed_ns = event.t_ns;
    }
}

void QueuePair::change(const runlog::Event& event, const Devices& devices) {
    const bool could_receive = can_receive(state);
    const bool could_send = could_receive && state != "RTR";
    state = event.text("state");
    if (could_receive && !failed_ns && (state == "ERR" || state == "RESET"))
        failed_ns = event.t_ns;
    if (state == "RESET") {
        has_posted_ = false;
        return;
    }
    hides_psns |= !event.text("sq_psn").empty();
    if (state == "RTR" || (state == "RTS" && !could_receive)) {
        ready_ns = event.t_ns;
        rq_psn = psn(event, "rq_psn");
    }
    // Later, sq_psn is the PSN of the next request.
    if (state == "RTS" && !could_send && !has_posted_)
        sq_psn = psn(event, "sq_psn");
    path_mtu = event.number("path_mtu").value_or(path_mtu);
    if (const auto peer = event.number32("dest_qpn"); peer && *peer != 0)
        dest_qpn = peer;
    if (const auto key = event.number32("q_key"))
        q_key = key;
    if (const auto index = event.number("gid_index"))
        if (const Device* device = devices.find(role, *index))
            gid = device->gid;
    for (const auto& [key, member] :
         {std::pair{"dest_gid", &QueuePair::dest_gid}, {"access", &QueuePair::access}})
        if (const auto value = event.text(key); !value.empty())
            this->*member = value;
    for (const auto& [key, member] : {std::pair{"timeout", &QueuePair::timeout},
                                      {"retry_cnt", &QueuePair::retry_cnt},
                                      {"rnr_retry", &QueuePair::rnr_retry},
                                      {"min_rnr_timer", &QueuePair::min_rnr_timer},
                                      {"max_rd_atomic", &QueuePair::max_rd_atomic},
                                      {"max_dest_rd_atomic", &QueuePair::max_dest_rd_atomic}})
        if (const auto value = event.number(key))
            this->*member = value;
}

Region Region::of(const runlog::Event& event) {
    return {.role = event.role,
            .va = event.number("va").value_or(0),
            .length = event.number("len").value_or(0),
            .lkey = event.number32("lkey").value_or(0),
            .rkey = event.number32("rkey").value_or(0),
            .access = std::string(event.text("access")),
            .pd = event.number("pd"),
            .registered_ns = event.t_ns,
            .gone_ns = std::nullopt};
}

std::optional<Told> Told::of(const runlog::Event& event) {
    if (event.name != "exchange" || event.text("direction") != "received")
        return std::nullopt;
    const auto rkey = event.number32("rkey").value_or(0);
    return rkey == 0 ? std::nullopt
                     : std::optional(Told{event.role, event.number("va").value_or(0),
                                          event.number("len").value_or(0), rkey});
}

std::string Region::text() const {
    return fmt::format("memory {:#x} + {} B  rkey {:#010x}  {}", va, length, rkey, access);
}

void Regions::learn(const runlog::Event& event) {
    if (event.name == "mr" || event.name == "bind_mw")
        all_.push_back(Region::of(event));
    const bool is_freed = event.name == "destroyed" && event.text("what") == "mr";
    const auto rkey = event.name == "post_send" ? event.number32("invalidates") : std::nullopt;
    if (!is_freed && !rkey)
        return;
    for (Region& region : all_) {
        const bool is_own = region.role == event.role;
        // Not by the rkey: all regions without remote rights may have the rkey 0. A request of the
        // owner or a SEND of the peer invalidates an rkey.
        const bool is_ended =
            is_freed
                ? is_own && region.lkey == event.number32("lkey") && region.va == event.number("va")
                : region.rkey == rkey && is_own == (event.text("opcode") == "LOCAL_INV");
        if (is_ended && !region.gone_ns)
            region.gone_ns = event.t_ns;
    }
}

}  // namespace logged
