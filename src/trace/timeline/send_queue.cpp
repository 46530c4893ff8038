#include "trace/timeline/send_queue.hpp"

#include <algorithm>
#include <utility>

#include "trace/logged/objects.hpp"

namespace timeline {

namespace key = runlog::key;

namespace {

constexpr std::uint32_t psn_mask = wire::Psn::mask;

// Returns whether each PSN has its own response; other requests are acknowledged up to a PSN.
bool has_responses(std::string_view opcode) {
    return opcode == "RDMA_READ" || opcode.starts_with("ATOMIC");
}

}  // namespace

const WorkRequest* SendQueue::add(const runlog::Event& post, std::uint32_t number,
                                  const std::optional<logged::Chunk>& chunk) {
    auto first = post[key::psn_first];
    auto last = post[key::psn_last];
    const bool has_psns = first && last;
    if (!has_psns) {
        first = post[key::psn_offset_first];
        last = post[key::psn_offset_last];
    }
    if (!first || !last || (has_posts() && hidden_ == has_psns))
        return nullptr;
    if (!has_posts()) {
        hidden_ = !has_psns;
        if (has_psns) {
            base_ = static_cast<std::uint32_t>(*first) & psn_mask;
            base_is_ = Base::Known;
            base_is_final_ = true;
        }
    }
    const wire::Psn offset(static_cast<std::uint32_t>(*first - (hidden_ ? 0 : base_)));
    Post added{};
    added.first = has_posts() ? wire::extend(offset, posts_.back().first) : offset.value();
    WorkRequest& request = added.request;
    added.on_queue = post[key::request];
    request.number = number;
    request.role = post.role;
    request.qpn = post[key::qpn].value_or(0);
    request.wr_id = post[key::wr_id].value_or(0);
    request.opcode = post[key::opcode];
    request.length = post[key::len].value_or(0);
    request.packets = static_cast<std::uint32_t>(((*last - *first) & psn_mask) + 1);
    if (has_psns)
        request.psn_first = wire::Psn(static_cast<std::uint32_t>(*first));
    request.chunk = chunk;
    request.posted_ns = post.t_ns;
    return &posts_.emplace_back(std::move(added)).request;
}

bool SendQueue::would_begin_with(std::uint32_t psn) const {
    return has_posts() && base_is_ == Base::Known && base_ == psn &&
           std::ranges::all_of(posts_, [](const Post& post) { return post.request.sent == 0; });
}

bool SendQueue::is_done() const {
    return has_posts() && posts_.back().request.sent > 0 &&
           (acknowledged_ == 0 || acknowledged_ == posts_.size());
}

void SendQueue::begin_at(const PacketKey& first_request) {
    base_ = first_request.psn;
    base_is_ = first_request.starts_message ? Base::Known : Base::Behind;
}

void SendQueue::begin_as(const SendQueue& other) {
    base_ = other.base_;
    base_is_ = other.base_is_;
    base_is_final_ = true;
}

// Requests are acknowledged in order. A NAK decides nothing: only the packet that it asks for shows
// whether it is the first one.
void SendQueue::look_for_base(const PacketKey& packet) {
    constexpr std::uint64_t most_lost = 1024;
    const auto posted = static_cast<std::uint64_t>(posts_.back().end());  // PSNs
    const std::uint32_t ahead = (packet.psn - base_) & psn_mask;
    const std::uint32_t behind = (base_ - packet.psn) & psn_mask;
    if (packet.is_response) {
        base_is_final_ = !packet.is_nak && ahead < posted;
    } else if (behind != 0 && behind < std::min(posted, most_lost)) {
        begin_at(packet);
        was_moved_ = true;
    }
}

// A capture may begin many wraps of the PSN after the log.
std::optional<wire::ExtendedPsn> SendQueue::on_another_lap(wire::ExtendedPsn position) {
    constexpr wire::ExtendedPsn lap = psn_mask + 1;
    for (wire::ExtendedPsn at = position % lap; at < posts_.back().end(); at += lap)
        if (at != position && find(at) != nullptr)
            return at;
    return std::nullopt;
}

SendQueue::Post* SendQueue::find(wire::ExtendedPsn position) {
    const auto after = std::ranges::upper_bound(posts_, position, {}, &Post::first);
    if (after == posts_.begin())
        return nullptr;
    Post& post = *std::prev(after);
    return position < post.end() ? &post : nullptr;
}

Transmission SendQueue::note(std::vector<bool>& seen, WorkRequest& request, std::size_t index) {
    if (seen.size() <= index) {
        seen.resize(index + 1);
        seen[index] = true;
        return Transmission::First;
    }
    const bool again = seen[index];
    seen[index] = true;
    request.repeats += again;
    return again ? Transmission::Again : Transmission::Late;
}

Transmission SendQueue::answer(Post& post, std::size_t index, std::int64_t t_ns) {
    if (index + 1 == post.request.packets && !post.request.acknowledged_ns)
        post.request.acknowledged_ns = t_ns;
    return note(post.answered, post.request, index);
}

std::optional<RequestPacket> SendQueue::account(const PacketKey& packet) {
    if (base_is_ != Base::Unknown && !base_is_final_)
        look_for_base(packet);
    if (base_is_ != Base::Known)
        return std::nullopt;
    wire::ExtendedPsn position = wire::extend(wire::Psn(packet.psn - base_), near_);
    Post* post = find(position);
    if (post == nullptr)
        if (const auto elsewhere = on_another_lap(position)) {
            position = *elsewhere;
            post = find(position);
        }
    if (post == nullptr)
        return std::nullopt;
    near_ = position;
    WorkRequest& request = post->request;
    const auto index = static_cast<std::size_t>(position - post->first);
    Transmission seen = Transmission::First;
    if (packet.is_response) {
        ++request.answers;
        request.naks += packet.is_nak;
        if (has_responses(request.opcode) && !packet.is_nak)
            seen = answer(*post, index, packet.t_ns);
        // A NAK acknowledges all PSNs before it (IBTA volume 1, 9.7.5.1.1).
        acknowledge(packet.is_nak ? position : position + 1, packet.t_ns);
    } else {
        ++request.sent;
        if (!request.first_seen_ns)
            request.first_seen_ns = packet.t_ns;
        // A retransmitted READ request begins where the responses stopped.
        if (!has_responses(request.opcode))
            seen = note(post->sent, request, index);
        else if (request.sent > 1)
            ++request.repeats, seen = Transmission::Again;
    }
    return RequestPacket{&request, static_cast<std::uint32_t>(index + 1), packet.is_response, seen};
}

// Acknowledges all posts that end at `end` or before. A READ is done only after its last response.
void SendQueue::acknowledge(wire::ExtendedPsn end, std::int64_t t_ns) {
    for (; acknowledged_ < posts_.size() && posts_[acknowledged_].end() <= end; ++acknowledged_) {
        WorkRequest& request = posts_[acknowledged_].request;
        if (!request.acknowledged_ns && !has_responses(request.opcode))
            request.acknowledged_ns = t_ns;
    }
}

const WorkRequest* SendQueue::complete(const runlog::Event& wc) {
    const auto wr_id = wc[key::wr_id];
    const auto on_queue = wc[key::request];
    if (!wr_id || logged::is_receive(wc))
        return nullptr;
    for (std::size_t i = completed_; i < posts_.size(); ++i) {
        WorkRequest& request = posts_[i].request;
        const bool is_it = on_queue && posts_[i].on_queue
                               ? *on_queue == *posts_[i].on_queue
                               : request.wr_id == *wr_id && request.posted_ns <= wc.t_ns;
        if (!is_it)
            continue;
        request.completed_ns = wc.t_ns;
        request.status = wc[key::status];
        completed_ = i + 1;
        return &request;
    }
    return nullptr;
}

}  // namespace timeline
