// Reads the rings of all traced processes in order of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "rocetrace/tracelog/decode.hpp"
#include "rocetrace/tracelog/ring.hpp"
#include "util/fd.hpp"

namespace tracelog {

/// The shared memory of one process.
class Region {
  public:
    /// `memory`: as the process created it (RegionHeader). `pid`: as seen by this process. Throws
    /// util::Error if the memory is not valid.
    Region(const util::Fd& memory, std::uint32_t pid);
    /// Memory of this process, for tests.
    Region(RegionHeader* header, std::uint32_t pid);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    Region(Region&&) = delete;
    Region& operator=(Region&&) = delete;

    struct Ring {
        RingReader reader;
        Writer writer;
        // The begin of the calls in progress that have been told, by slot.
        std::array<std::int64_t, RingHeader::most_open_calls> told_ns{};
    };

    std::uint32_t pid() const { return pid_; }
    std::string name() const;
    /// The first 1023 bytes of the command line, with spaces between its words.
    std::string command() const;
    /// The time of the process's first record.
    std::int64_t t_ns() const { return header_->t_ns; }
    /// All rings, including those begun since the last call.
    std::vector<std::unique_ptr<Ring>>& rings();
    /// Records since the last call from threads without a ring.
    std::uint64_t newly_homeless();
    /// Whether the process has overwritten its memory, so that records are missing. True once.
    bool is_newly_damaged();

    /// Whether the process has called exit(3), or returned from main.
    bool has_left() const { return header_->has_left.load(std::memory_order_relaxed) != 0; }
    /// The process has ended, or is not read any more: calls that have not returned will not.
    void end() { has_ended_ = true; }
    bool has_ended() const { return has_ended_; }

  private:
    RegionHeader* header_ = nullptr;
    // As they were when they were checked.
    std::uint64_t ring_bytes_ = 0;
    std::uint32_t most_rings_ = 0;
    std::size_t mapped_ = 0;  // bytes; 0: not mapped by this object
    std::uint32_t pid_;
    std::uint64_t homeless_ = 0;
    bool has_ended_ = false;
    bool is_damaged_ = false;
    bool was_told_damaged_ = false;
    std::vector<std::unique_ptr<Ring>> rings_;
};

/// Takes the records of all regions in order of time. Records later than `until_ns` are left for
/// the next call: a thread reads the clock before it publishes its record.
///
/// A call is written when it returns, but has the time of its begin. So later records wait until it
/// has returned, for at most `patience_ns`. Then, or if the process ends before, the record `begun`
/// stands for it. If it returns after all, its record comes late.
class Merge {
  public:
    static constexpr std::int64_t patience_ns = 200'000'000;

    static constexpr std::int64_t all_times = std::numeric_limits<std::int64_t>::max();
    /// Returns false if the bytes are not a record.
    using Sink = std::function<bool(std::span<const std::byte>, const Writer&)>;

    explicit Merge(Sink sink) : sink_(std::move(sink)) {}

    /// Takes records with times up to `until_ns`; all_times: all, also those later than a call in
    /// progress. Returns their number.
    std::size_t take(Region& region, std::int64_t until_ns) { return take({&region}, until_ns); }
    std::size_t take(const std::vector<Region*>& regions, std::int64_t until_ns);

    /// The time of the earliest record that the last call left because of its time; nullopt if it
    /// left none.
    std::optional<std::int64_t> earliest_left() const { return earliest_left_; }

    /// How full the fullest ring was since the last call, in percent.
    unsigned fill() { return std::exchange(fill_, 0U); }

  private:
    // A record, or the bytes of `begun`.
    struct Next {
        std::int64_t t_ns = 0;
        Region::Ring* ring = nullptr;
        RingReader::Record record;  // one of `begun_` if empty
        std::size_t begun = 0;
        bool operator>(const Next& other) const { return t_ns > other.t_ns; }
    };

    std::int64_t look_at_open_calls(Region::Ring& ring, bool has_ended, std::int64_t until_ns);

    std::vector<std::pair<Region::Ring*, std::vector<std::byte>>> begun_;  // during take()
    std::vector<std::byte> copy_;  // of the record that is taken
    Sink sink_;
    unsigned fill_ = 0;
    std::optional<std::int64_t> earliest_left_;
};

}  // namespace tracelog
