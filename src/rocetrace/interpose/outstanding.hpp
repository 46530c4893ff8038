// The outstanding requests of a queue, by number: the first one posted is 0.
#pragma once

#include <cstdint>

namespace interpose {

/// A ring that grows with the number of requests that have no completion yet. These may be more
/// than the queue holds: a provider may free the place of a request before its completion is polled.
class Outstanding {
  public:
    /// With more requests outstanding, the oldest are forgotten.
    static constexpr std::uint32_t most = 1U << 16U;

    /// Makes room for `depth` requests. False if there is no memory.
    bool make_room(std::uint32_t depth);
    void free_room();
    void clear() { head_ = next_ = tail_ = staged_ = count_ = forgotten_ = 0; }

    /// Adds a request that the provider has not accepted yet, and returns its number.
    std::uint32_t stage(std::uint64_t wr_id, bool is_signaled);
    /// The provider has accepted all that were added, or none.
    void accept() { settle(true); }
    void take_back() { settle(false); }

    /// The number of the completed request; -1 if it is not known.
    std::int64_t complete(std::uint64_t wr_id, bool succeeded);

    std::uint32_t posted() const { return head_; }
    std::uint32_t count() const { return count_; }
    /// Requests whose completion can no longer be recognized.
    std::uint32_t forgotten() const { return forgotten_; }

  private:
    struct Request {
        std::uint64_t wr_id;
        bool is_signaled;
        bool is_done;
    };

    // Requests that a completion may overtake: other threads have polled theirs and come later.
    static constexpr std::uint32_t most_overtaken = 4096;

    bool grow();
    void settle(bool accepted);
    void finish(Request& request);
    void forget_first();
    Request& at(std::uint32_t number) { return entries_[number & mask_]; }

    Request* entries_ = nullptr;
    std::uint32_t mask_ = 0;
    std::uint32_t head_ = 0;    // requests posted
    std::uint32_t staged_ = 0;  // after them: not accepted yet
    std::uint32_t next_ = 0;    // after the last one that has completed
    std::uint32_t tail_ = 0;    // the first one that is kept
    std::uint32_t count_ = 0;   // of those that are kept: not completed
    std::uint32_t forgotten_ = 0;
};

}  // namespace interpose
