#include "wire/address.hpp"

#include <array>
#include <cstring>

#include "util/append.hpp"

namespace wire {
namespace {

using Groups = std::array<std::uint16_t, 8>;

struct Run {
    std::size_t begin = 0;
    std::size_t length = 0;
};

// Returns the first of the longest runs of zeros. A single zero group is not a run (RFC 5952, 4.2).
Run longest_zeros(const Groups& groups) {
    Run longest;
    Run run;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] != 0) {
            run = {i + 1, 0};
            continue;
        }
        ++run.length;
        if (run.length > longest.length)
            longest = run;
    }
    return longest.length < 2 ? Run{groups.size(), 0} : longest;
}

char* put_group(char* at, unsigned group) {
    constexpr unsigned digits = 4;
    unsigned shown = 1;
    while (shown < digits && group >> (4 * shown) != 0)
        ++shown;
    return util::put_hex(at, group, shown);
}

// A byte of an IPv4 address as text, followed by a dot.
struct Octet {
    std::array<char, 4> text{};
    unsigned char size = 0;
};

constexpr auto octets = [] {
    std::array<Octet, 256> all;
    for (unsigned value = 0; value < all.size(); ++value) {
        Octet& octet = all[value];
        const auto add = [&](unsigned c) { octet.text[octet.size++] = static_cast<char>(c); };
        if (value >= 100)
            add('0' + value / 100);
        if (value >= 10)
            add('0' + value / 10 % 10);
        add('0' + value % 10);
        add('.');
    }
    return all;
}();

template <typename Address>
void append_address(std::string& out, const Address& address) {
    std::array<char, longest_address> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    out.append(text.data(), put(text.data(), address));
}

}  // namespace

char* put(char* at, const MacAddress& address) {
    for (std::size_t i = 0; i < address.bytes.size(); ++i) {
        if (i != 0)
            *at++ = ':';
        at = util::put_hex(at, address.bytes[i], 2);
    }
    return at;
}

char* put(char* at, const Ipv4Address& address) {
    for (const unsigned byte : address.bytes) {
        const Octet& octet = octets[byte];
        std::memcpy(at, octet.text.data(), octet.text.size());  // may write more than the size
        at += octet.size;
    }
    return at - 1;
}

// Like inet_ntop(3): an IPv4 address inside an IPv6 address is written in decimal.
char* put(char* at, const Ipv6Address& address) {
    Groups groups{};
    for (std::size_t i = 0; i < groups.size(); ++i)
        groups[i] =
            static_cast<std::uint16_t>(address.bytes[2 * i] << 8U | address.bytes[2 * i + 1]);
    const Run zeros = longest_zeros(groups);
    constexpr std::size_t ipv4_at = 6;  // groups
    const bool has_ipv4 =
        zeros.begin == 0 &&
        (zeros.length == ipv4_at || (zeros.length == ipv4_at - 1 && groups[ipv4_at - 1] == 0xffff));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i == zeros.begin) {
            *at++ = ':';
            i += zeros.length - 1;
            if (i + 1 == groups.size())
                *at++ = ':';
            continue;
        }
        if (i != 0)
            *at++ = ':';
        if (i == ipv4_at && has_ipv4) {
            Ipv4Address ipv4;
            std::ranges::copy(address.bytes.end() - Ipv4Address::size, address.bytes.end(),
                              ipv4.bytes.begin());
            return put(at, ipv4);
        }
        at = put_group(at, groups[i]);
    }
    return at;
}

void append(std::string& out, const MacAddress& address) {
    append_address(out, address);
}

void append(std::string& out, const Ipv4Address& address) {
    append_address(out, address);
}

void append(std::string& out, const Ipv6Address& address) {
    append_address(out, address);
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

std::string text(const IpAddress& address) {
    if (const auto* ipv4 = std::get_if<Ipv4Address>(&address))
        return text(*ipv4);
    if (const auto* ipv6 = std::get_if<Ipv6Address>(&address))
        return text(*ipv6);
    return {};
}

}  // namespace wire
