// An IPv4 or IPv6 address with a port, and host name resolution with a time limit.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>

namespace util {

class Address {
  public:
    Address() = default;
    explicit Address(const sockaddr* address);

    /// Accepts only numeric hosts ("192.0.2.1", "2001:db8::1", "fe80::1%eth0"); nullopt for
    /// anything else, including names.
    static std::optional<Address> parse(const std::string& host, std::uint16_t port = 0);

    /// Accepts numeric hosts and names. Throws util::Error with a message for the user; `time`
    /// limits the name lookup.
    static Address resolve(const std::string& host, std::uint16_t port,
                           std::chrono::milliseconds time);

    /// The wildcard address ::, which also accepts IPv4.
    static Address any(std::uint16_t port);

    bool is_ipv6() const { return storage_.ss_family == AF_INET6; }
    bool is_any() const;
    std::uint16_t port() const;
    void set_port(std::uint16_t port);

    /// Numeric host without the port; an IPv4-mapped IPv6 address as IPv4.
    std::string host() const;
    /// Whether both have the same host. A link-local address without a scope is that of any interface.
    bool is_host_of(const Address& other) const;
    /// "192.0.2.1 port 18515".
    std::string text() const;
    /// IPv6 in network byte order, IPv4 as ::ffff:192.0.2.1: the format of a RoCE GID.
    std::array<std::byte, 16> ipv6_bytes() const;

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const;

  private:
    sockaddr_storage storage_{};
};

}  // namespace util
