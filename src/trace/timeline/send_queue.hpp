// What one queue pair posted, by PSN, and what became of it.
//
// Positions count on where PSNs wrap, and begin so far above 0 that what lies a little before the
// first request has one, too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runlog/event.hpp"
#include "trace/timeline/cause.hpp"
#include "trace/timeline/packet_key.hpp"
#include "trace/timeline/work_request.hpp"

namespace timeline {

class SendQueue {
  public:
    bool has_posts() const { return !posts_.empty(); }

    /// A post_send event; `number`: what its work request gets. One with PSNs behind one with
    /// offsets, or the other way round, is left out, and nullptr returned: they count from
    /// different requests.
    const WorkRequest* add(const runlog::Event& post, std::uint32_t number);

    /// Accounts a packet to the request that has its PSN; nullopt, and nothing is changed, where
    /// none has.
    std::optional<RequestPacket> account(const PacketKey& packet);

    /// True where it is known to begin with that PSN, and nothing of it has been seen.
    bool would_begin_with(std::uint32_t psn) const;
    /// True where its last request was seen, and acknowledged if anything was.
    bool is_done() const;

    /// A "wc" event. Completions of one queue come in the order of its posts (IBTA volume 1,
    /// 10.8.3.3), so one completes all before it. Logs of rocetrace number the requests of a queue;
    /// otherwise the first one with that wr_id is taken. nullptr where it is no post's.
    const WorkRequest* complete(const runlog::Event& wc);

    /// True while the posts have offsets, and none of their packets has been seen.
    bool awaits_first_packet() const { return has_posts() && base_is_ == Base::Unknown; }
    /// True while only packets behind the first one were seen; for good where the capture began
    /// there.
    bool lacks_first_packet() const { return base_is_ == Base::Behind; }
    /// The first of its packets that was seen. One that lies before it, and comes before anything
    /// is acknowledged, will take its place: it was lost before the capture and sent again.
    void begin_at(const PacketKey& first_request);
    /// True where one did: what account() said until then is wrong.
    bool was_moved() const { return was_moved_; }
    /// Begins where `other` does, and stays there.
    void begin_as(const SendQueue& other);

    template <typename Each>
    void for_each(Each each) const {
        for (const Post& post : posts_)
            each(post.request);
    }

  private:
    static constexpr std::uint64_t start = 0x1000000;
    enum class Base : std::uint8_t {
        Unknown,
        Behind,  // at a packet within a message: not the first one
        Known,
    };

    struct Post {
        std::uint64_t first;  // position of its first PSN
        WorkRequest request;
        std::optional<std::uint64_t> on_queue;  // its number on its queue pair, by the log
        std::vector<bool> sent;                 // by PSN, once one was
        std::vector<bool> answered;  // by PSN, where each answer has one of its own: READ, atomics

        std::uint64_t end() const { return first + request.packets; }
    };

    void look_for_base(const PacketKey& packet);
    Post* find(std::uint64_t position);
    std::optional<std::uint64_t> on_another_lap(std::uint64_t position);
    static Transmission note(std::vector<bool>& seen, WorkRequest& request, std::size_t index);
    static Transmission answer(Post& post, std::size_t index, std::int64_t t_ns);
    void acknowledge(std::uint64_t end, std::int64_t t_ns);

    std::vector<Post> posts_;  // `first` rises
    bool hidden_ = false;      // the posts' events have offsets
    Base base_is_ = Base::Unknown;
    bool base_is_final_ = false;  // something was acknowledged, or the posts name their PSNs
    bool was_moved_ = false;
    std::uint32_t base_ = 0;        // the PSN at position `start`
    std::uint64_t near_ = start;    // close to the traffic of the moment, to count on from
    std::size_t acknowledged_ = 0;  // as many posts, from the first
    std::size_t completed_ = 0;
};

}  // namespace timeline
