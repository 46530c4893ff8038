// The IP addresses and ports that rdma_cm adds to the connection manager's messages (IBTA volume 1,
// annex A11; Linux drivers/infiniband/core/cma.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "util/cursor.hpp"
#include "wire/address.hpp"

namespace wire {

/// A service ID of the RDMA IP CM service: 0x0000000001 | IP protocol | port.
struct IpService {
    std::uint8_t protocol = 0;  ///< 0x06: RDMA_PS_TCP, 0x11: RDMA_PS_UDP, 0x3f: RDMA_PS_IB
    std::uint16_t port = 0;     ///< the port that the program passed to rdma_cm

    /// nullopt for any other service.
    static std::optional<IpService> of(std::uint64_t service_id);
    friend bool operator==(const IpService&, const IpService&) = default;
};

/// Header that rdma_cm puts before the program's private data: the IP addresses of the request.
struct IpCm {
    static constexpr std::size_t size = 36;

    std::uint8_t major_version = 0;
    std::uint8_t minor_version = 0;
    std::uint8_t ip_version = 4;  ///< 4 or 6
    std::uint16_t src_port = 0;
    Ipv6Address src;  ///< an IPv4 address is in the last four bytes, after zeros
    Ipv6Address dst;

    Ipv4Address src_ipv4() const;
    Ipv4Address dst_ipv4() const;

    static IpCm parse(util::FixedBytes<size> bytes);
    /// Removes the header from the front of a message's private data. Returns nullopt and leaves
    /// private_data unchanged unless `service` is an IP service and the header has a known version.
    static std::optional<IpCm> take_from(const std::optional<IpService>& service,
                                         util::Bytes& private_data);
    friend bool operator==(const IpCm&, const IpCm&) = default;
};

}  // namespace wire
