// The ways to a connection that are measured, and the phases of each. Both programs read this
// table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

/// Whose device it is. librdmacm opens a device once for a process and keeps it. Steps 06 and 07
/// open it for each connection, on both sides; so that this does not hide what the exchange itself
/// takes, they are measured in both ways.
enum class Device : std::uint8_t { OfTheProcess, OfTheConnection };

enum class Way : std::uint8_t { Cm, Tcp, Tls, TlsResumed };

struct Method {
    std::string_view name;
    Way way;
    Device device;
    std::uint16_t port;  // counted from --port, which is the control connection's
};

inline constexpr std::array methods{
    Method{"cm", Way::Cm, Device::OfTheProcess, 1},
    Method{"tcp", Way::Tcp, Device::OfTheProcess, 1},
    Method{"tls", Way::Tls, Device::OfTheProcess, 2},
    Method{"resumed", Way::TlsResumed, Device::OfTheProcess, 3},
    Method{"tcp+open", Way::Tcp, Device::OfTheConnection, 4},
    Method{"tls+open", Way::Tls, Device::OfTheConnection, 5},
    Method{"resumed+open", Way::TlsResumed, Device::OfTheConnection, 6},
};

constexpr bool is_tls(Way way) {
    return way == Way::Tls || way == Way::TlsResumed;
}

/// In the order in which steps 06 and 07 go through them. Of rdma_cm, Connect is the resolution of
/// address and route, and Exchange is rdma_connect until ESTABLISHED: librdmacm takes the queue
/// pair through its states within.
enum class Phase : std::uint8_t {
    Connect,
    Handshake,
    DeviceOpen,
    Resources,
    Exchange,
    States,
    FirstByte
};

inline constexpr std::array<std::string_view, 7> phase_names{
    "connect", "tls_handshake", "device_open", "resources", "exchange", "states", "first_byte"};

}  // namespace bench
