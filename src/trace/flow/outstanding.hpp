// The outstanding requests of a stream, oldest first, with their times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/flow/pool.hpp"
#include "wire/psn.hpp"

namespace flow {

/// A message that waits for its acknowledgement, or a READ that waits for its response.
struct OutstandingRequest {
    /// Where the path MTU of a READ is not known.
    static constexpr std::uint32_t unknown_psns = UINT32_MAX;

    std::int64_t time_ns = 0;
    /// Of a message the last packet's, of a READ its first response's.
    wire::Psn psn;
    /// PSNs of a READ's response; 0: a message.
    std::uint32_t read_psns = 0;

    bool is_read() const { return read_psns != 0; }
    /// Whether an acknowledgement of `acked` and all PSNs before covers it as a whole.
    bool is_covered_by(wire::Psn acked) const;
    /// Whether a READ response with this PSN is the answer to it.
    bool is_answered_by(wire::Psn psn) const;
};

class Outstanding {
  public:
    struct alignas(64) Page {
        static constexpr std::uint8_t slots = 6;
        std::array<OutstandingRequest, slots> requests;
        /// Of a READ: one of its responses has passed.
        std::array<bool, slots> begun{};
        PoolIndex next = no_index;
    };
    using Pages = Pool<Page>;

    /// False where no page is left; the request is then not measured. Requests that may never be
    /// answered (`is_answered` false: no answer passed so far) leave most of the pages to others.
    bool push(const OutstandingRequest& request, bool is_answered, Pages& pages);
    void pop(Pages& pages);
    void clear(Pages& pages);
    /// Gives the memory back; to be called before the end.
    void release(Pages& pages);

    bool empty() const { return size_ == 0; }
    std::uint32_t size() const { return size_; }
    /// The oldest; not empty().
    const OutstandingRequest& front(const Pages& pages) const {
        return pages[head_].requests[first_];
    }
    /// See Page.
    bool& front_begun(Pages& pages) const { return pages[head_].begun[first_]; }

  private:
    PoolIndex head_ = no_index;
    PoolIndex tail_ = no_index;
    std::uint8_t first_ = 0;  // slot of the oldest in the head page
    std::uint8_t end_ = 0;    // slot behind the newest in the tail page
    std::uint32_t size_ = 0;
};

}  // namespace flow
