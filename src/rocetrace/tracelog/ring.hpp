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
#include <utility>

#include "rocetrace/tracelog/record.hpp"

namespace tracelog {

/// A call that has begun: the fields of its event so far. A thread may be in several, one inside the
/// other: librdmacm calls libibverbs.
struct OpenCallSlot {
    static constexpr std::size_t words = 60;

    std::atomic<std::int64_t> begin_ns;  // 0 while the slot is being written
    std::atomic<std::uint32_t> size;     // bytes
    std::atomic<std::uint32_t> waits;    // for an event of another end: its time is the return
    std::atomic<std::uint64_t> bytes[words];
};

struct RingHeader {
    static constexpr std::uint32_t most_open_calls = 4;

    alignas(64) std::atomic<std::uint64_t> head;  // bytes written since the beginning
    std::atomic<std::uint64_t> dropped;           // records
    std::atomic<std::uint64_t> posting;  // like head, with the records of the post in progress
    alignas(64) std::atomic<std::uint64_t> tail;  // bytes read since the beginning
    std::atomic<std::uint32_t> in_use;            // by a running thread
    // Read even if the process is killed. More than most_open_calls have no slot.
    alignas(64) std::atomic<std::uint32_t> open_calls;
    OpenCallSlot slots[most_open_calls];
};

/// Headers are of this size, so that each ring begins on a page, whatever the size of a page is.
constexpr std::size_t largest_page = std::size_t{64} * 1024;

/// The memory that a traced process shares: this header, then `rings` rings of `ring_bytes` each.
struct RegionHeader {
    static constexpr std::uint64_t expected_magic = 0x3165636172746f72;  // "rotrace1"
    static constexpr std::size_t bytes = largest_page;

    std::uint64_t magic;
    std::uint64_t ring_bytes;             // with the ring's header; a power of two plus that
    std::uint32_t rings;                  // maximum number
    std::atomic<std::uint32_t> begun;     // rings that have ever been used
    std::atomic<std::uint64_t> homeless;  // records of threads that got no ring
    std::atomic<std::uint32_t> has_left;  // the process has called exit(3), or returned from main
    std::uint32_t pid;                    // as seen by the process itself
    std::int64_t t_ns;                    // creation time: CLOCK_REALTIME, nanoseconds
    char comm[20];                        // null-terminated
    char command[1024];                   // the words, each null-terminated; the first 1023 bytes
};
static_assert(sizeof(RegionHeader) <= RegionHeader::bytes);

constexpr std::size_t ring_header_bytes = largest_page;
static_assert(sizeof(RingHeader) <= ring_header_bytes);

/// Whether a number of lost records cannot have become this one since the last look.
inline bool is_absurd(std::uint64_t now, std::uint64_t before) {
    constexpr std::uint64_t most = 1ULL << 32U;
    return now - before > most;
}

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

    /// Copies a post's record, and of its scatter/gather list only what is there.
    template <typename Post>
    bool put_post(Post& post) {
        const std::uint32_t fixed = post.fixed_size();
        const auto entries =
            static_cast<std::uint32_t>(SgeList::recorded(post.header) * sizeof(Sge));
        post.header.size = fixed + entries;
        auto* place = static_cast<std::byte*>(reserve(post.header.size));
        if (place == nullptr)
            return false;
        std::memcpy(place, &post, fixed);
        std::memcpy(place + fixed, post.sges.entries, entries);
        return true;
    }

    /// Copies a record into the ring. Returns false if there is no room.
    bool put(const void* record, std::uint32_t size) {
        void* place = reserve(size);
        if (place != nullptr)
            std::memcpy(place, record, size);
        return place != nullptr;
    }

    std::uint64_t end() const { return end_; }
    /// Releases what was reserved after `end` and not published, also if it was announced.
    void rewind(std::uint64_t end) {
        end_ = end;
        if (header_ != nullptr)
            header_->posting.store(end, std::memory_order_release);
    }
    /// Shows the reader what is not published yet, for the case that the process ends before.
    void announce() { header_->posting.store(end_, std::memory_order_release); }
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

/// The reading end. The traced process may have overwritten the memory, and may do so while it is
/// read: what a record's size says is read once. A ring that is damaged is not read any more.
class RingReader {
  public:
    /// A record in the ring, with what its header said when it was checked. Valid until release().
    struct Record {
        std::uint64_t at = 0;  // bytes since the beginning
        const std::byte* data = nullptr;
        std::uint32_t size = 0;
        Kind kind = Kind::skip;
        std::int64_t t_ns = 0;
        explicit operator bool() const { return data != nullptr; }
    };

    RingReader(RingHeader* header, std::byte* data, std::uint64_t capacity)
        : header_(header),
          data_(data),
          capacity_(capacity),
          at_(header->tail.load()),
          head_(at_),
          damaged_(at_ % 8 != 0) {}

    /// Makes all records published so far readable.
    void look() {
        const std::uint64_t head = header_->head.load(std::memory_order_acquire);
        damaged_ = damaged_ || head - at_ > capacity_;
        head_ = damaged_ ? at_ : head;
    }
    /// The same of a process that has ended: the records of a post from which it did not return are
    /// marked as unfinished.
    void look_at_all() {
        look();
        const std::uint64_t end = header_->posting.load(std::memory_order_acquire);
        if (end <= head_ || end - head_ > capacity_)
            return;
        std::uint64_t at = std::exchange(head_, end);
        while (const Record record = valid(at)) {
            if (record.kind == Kind::post_send || record.kind == Kind::post_recv)
                header_at(at)->flags |= PostSend::unfinished;
            at += record.size;
        }
    }

    /// The oldest record that was published before the last look(), if there is one.
    Record front() {
        while (at_ != head_) {
            const Record record = valid(at_);
            if (!record) {
                head_ = at_;
                damaged_ = true;
            } else if (record.kind != Kind::skip) {
                return record;
            }
            at_ += record.size;
        }
        return {};
    }
    /// The same for the record that began first. A call is written when it returns, with the time
    /// of its begin: the events of calls inside it are in front of its own.
    Record earliest() {
        constexpr unsigned most = 64;  // events in one call
        Record first = front();
        if (!first || first.kind != Kind::event)
            return first;
        std::uint64_t at = first.at + first.size;
        for (unsigned seen = 1; seen < most && at != head_;) {
            const Record record = valid(at);
            if (!record || (record.kind != Kind::event && record.kind != Kind::skip))
                break;
            if (record.kind == Kind::event) {
                ++seen;
                if (record.t_ns < first.t_ns)
                    first = record;
            }
            at += record.size;
        }
        return first;
    }
    /// Removes a record that front() or earliest() returned.
    void pop(const Record& record) {
        if (record.at == at_)
            at_ += record.size;
        else
            header_at(record.at)->kind = Kind::skip;
    }

    /// Returns the room of all popped records to the writer.
    void release() { header_->tail.store(at_, std::memory_order_release); }

    /// Records dropped since the last call.
    std::uint64_t newly_dropped() {
        const std::uint64_t all = header_->dropped.load(std::memory_order_relaxed);
        damaged_ = damaged_ || is_absurd(all, dropped_);
        return damaged_ ? 0 : all - std::exchange(dropped_, all);
    }
    /// The process has overwritten the ring.
    bool is_damaged() const { return damaged_; }
    void set_damaged() { damaged_ = true; }
    const RingHeader& header() const { return *header_; }
    /// Percentage of the ring that held records at the last look().
    unsigned fill() const { return static_cast<unsigned>((head_ - at_) * 100 / capacity_); }

  private:
    Header* header_at(std::uint64_t at) const {
        return reinterpret_cast<Header*>(data_ + (at & (capacity_ - 1)));
    }
    // The record at this position; empty at the end, and if it is not valid.
    Record valid(std::uint64_t at) const {
        if (at == head_)
            return {};
        const std::uint64_t offset = at & (capacity_ - 1);
        const auto* header = reinterpret_cast<const volatile Header*>(header_at(at));
        const std::uint32_t size = header->size;
        const Kind kind = header->kind;
        const bool is_skip = size >= skip_size && kind == Kind::skip;
        const bool is_valid = size >= (is_skip ? skip_size : sizeof(Header)) && size % 8 == 0 &&
                              size <= head_ - at && size <= capacity_ - offset;
        if (!is_valid)
            return {};
        return {at, data_ + offset, size, kind, is_skip ? 0 : header->t_ns};
    }

    RingHeader* header_;
    std::byte* data_;
    std::uint64_t capacity_;
    std::uint64_t at_;
    std::uint64_t head_;
    std::uint64_t dropped_ = 0;
    bool damaged_;
};

}  // namespace tracelog
