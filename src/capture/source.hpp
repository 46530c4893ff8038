// Where packets come from: a file, a pipe, a network interface.
#pragma once

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

    /// The next frame. nullopt from a file: its end; from a live source or a file still being
    /// written: nothing there at present.
    /// Throws util::Error with the sentence a person should read; a file that breaks off does so
    /// after its last whole frame.
    virtual std::optional<Frame> next() = 0;
};

}  // namespace capture
