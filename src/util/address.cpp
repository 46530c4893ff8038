#include "util/address.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <future>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <thread>

#include <fmt/format.h>

#include "util/error.hpp"

namespace util {
namespace {

struct Lookup {
    int rc = 0;
    std::optional<Address> address;
};

Lookup look_up(const std::string& host, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    Lookup result;
    result.rc = getaddrinfo(host.c_str(), nullptr, &hints, &list);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
    if (result.rc == 0)
        result.address = Address(list->ai_addr);
    return result;
}

}  // namespace

Address::Address(const sockaddr* address) {
    if (address != nullptr)
        std::memcpy(&storage_, address,
                    address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
}

std::optional<Address> Address::parse(const std::string& host, std::uint16_t port) {
    // getaddrinfo(3) also accepts old forms of IPv4 such as "192.513", which are more often typing
    // errors than addresses.
    in_addr v4{};
    if (host.find(':') == std::string::npos && inet_pton(AF_INET, host.c_str(), &v4) != 1)
        return std::nullopt;
    auto result = look_up(host, AI_NUMERICHOST).address;
    if (result)
        result->set_port(port);
    return result;
}

Address Address::resolve(const std::string& host, std::uint16_t port,
                         std::chrono::milliseconds time) {
    if (auto numeric = parse(host, port))
        return *numeric;
    // getaddrinfo(3) has no time limit (resolv.conf's can add up to minutes), so it runs in its own
    // thread. If it does not return in time, the thread is abandoned and ends with the process.
    std::promise<Lookup> promise;
    std::future<Lookup> future = promise.get_future();
    std::thread([host, p = std::move(promise)]() mutable {
        p.set_value(look_up(host, AI_ADDRCONFIG));
    }).detach();
    if (future.wait_for(time) != std::future_status::ready)
        throw Error(fmt::format(
            "the name service did not resolve '{}' within {} ms. Give the IP address instead.",
            host, time.count()));
    Lookup found = future.get();
    if (!found.address)
        throw Error(
            fmt::format("cannot resolve '{}': {}. Check the spelling, or give the IP address.",
                        host, gai_strerror(found.rc)));
    found.address->set_port(port);
    return *found.address;
}

Address Address::any(std::uint16_t port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(port);
    return Address(reinterpret_cast<const sockaddr*>(&address));
}

bool Address::is_any() const {
    if (is_ipv6())
        return IN6_IS_ADDR_UNSPECIFIED(
            &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
    return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr == INADDR_ANY;
}

// sin_port and sin6_port have the same offset (RFC 3493, 3.10).
std::uint16_t Address::port() const {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
}

void Address::set_port(std::uint16_t port) {
    reinterpret_cast<sockaddr_in*>(&storage_)->sin_port = htons(port);
}

socklen_t Address::size() const {
    return is_ipv6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string Address::host() const {
    std::array<char, INET6_ADDRSTRLEN + IF_NAMESIZE + 1> text{};
    if (getnameinfo(get(), size(), text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return "?";
    const std::string_view digits = text.data();
    constexpr std::string_view mapped = "::ffff:";
    if (digits.starts_with(mapped) && digits.find('.') != std::string_view::npos)
        return std::string(digits.substr(mapped.size()));
    return std::string(digits);
}

bool Address::is_host_of(const Address& other) const {
    const auto has_scope = [](const Address& address) {
        return address.host().find('%') != std::string::npos;
    };
    return ipv6_bytes() == other.ipv6_bytes() &&
           (host() == other.host() || !has_scope(*this) || !has_scope(other));
}

std::string Address::text() const {
    return fmt::format("{} port {}", host(), port());
}

std::array<std::byte, 16> Address::ipv6_bytes() const {
    std::array<std::byte, 16> bytes{};
    if (is_ipv6()) {
        std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr, 16);
    } else {
        bytes[10] = bytes[11] = std::byte{0xff};
        std::memcpy(&bytes[12], &reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr, 4);
    }
    return bytes;
}

}  // namespace util
