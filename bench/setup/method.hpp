// The ways to a connection that are measured, and the phases of each. Both programs read this
// table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/address.hpp"

namespace bench {

/// Whose device it is. librdmacm opens a device once for a process and keeps it. Steps 06 and 07
/// open it for each connection, on both sides; so that this does not hide what the exchange itself
/// takes, they are measured in both ways.
enum class Device : std::uint8_t { OfTheProcess, OfTheConnection };

/// TlsKept: the endpoints of all connections travel over one TLS connection, which the first of
/// them makes.
enum class Exchange : std::uint8_t { Cm, Tcp, Tls, TlsResumed, TlsKept };

struct Method {
    std::string_view name;
    Exchange exchange;
    Device device;
    std::uint16_t port;  // counted from --port, which is the control connection's
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

/// Where a method's connections go, by the control connection's address.
inline util::Address address_for(const Method& method, util::Address control) {
    control.set_port(static_cast<std::uint16_t>(control.port() + method.port));
    return control;
}

constexpr bool is_tls(Exchange exchange) {
    return exchange != Exchange::Cm && exchange != Exchange::Tcp;
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
