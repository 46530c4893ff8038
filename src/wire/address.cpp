#include "wire/address.hpp"

#include <arpa/inet.h>

#include <fmt/format.h>

namespace wire {
namespace {

template <typename Address>
std::string printed(int family, const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    // Cannot fail: the family is known and the buffer holds the longest text.
    inet_ntop(family, address.bytes.data(), text.data(), text.size());
    return text.data();
}

}  // namespace

std::string text(const MacAddress& address) {
    return fmt::format("{:02x}", fmt::join(address.bytes, ":"));
}

std::string text(const Ipv4Address& address) {
    return printed(AF_INET, address);
}

std::string text(const Ipv6Address& address) {
    return printed(AF_INET6, address);
}

}  // namespace wire
