// The measured connection methods, and the phases of each. Both programs read this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/address.hpp"

namespace bench {

/// Who opens the device. librdmacm opens a device once per process and keeps it open. Lessons 06 and
/// 07 open it for each connection, on both sides. They are measured in both ways, so that this does
/// not hide the time of the exchange itself.
enum class Device : std::uint8_t { OfTheProcess, OfTheConnection };

/// TlsKept: the endpoints of all connections travel over one TLS connection, which the first of
/// them opens.
enum class Exchange : std::uint8_t { Cm, Tcp, Tls, TlsResumed, TlsKept };

struct Method {
    std::string_view name;
    Exchange exchange;
    Device device;
    std::uint16_t port;  // offset from --port, the control connection's port
};

inline constexpr std::uint16_t default_port = 18600;

inline constexpr std::array methods{
    Method{"cm", Exchange::Cm, Device::OfTheProcess, 1},
    Method{"tcp", Exchange::Tcp, Device::OfTheProcess, 1},
    Method{"tls", Exchange::Tls, Device::OfTheProcess, 2},
    Method{"resumed", Exchange::TlsResumed, Device::OfTheProcess, 3},
    Method{"kept", Exchange::TlsKept, Device::OfTheProcess, 7},
    Method{"tcp+open", Exchange::Tcp, Device::OfTheConnection, 4},
    Method{"tls+open", Exchange::Tls, Device::OfTheConnection, 5},
    Method{"resumed+open", Exchange::TlsResumed, Device::OfTheConnection, 6},
};

/// The address of a method's connections, from the control connection's address.
inline util::Address address_for(const Method& method, util::Address control) {
    control.set_port(static_cast<std::uint16_t>(control.port() + method.port));
    return control;
}

constexpr bool is_tls(Exchange exchange) {
    return exchange != Exchange::Cm && exchange != Exchange::Tcp;
}

/// In the order of lessons 06 and 07. For rdma_cm, Connect is the resolution of address and route,
/// and Exchange is rdma_connect until ESTABLISHED, during which librdmacm changes the queue pair's
/// states.
enum class Phase : std::uint8_t {
    Connect,
    Handshake,
    DeviceOpen,
    Resources,
    Exchange,
    States,
    FirstByte
};

struct PhaseName {
    std::string_view key;    // in JSON
    std::string_view title;  // in the table
};
inline constexpr std::array phase_names{
    PhaseName{"connect", "connect"},         PhaseName{"tls_handshake", "TLS handshake"},
    PhaseName{"device_open", "device open"}, PhaseName{"resources", "PD, MR, CQ, QP"},
    PhaseName{"exchange", "exchange"},       PhaseName{"states", "INIT, RTR, RTS"},
    PhaseName{"first_byte", "first byte"},
};

}  // namespace bench
