// What one queue pair posted, by PSN, and what became of it.
//
// Positions count on where PSNs wrap, and begin so far above 0 that what lies a little before the
// first request has one, too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runlog/event.hpp"
#include "timeline/packet_key.hpp"
#include "timeline/work_request.hpp"

namespace timeline {

class SendQueue {
  public:
    /// Where a packet stands among the posts.
    struct Place {
        const WorkRequest* request;  // valid until the next add()
        std::uint32_t packet;        // which of the request's PSNs, from 1
        Seen seen;
    };

    bool has_posts() const { return !posts_.empty(); }

    /// A post_send event. One with PSNs behind one with offsets, or the other way round, is left
    /// out: they count from different requests.
    void add(const runlog::Event& post);

    /// Accounts a packet to the request that has its PSN; nullopt, and nothing is changed, where
    /// none has.
    std::optional<Place> account(const PacketKey& packet);

    /// A "wc" event. Completions of one queue come in the order of its posts (IBTA volume 1,
    /// 10.8.3.3), so one completes all before it.
    void complete(const runlog::Event& wc);

    /// True while the posts have offsets, and their first packet has not been seen.
    bool awaits_first_packet() const { return has_posts() && base_is_ == Base::Unknown; }
    /// False where the capture began behind the first packet: offsets can never be placed.
    bool can_be_placed() const { return base_is_ != Base::NeverSeen; }
    void begin_at(const PacketKey& first_request);

    template <typename Each>
    void for_each(Each each) const {
        for (const Post& post : posts_)
            each(post.request);
    }

  private:
    static constexpr std::uint64_t start = 0x1000000;
    enum class Base : std::uint8_t { Unknown, Known, NeverSeen };

    struct Post {
        std::uint64_t first;  // position of its first PSN
        WorkRequest request;
        std::vector<bool> sent;      // by PSN, once one was
        std::vector<bool> answered;  // by PSN, where each answer has one of its own: READ, atomics

        std::uint64_t end() const { return first + request.packets; }
    };

    Post* find(std::uint64_t position);
    static Seen note(std::vector<bool>& seen, WorkRequest& request, std::size_t index);
    static Seen answer(Post& post, std::size_t index, std::int64_t t_ns);
    void acknowledge(std::uint64_t end, std::int64_t t_ns);

    std::vector<Post> posts_;  // `first` rises
    bool hidden_ = false;      // the posts' events have offsets
    Base base_is_ = Base::Unknown;
    std::uint32_t base_ = 0;        // the PSN at position `start`
    std::uint64_t near_ = start;    // close to the traffic of the moment, to count on from
    std::size_t acknowledged_ = 0;  // as many posts, from the first
    std::size_t completed_ = 0;
};

}  // namespace timeline
