// Converts a GID from a log, "::ffff:192.0.2.1", to the address in packets.
#pragma once

#include <string>
#include <string_view>

namespace timeline {

inline std::string address_of_gid(std::string_view gid) {
    constexpr std::string_view mapped = "::ffff:";
    if (gid.starts_with(mapped) && gid.find('.') != std::string_view::npos)
        gid.remove_prefix(mapped.size());
    return std::string(gid);
}

}  // namespace timeline
