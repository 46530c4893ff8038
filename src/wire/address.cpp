#include "wire/address.hpp"

#include <arpa/inet.h>

#include "util/append.hpp"

namespace wire {

void append(std::string& out, const MacAddress& address) {
    for (std::size_t i = 0; i < address.bytes.size(); ++i) {
        if (i != 0)
            out.push_back(':');
        util::append_hex(out, address.bytes[i], 2);
    }
}

// Each line of a listing has two: composed in place and appended once.
void append(std::string& out, const Ipv4Address& address) {
    std::array<char, INET_ADDRSTRLEN> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    char* end = text.data();
    const auto digit = [&](unsigned value) { *end++ = static_cast<char>('0' + value); };
    for (const unsigned byte : address.bytes) {
        if (byte >= 100)
            digit(byte / 100);
        if (byte >= 10)
            digit(byte / 10 % 10);
        digit(byte % 10);
        *end++ = '.';
    }
    out.append(text.data(), end - 1);
}

void append(std::string& out, const Ipv6Address& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    // Cannot fail: the family is known and the buffer holds the longest text.
    inet_ntop(AF_INET6, address.bytes.data(), text.data(), text.size());
    out.append(text.data());
}

std::string text(const MacAddress& address) {
    std::string out;
    append(out, address);
    return out;
}

std::string text(const Ipv4Address& address) {
    std::string out;
    append(out, address);
    return out;
}

std::string text(const Ipv6Address& address) {
    std::string out;
    append(out, address);
    return out;
}

}  // namespace wire
