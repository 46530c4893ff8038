// An IPv4 or IPv6 address with a port, and host names resolved into one within a bounded time.
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

    /// `host` as digits only ("192.0.2.1", "2001:db8::1", "fe80::1%eth0"); nullopt for anything
    /// else, names too.
    static std::optional<Address> parse(const std::string& host, std::uint16_t port = 0);

    /// Digits or a name. Throws util::Error with the sentence a person should read; the name
    /// service gets `time`.
    static Address resolve(const std::string& host, std::uint16_t port,
                           std::chrono::milliseconds time);

    /// The wildcard :: that also accepts IPv4.
    static Address any(std::uint16_t port);

    bool is_ipv6() const { return storage_.ss_family == AF_INET6; }
    bool is_any() const;
    std::uint16_t port() const;
    void set_port(std::uint16_t port);

    /// Digits without the port; an IPv4-mapped IPv6 address as IPv4.
    std::string host() const;
    /// "192.0.2.1 port 18515".
    std::string text() const;
    /// As IPv6 in network byte order, IPv4 as ::ffff:192.0.2.1: what a RoCE GID is.
    std::array<std::byte, 16> ipv6_bytes() const;

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const;

  private:
    sockaddr_storage storage_{};
};

}  // namespace util
