#include "timeline/join.hpp"

#include <algorithm>

namespace timeline {
namespace {

constexpr std::uint32_t psn_mask = 0xffffff;

// The position nearest to `reference` whose low 24 bits are `offset`: a PSN counts as ahead of the
// reference up to half the circle, as behind it beyond (IBTA volume 1, 9.7.3.1).
std::uint64_t unwrap(std::uint32_t offset, std::uint64_t reference) {
    const auto ahead = static_cast<std::uint32_t>((offset - reference) & psn_mask);
    return ahead < 0x800000 ? reference + ahead : reference + ahead - (psn_mask + 1);
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
    } else if (event.name == "qp") {
        begin_queue(key);
    } else if (event.name == "post_send") {
        if (queues_[key].empty())
            begin_queue(key);  // a log without its qp event
        queues_[key].back().add(event);
    }
}

// One that posted nothing will not any more.
void Join::begin_queue(const QpKey& key) {
    std::vector<Queue>& queues = queues_[key];
    if (queues.empty() || queues.back().has_posts())
        queues.emplace_back();
}

void Join::Queue::add(const runlog::Event& post) {
    auto first = post.number("psn_first");
    auto last = post.number("psn_last");
    const bool has_psns = first && last;
    if (!has_psns) {
        first = post.number("psn_offset_first");
        last = post.number("psn_offset_last");
    }
    // Offsets behind PSNs would count from a request that has no event with offsets.
    if (!first || !last || (has_posts() && hidden == has_psns))
        return;
    if (!has_posts()) {
        hidden = !has_psns;
        if (has_psns) {
            base = static_cast<std::uint32_t>(*first) & psn_mask;
            base_is = Base::Known;
        }
    }
    const auto offset = static_cast<std::uint32_t>(*first - (hidden ? 0 : base)) & psn_mask;
    posts.push_back({has_posts() ? unwrap(offset, posts.back().first) : start + offset,
                     static_cast<std::uint32_t>(((*last - *first) & psn_mask) + 1),
                     post.number("wr_id").value_or(0), std::string(post.text("opcode")),
                     post.t_ns});
}

std::optional<Cause> Join::cause_of(const PacketKey& packet) {
    const QpKey receiving{packet.destination, packet.dest_qpn};
    const auto early = early_.find(receiving);
    const auto [begin, end] = roles_.equal_range(packet.destination);
    for (auto it = begin; it != end; ++it) {
        const QpKey receiver{it->second, packet.dest_qpn};
        const auto peer = peers_.find(receiver);
        if (peer == peers_.end())
            continue;
        const QpKey poster =
            packet.is_response ? receiver : QpKey{other_role(receiver.first), peer->second};
        if (auto cause = find(poster, packet)) {
            cause->is_response = packet.is_response;
            if (early != early_.end() && !packet.is_response && early->second.psn == packet.psn)
                early_.erase(early);
            return cause;
        }
    }
    if (early == early_.end() && !packet.is_response)
        early_.emplace(receiving, packet);
    return std::nullopt;
}

std::optional<Cause> Join::find(const QpKey& poster, const PacketKey& packet) {
    const auto it = queues_.find(poster);
    if (it == queues_.end())
        return std::nullopt;
    const auto caused = [&](Queue& queue) -> std::optional<Cause> {
        const Post* post = queue.find(packet.psn);
        if (post == nullptr)
            return std::nullopt;
        return Cause{poster.first,
                     poster.second,
                     post->wr_id,
                     post->opcode,
                     static_cast<std::uint32_t>(queue.near - post->first + 1),
                     post->packets,
                     post->posted_ns,
                     false};
    };
    for (auto queue = it->second.rbegin(); queue != it->second.rend(); ++queue)
        if (auto cause = caused(*queue))
            return cause;
    if (packet.is_response)
        return std::nullopt;
    // A request of a queue pair that none was seen of so far; it may have passed before its events
    // came.
    const auto queue = std::ranges::find_if(it->second, [](const Queue& candidate) {
        return candidate.has_posts() && candidate.base_is != Queue::Base::Known;
    });
    if (queue == it->second.end() || queue->base_is == Queue::Base::NeverSeen)
        return std::nullopt;
    const auto early = early_.find({packet.destination, packet.dest_qpn});
    queue->begin_at(early == early_.end() ? packet : early->second);
    return caused(*queue);
}

void Join::Queue::begin_at(const PacketKey& first_request) {
    base = first_request.psn;
    base_is = first_request.starts_message ? Base::Known : Base::NeverSeen;
}

// Where there is one, `near` is left at the packet.
const Join::Post* Join::Queue::find(std::uint32_t psn) {
    if (base_is != Base::Known)
        return nullptr;
    const std::uint64_t position = unwrap((psn - base) & psn_mask, near);
    const auto after = std::ranges::upper_bound(posts, position, {}, &Post::first);
    if (after == posts.begin())
        return nullptr;
    const Post& post = *std::prev(after);
    if (position >= post.first + post.packets)
        return nullptr;
    near = position;
    return &post;
}

}  // namespace timeline
