// A capture file by the reader that fits its format.
#pragma once

#include <memory>
#include <string>

#include "capture/source.hpp"

namespace capture {

/// A pcapng file of this machine's byte order by PcapngTail, which also gives what pcapng says
/// beside a frame; every other file by libpcap (FileSource). Throws util::Error where `path` cannot
/// be opened, or is no capture.
std::unique_ptr<Source> open_file(const std::string& path);

}  // namespace capture
