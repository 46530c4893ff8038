// A ring of bytes in memory that two processes share: one thread of the traced process writes
// records, rocetrace reads them. Neither waits for the other: a record that does not fit is counted
// and dropped.
//
// Since the memory is shared, published records are read even if the writing process is killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rocetrace/tracelog/record.hpp"

namespace tracelog {

struct RingHeader {
    alignas(64) std::atomic<std::uint64_t> head;  // bytes written since the beginning
    std::atomic<std::uint64_t> dropped;           // records
    alignas(64) std::atomic<std::uint64_t> tail;  // bytes read since the beginning
    std::atomic<std::uint32_t> in_use;            // by a running thread
};

/// The memory that a traced process shares: this header, then `rings` rings of `ring_bytes` each.
struct RegionHeader {
    static constexpr std::uint64_t expected_magic = 0x3165636172746f72;  // "rotrace1"
    static constexpr std::size_t bytes = 4096;

    std::uint64_t magic;
    std::uint64_t ring_bytes;             // with the ring's header; a power of two plus one page
    std::uint32_t rings;                  // maximum number
    std::atomic<std::uint32_t> begun;     // rings that have ever been used
    std::atomic<std::uint64_t> homeless;  // records of threads that got no ring
    std::uint32_t pid;                    // as seen by the process itself
    std::int64_t t_ns;                    // creation time: CLOCK_REALTIME, nanoseconds
    char comm[20];                        // null-terminated
    char command[1024];                   // the words, each null-terminated; the first 1023 bytes
};
static_assert(sizeof(RegionHeader) <= RegionHeader::bytes);

constexpr std::size_t ring_header_bytes = 4096;

/// The writing end. A record is reserved, filled, and becomes visible to the reader when published.
class RingWriter {
  public:
    RingWriter() = default;
    /// `capacity`: a power of two, in bytes.
    RingWriter(RingHeader* header, std::byte* data, std::uint64_t capacity)
        : header_(header), data_(data), capacity_(capacity), end_(header->head.load()) {
        published_ = end_;
        tail_ = header->tail.load(std::memory_order_acquire);
    }

    /// Room for a record of `size` bytes, a multiple of 8; nullptr if there is none.
    void* reserve(std::uint32_t size) {
        std::uint64_t at = end_ & (capacity_ - 1);
        std::uint64_t skipped = 0;
        if (at + size > capacity_ || restart_pays(at, size))
            skipped = capacity_ - at;
        if (end_ + skipped + size - tail_ > capacity_) {
            tail_ = header_->tail.load(std::memory_order_acquire);
            if (end_ + skipped + size - tail_ > capacity_)
                return nullptr;
        }
        if (skipped != 0) {
            const Skip skip{static_cast<std::uint32_t>(skipped), Kind::skip, 0};
            std::memcpy(data_ + at, &skip, sizeof skip);
            end_ += skipped;
            at = 0;
        }
        end_ += size;
        return data_ + at;
    }

    /// Copies a record into the ring. Returns false if there is no room.
    bool put(const void* record, std::uint32_t size) {
        void* place = reserve(size);
        if (place != nullptr)
            std::memcpy(place, record, size);
        return place != nullptr;
    }

    std::uint64_t end() const { return end_; }
    /// Releases what was reserved after `end` and not published.
    void rewind(std::uint64_t end) { end_ = end; }
    void publish() {
        published_ = end_;
        header_->head.store(end_, std::memory_order_release);
    }
    void drop(std::uint64_t records) {
        header_->dropped.store(header_->dropped.load(std::memory_order_relaxed) + records,
                               std::memory_order_relaxed);
    }

    RingHeader* header() const { return header_; }

  private:
    struct Skip {
        std::uint32_t size;
        Kind kind;
        std::uint16_t flags;
    };

    // If the reader keeps the ring empty, the writer stays in its first part, so that the rest
    // of its memory is never touched.
    bool restart_pays(std::uint64_t at, std::uint32_t size) {
        constexpr std::uint64_t part = 1U << 18U;  // bytes
        if ((at ^ (at + size)) < part || published_ != end_)
            return false;
        tail_ = header_->tail.load(std::memory_order_acquire);
        return tail_ == end_;
    }

    RingHeader* header_ = nullptr;
    std::byte* data_ = nullptr;
    std::uint64_t capacity_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t tail_ = 0;  // last value read
};

/// The reading end.
class RingReader {
  public:
    RingReader(RingHeader* header, const std::byte* data, std::uint64_t capacity)
        : header_(header), data_(data), capacity_(capacity), at_(header->tail.load()) {}

    /// Makes all records published so far readable.
    void look() { head_ = header_->head.load(std::memory_order_acquire); }

    /// The oldest record that was published before the last look(); nullptr if there is none. Valid
    /// until release().
    const Header* front() {
        while (at_ != head_) {
            const std::uint64_t offset = at_ & (capacity_ - 1);
            const auto* header = reinterpret_cast<const Header*>(data_ + offset);
            const std::uint64_t size = header->size;
            const bool is_skip = size >= skip_size && header->kind == Kind::skip;
            if (size < (is_skip ? std::uint64_t{skip_size} : sizeof(Header)) || size % 8 != 0 ||
                size > head_ - at_ || size > capacity_ - offset) {
                at_ = head_;  // invalid data from the writing process: the rest is not reliable
                damaged_ = true;
                return nullptr;
            }
            if (!is_skip)
                return header;
            at_ += size;
        }
        return nullptr;
    }
    void pop() { at_ += reinterpret_cast<const Header*>(data_ + (at_ & (capacity_ - 1)))->size; }

    /// Returns the room of all popped records to the writer.
    void release() { header_->tail.store(at_, std::memory_order_release); }

    /// Records dropped since the last call.
    std::uint64_t newly_dropped() {
        const std::uint64_t all = header_->dropped.load(std::memory_order_relaxed);
        const std::uint64_t more = all - dropped_;
        dropped_ = all;
        return more;
    }
    bool is_damaged() const { return damaged_; }
    /// Percentage of the ring that held records at the last look().
    unsigned fill() const { return static_cast<unsigned>((head_ - at_) * 100 / capacity_); }

  private:
    RingHeader* header_;
    const std::byte* data_;
    std::uint64_t capacity_;
    std::uint64_t at_;
    std::uint64_t head_ = 0;
    std::uint64_t dropped_ = 0;
    bool damaged_ = false;
};

}  // namespace tracelog
