#include "emulator/writable_field.hpp"

#include <algorithm>
#include <array>

namespace emulator {
namespace {

// Of IP, only what routers change. The last header is before a datagram's payload: a field of a
// management datagram decides what follows it.
bool is_writable(const filter::Field& field) {
    constexpr auto of_ip = std::to_array<std::string_view>(
        {"ip.dscp", "ip.ecn", "ip.ttl", "ipv6.dscp", "ipv6.ecn", "ipv6.hlim"});
    const auto [header, bit, width] = field.get.place;
    if (width == 0 || width > 64)
        return false;
    return (header >= wire::Header::Bth && header <= wire::Header::Ieth) ||
           std::ranges::find(of_ip, field.name) != of_ip.end();
}

}  // namespace

std::vector<const filter::Field*> writable_fields() {
    std::vector<const filter::Field*> writable;
    for (const filter::Field& field : filter::fields())
        if (is_writable(field))
            writable.push_back(&field);
    return writable;
}

const filter::Field* find_writable(std::string_view name) {
    const filter::Field* field = filter::find_field(name);
    return field != nullptr && is_writable(*field) ? field : nullptr;
}

}  // namespace emulator
