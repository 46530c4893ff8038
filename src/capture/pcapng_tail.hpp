// Follows a pcapng file while it is being written. An incomplete block at the current end of the
// file is not an error: the rest will follow.
#pragma once

#include <string>

#include "capture/pcapng_parser.hpp"
#include "capture/source.hpp"
#include "util/fd.hpp"

namespace capture {

class PcapngTail : public Source {
  public:
    /// The file must exist; it may still be empty. Throws util::Error.
    explicit PcapngTail(const std::string& path, InterfaceChoice choice = InterfaceChoice());

    /// Never waits. Throws util::Error as PcapngParser does.
    std::optional<Frame> next() override;
    std::uint64_t dropped() const override { return parser_.dropped(); }

    /// A sentence while the file ends inside a block: the writer is not finished, or stopped there.
    std::string ending() const { return parser_.ending(); }

  private:
    std::string name_;
    util::Fd fd_;
    PcapngParser parser_;
};

}  // namespace capture
