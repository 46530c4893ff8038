#include "render/flow_names.hpp"

#include <array>

#include "wire/extension_headers.hpp"

namespace render {

std::string_view name(flow::Pairing pairing) {
    constexpr std::array<std::string_view, 6> names{"",        "DETH",     "CM",
                                                    "run log", "ACK PSNs", "left over"};
    return names[static_cast<std::size_t>(pairing)];
}

std::string_view name(flow::Network network) {
    constexpr std::array<std::string_view, 3> names{"IPv4", "IPv6", "GRH"};
    return names[static_cast<std::size_t>(network)];
}

std::string_view nak_name(std::size_t code) {
    constexpr unsigned nak = 3U << 5;
    return wire::Aeth{.syndrome = static_cast<std::uint8_t>(nak | code), .msn = 0}
        .nak_name()
        .value_or("Reserved");
}

}  // namespace render
