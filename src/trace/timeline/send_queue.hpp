// The send requests of one queue pair by PSN, with their packets and completions.
//
// A position is an extended PSN: 0 is the first PSN of the first request that was posted, or, if the
// events have offsets, that of offset 0.
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

    /// A post_send event; `number` becomes the number of its work request, and `chunk` what it
    /// carries of a collective. Returns nullptr and ignores the event if it has PSNs and earlier
    /// ones have offsets, or the other way round: these count from different requests.
    const WorkRequest* add(const runlog::Event& post, std::uint32_t number,
                           const std::optional<logged::Chunk>& chunk = {});

    /// Assigns a packet to the request that has its PSN. Returns nullopt and changes nothing if no
    /// request has it.
    std::optional<RequestPacket> account(const PacketKey& packet);

    /// True if the queue is known to begin with that PSN, and none of its packets has been seen.
    bool would_begin_with(std::uint32_t psn) const;
    /// True if the last request was seen, and also acknowledged if any request was acknowledged.
    bool is_done() const;

    /// A "wc" event. Completions of one queue come in the order of its posts (IBTA volume 1,
    /// 10.8.3.3), so one completes all before it. Logs of rocetrace number the requests of a queue;
    /// in other logs the first request with that wr_id matches. nullptr if no request matches.
    const WorkRequest* complete(const runlog::Event& wc);

    /// True while the posts have offsets, and none of their packets has been seen.
    bool awaits_first_packet() const { return has_posts() && base_is_ == Base::Unknown; }
    /// True while only packets after the first one were seen. It remains true if the capture began
    /// after the first packet.
    bool lacks_first_packet() const { return base_is_ == Base::Behind; }
    /// The first packet that was seen. A packet with an earlier PSN replaces it if it arrives
    /// before any acknowledgement: it was lost before the capture and retransmitted.
    void begin_at(const PacketKey& first_request);
    /// True while a packet may replace the first one.
    bool may_be_moved() const { return has_posts() && !base_is_final_; }
    /// True if a packet replaced the first one: earlier results of account() are wrong.
    bool was_moved() const { return was_moved_; }
    /// Sets the beginning to that of `other`; later packets do not change it.
    void begin_as(const SendQueue& other);

    template <typename Each>
    void for_each(Each each) const {
        for (const Post& post : posts_)
            each(post.request);
    }

  private:
    enum class Base : std::uint8_t {
        Unknown,
        Behind,  // at a packet within a message: not the first one
        Known,
    };

    struct Post {
        wire::ExtendedPsn first;  // position of its first PSN
        WorkRequest request;
        std::optional<std::uint64_t> on_queue;  // its number on its queue pair, from the log
        std::vector<bool> sent;                 // by PSN; empty: none was sent
        std::vector<bool> answered;             // by PSN, if each has a response: READ, atomics

        wire::ExtendedPsn end() const { return first + request.packets; }
    };

    void look_for_base(const PacketKey& packet);
    Post* find(wire::ExtendedPsn position);
    std::optional<wire::ExtendedPsn> on_another_lap(wire::ExtendedPsn position);
    static Transmission note(std::vector<bool>& seen, WorkRequest& request, std::size_t index);
    static Transmission answer(Post& post, std::size_t index, std::int64_t t_ns);
    void acknowledge(wire::ExtendedPsn end, std::int64_t t_ns);

    std::vector<Post> posts_;  // sorted by `first`
    bool hidden_ = false;      // the posts' events have offsets
    Base base_is_ = Base::Unknown;
    bool base_is_final_ = false;  // something was acknowledged, or the posts have PSNs
    bool was_moved_ = false;
    std::uint32_t base_ = 0;        // the PSN at position 0
    wire::ExtendedPsn near_ = 0;    // position close to the current traffic
    std::size_t acknowledged_ = 0;  // number of posts, from the first
    std::size_t completed_ = 0;
};

}  // namespace timeline
