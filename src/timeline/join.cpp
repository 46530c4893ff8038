#include "timeline/join.hpp"

#include <algorithm>

namespace timeline {
namespace {

constexpr std::uint32_t psn_mask = 0xffffff;

// The position nearest to `reference` whose low 24 bits are `psn`: a PSN counts as ahead of the
// reference up to half the circle, as behind it beyond (IBTA volume 1, 9.7.3.1).
std::uint64_t unwrap(std::uint32_t psn, std::uint64_t reference) {
    const auto ahead = static_cast<std::uint32_t>((psn - reference) & psn_mask);
    if (ahead < 0x800000)
        return reference + ahead;
    const std::uint64_t behind = 0x1000000 - ahead;
    return reference >= behind ? reference - behind : reference + ahead;
}

// A GID as the log has it, "::ffff:192.0.2.1", as the address the packets carry.
std::string address_of_gid(std::string_view gid) {
    constexpr std::string_view mapped = "::ffff:";
    if (gid.starts_with(mapped) && gid.find('.') != std::string_view::npos)
        gid.remove_prefix(mapped.size());
    return std::string(gid);
}

std::string other_role(const std::string& role) {
    return role == "server" ? "client" : "server";
}

}  // namespace

void Join::learn(const runlog::Event& event) {
    if (event.name == "device" && !event.text("gid").empty()) {
        const std::string address = address_of_gid(event.text("gid"));
        const auto [begin, end] = roles_.equal_range(address);
        if (std::none_of(begin, end, [&](const auto& entry) { return entry.second == event.role; }))
            roles_.emplace(address, event.role);
        return;
    }
    const auto qpn = event.number("qpn");
    if (!qpn)
        return;
    const QpKey key{event.role, static_cast<std::uint32_t>(*qpn)};
    if (event.name == "qp_state") {
        if (const auto peer = event.number("dest_qpn"))
            peers_[key] = static_cast<std::uint32_t>(*peer);
    } else if (event.name == "post_send") {
        const auto first = event.number("psn_first");
        const auto last = event.number("psn_last");
        if (!first || !last)
            return;
        Queue& queue = queues_[key];
        const auto packets = static_cast<std::uint32_t>(((*last - *first) & psn_mask) + 1);
        const std::uint64_t position =
            queue.posts.empty()
                ? *first
                : unwrap(static_cast<std::uint32_t>(*first), queue.posts.back().first);
        if (queue.posts.empty())
            queue.near = position;
        queue.posts.push_back({position, packets, event.number("wr_id").value_or(0),
                               std::string(event.text("opcode")), event.t_ns});
    }
}

std::optional<Cause> Join::cause_of(const PacketKey& packet) {
    const auto [begin, end] = roles_.equal_range(packet.destination);
    for (auto it = begin; it != end; ++it) {
        const QpKey receiver{it->second, packet.dest_qpn};
        const auto peer = peers_.find(receiver);
        if (peer == peers_.end())
            continue;
        const QpKey poster =
            packet.is_response ? receiver : QpKey{other_role(receiver.first), peer->second};
        if (auto cause = find(poster, packet.psn)) {
            cause->is_response = packet.is_response;
            return cause;
        }
    }
    return std::nullopt;
}

std::optional<Cause> Join::find(const QpKey& poster, std::uint32_t psn) {
    const auto it = queues_.find(poster);
    if (it == queues_.end())
        return std::nullopt;
    Queue& queue = it->second;
    const std::uint64_t position = unwrap(psn, queue.near);
    const auto after = std::ranges::upper_bound(queue.posts, position, {}, &Post::first);
    if (after == queue.posts.begin())
        return std::nullopt;
    const Post& post = *std::prev(after);
    if (position >= post.first + post.packets)
        return std::nullopt;
    queue.near = position;
    return Cause{poster.first,
                 poster.second,
                 post.wr_id,
                 post.opcode,
                 static_cast<std::uint32_t>(position - post.first + 1),
                 post.packets,
                 post.posted_ns,
                 false};
}

}  // namespace timeline
