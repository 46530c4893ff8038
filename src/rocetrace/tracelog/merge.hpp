// The rings of all traced processes, read in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
    /// `memory`: what the process made (RegionHeader). `pid`: as this process sees the other one.
    /// Throws util::Error where it is not such memory.
    Region(const util::Fd& memory, std::uint32_t pid);
    /// Memory of this process: of a test.
    Region(RegionHeader* header, std::uint32_t pid);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    Region(Region&&) = delete;
    Region& operator=(Region&&) = delete;

    struct Ring {
        RingReader reader;
        Writer writer;
    };

    std::uint32_t pid() const { return pid_; }
    std::string name() const;
    /// When the process wrote its first record.
    std::int64_t t_ns() const { return header_->t_ns; }
    /// Takes the rings that were begun since the last call.
    std::vector<std::unique_ptr<Ring>>& rings();
    /// Records since the last call of threads that had no ring.
    std::uint64_t newly_homeless();

  private:
    RegionHeader* header_ = nullptr;
    std::size_t mapped_ = 0;  // bytes; 0: not this object's
    std::uint32_t pid_;
    std::uint64_t homeless_ = 0;
    std::vector<std::unique_ptr<Ring>> rings_;
};

/// Takes what the regions have, and gives it record by record. What several threads wrote within
/// `hold_back` before the call is left for the next one: a thread takes the time before it
/// publishes its record.
class Merge {
  public:
    using Sink = std::function<void(std::span<const std::byte>, const Writer&)>;

    explicit Merge(Sink sink) : sink_(std::move(sink)) {}

    /// Records with times up to `until_ns`, or all of a process that has ended. Returns how many.
    std::size_t take(Region& region, std::int64_t until_ns) { return take({&region}, until_ns); }
    std::size_t take(const std::vector<Region*>& regions, std::int64_t until_ns);

    /// The time of the earliest record that the last call left for its time; nullopt where it left
    /// none.
    std::optional<std::int64_t> earliest_left() const { return earliest_left_; }

    /// How full the fullest ring was since the last call, in percent.
    unsigned fill() { return std::exchange(fill_, 0U); }

  private:
    Sink sink_;
    unsigned fill_ = 0;
    std::optional<std::int64_t> earliest_left_;
};

}  // namespace tracelog
