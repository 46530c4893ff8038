// The outstanding requests of a stream, oldest first, with their times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/flow/pool.hpp"
#include "wire/psn.hpp"

namespace flow {

/// A message without acknowledgement so far, or a READ without response.
struct OutstandingRequest {
    /// For a READ if the path MTU is unknown.
    static constexpr std::uint32_t unknown_psns = UINT32_MAX;

    std::int64_t time_ns = 0;
    /// PSN of a message's last packet, or of a READ's first response.
    wire::Psn psn;
    /// PSNs in a READ's response; 0: a message.
    std::uint32_t read_psns = 0;

    bool is_read() const { return read_psns != 0; }
    /// Returns whether an acknowledgement up to and including `acked` covers the whole request.
    bool is_covered_by(wire::Psn acked) const;
    /// Returns whether a READ response with this PSN answers it.
    bool is_answered_by(wire::Psn psn) const;
};

class Outstanding {
  public:
    struct alignas(64) Page {
        static constexpr std::uint8_t slots = 6;
        std::array<OutstandingRequest, slots> requests;
        /// READ only: one of its responses was seen.
        std::array<bool, slots> begun{};
        PoolIndex next = no_index;
    };
    using Pages = Pool<Page>;

    /// Returns false if no page is left; the request is then not measured. Streams without any
    /// response so far (`is_answered` false) leave most of the pages to others.
    bool push(const OutstandingRequest& request, bool is_answered, Pages& pages);
    void pop(Pages& pages);
    void clear(Pages& pages);
    /// Returns the memory to the pool. Must be called before destruction.
    void release(Pages& pages);

    bool empty() const { return size_ == 0; }
    std::uint32_t size() const { return size_; }
    /// The oldest request. The queue must not be empty.
    const OutstandingRequest& front(const Pages& pages) const {
        return pages[head_].requests[first_];
    }
    /// See Page.
    bool& front_begun(Pages& pages) const { return pages[head_].begun[first_]; }

  private:
    PoolIndex head_ = no_index;
    PoolIndex tail_ = no_index;
    std::uint8_t first_ = 0;  // slot of the oldest in the head page
    std::uint8_t end_ = 0;    // slot after the newest in the tail page
    std::uint32_t size_ = 0;
};

}  // namespace flow
