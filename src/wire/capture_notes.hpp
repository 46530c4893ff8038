// What a capture records of a packet in addition to its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wire {

/// Views are valid as long as the packet's bytes are.
struct CaptureNotes {
    /// Number of its interface in the file's section, from 0; nullopt: pcap, which numbers none.
    std::optional<std::uint32_t> interface_id;
    std::string_view interface_name{};  ///< "eth0"; empty where the file does not name it
    std::string_view comment{};         ///< UTF-8 if it is valid; of several: separated by commas
};

}  // namespace wire
