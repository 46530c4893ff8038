// The protocols above RDMA that are decoded here, and how a connection tells which one it carries.
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
    /// NVMe: the queue that the connection is for; 0 is the admin queue. An opcode has another
    /// meaning there. nullopt: not known, decoded as an I/O queue.
    std::optional<std::uint16_t> queue_id{};

    friend bool operator==(const Channel&, const Channel&) = default;
};

/// By the port in the service ID of a ConnectRequest: 4420 is NVMe, 20049 NFS
/// over RDMA, 3260 iSER (IANA).
Service service_of_port(std::uint16_t port);

/// The names that service_named() knows, for error messages.
inline constexpr std::string_view service_names = "nvme, nvme-admin, rpcrdma, iser";

/// One of each name.
std::span<const Channel> channels();

/// A name that a user writes; nullopt for any other.
std::optional<Channel> service_named(std::string_view name);

}  // namespace upper
