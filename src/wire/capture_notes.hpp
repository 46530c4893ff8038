// What a capture records of a packet in addition to its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wire {

/// Views are valid as long as the packet's bytes.
struct CaptureNotes {
    /// Number of its interface in the file's section, from 0; nullopt for pcap, which has none.
    std::optional<std::uint32_t> interface_id;
    std::string_view interface_name{};  ///< "eth0"; empty if the file does not name it
    std::string_view comment{};         ///< may be invalid UTF-8; several are joined by commas
};

}  // namespace wire
