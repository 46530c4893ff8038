// Where packets come from: a file, a pipe, a network interface.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/frame.hpp"

namespace capture {

class Source {
  public:
    Source() = default;
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    Source(Source&&) = delete;
    Source& operator=(Source&&) = delete;

    /// Returns the next frame. nullopt from a file: its end; from a live source or a file still
    /// being written: none at present. Throws util::Error with a message for the user; a truncated
    /// file throws after its last complete frame.
    virtual std::optional<Frame> next() = 0;

    /// Packets that the capture dropped when it was made, as far as the file says so up to the last
    /// frame: pcapng's interface statistics, which are usually at its end.
    virtual std::uint64_t dropped() const { return 0; }
};

}  // namespace capture
