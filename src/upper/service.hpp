// The protocols above RDMA that are decoded here, and how to tell which one a connection carries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace upper {

enum class Service : std::uint8_t { None, Nvme, RpcRdma, Iser };

/// What a connection carries.
struct Channel {
    Service service = Service::None;
    /// NVMe: the connection's queue; 0 is the admin queue, where opcodes have other meanings.
    /// nullopt: unknown, decoded as an I/O queue.
    std::optional<std::uint16_t> queue_id{};

    friend bool operator==(const Channel&, const Channel&) = default;
};

/// By the port in a ConnectRequest's service ID: 4420 is NVMe, 20049 NFS over RDMA, 3260 iSER
/// (IANA).
Service service_of_port(std::uint16_t port);

/// The names that service_named() knows, for error messages.
inline constexpr std::string_view service_names = "nvme, nvme-admin, rpcrdma, iser";

/// One channel per name.
std::span<const Channel> channels();

/// Parses a name as the user writes it; nullopt for any other.
std::optional<Channel> service_named(std::string_view name);

}  // namespace upper
