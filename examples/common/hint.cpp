#include "examples/common/hint.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <sys/resource.h>

#include <fmt/format.h>

namespace common {
namespace {

struct Row {
    std::string_view call;  // beginning of the failed call's name; empty: any
    int error;
    std::string_view hint;
};

constexpr std::string_view no_device =
    " This host has no usable RDMA device: run 00_hello/devices to find out what is missing.";
constexpr std::string_view no_permission =
    " This user may not open /dev/infiniband: run as root or as a member of the group that owns it "
    "(ls -l /dev/infiniband).";

constexpr std::string_view unreachable =
    " Check that the address is right and that the host is up (ping).";

constexpr std::array rows{
    Row{"", EACCES, no_permission},
    Row{"", EPERM, no_permission},
    Row{"rdma_bind_addr", EADDRINUSE,
        " Another program listens there: stop it, or choose another port."},
    Row{"rdma_bind_addr", EADDRNOTAVAIL,
        " Either this host does not have that address (ip addr lists them), or another program "
        "listens on that port at all addresses: then choose another port."},
    Row{"rdma_bind_addr", ENODEV, " No RDMA device serves that address: run 00_hello/devices."},
    Row{"rdma_listen", EADDRINUSE,
        " Another program listens there: stop it, or choose another port."},
    Row{"rdma_resolve_addr", ENODEV,
        " No RDMA device serves the interface that leads there: run 00_hello/devices."},
    Row{"rdma_resolve_addr", ENETUNREACH, " This host has no route there (ip route get ADDRESS)."},
    Row{"rdma_resolve_addr", ETIMEDOUT, unreachable},
    Row{"rdma_resolve_addr", EHOSTUNREACH, unreachable},
    Row{"rdma_connect", ECONNREFUSED,
        " No program listens on this port there, or it rejects this client: start the server "
        "first."},
    Row{"rdma_connect", ETIMEDOUT,
        " Does that host have an RDMA device on that address (00_hello/devices), and does its "
        "firewall let UDP 4791 through?"},
    Row{"rdma_resolve_addr", EADDRNOTAVAIL,
        " This host does not have the --source address (ip addr lists them)."},
    Row{"rdma_create_event_channel", ENODEV, no_device},
    Row{"rdma_create_event_channel", ENOENT, no_device},
    Row{"rdma_create_id", ENODEV, no_device},
    Row{"", ENODEV, no_device},
};

}  // namespace

// std::system_error appends ": <message>" to the text it was given.
std::string call_of(const std::system_error& error) {
    const std::string_view what = error.what();
    const std::string tail = ": " + error.code().message();
    return std::string(what.ends_with(tail) ? what.substr(0, what.size() - tail.size()) : what);
}

std::string hint_for(const std::system_error& error) {
    const std::string call = call_of(error);
    for (const Row& row : rows)
        if (error.code().value() == row.error && call.starts_with(row.call))
            return std::string(row.hint);
    rlimit limit{};
    if (error.code().value() == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        return fmt::format(" The locked-memory limit is {} KiB: raise it with ulimit -l.",
                           limit.rlim_cur / 1024);
    return "";
}

}  // namespace common
