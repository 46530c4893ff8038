// The functions of Soft-RoCE's driver that are its steps, and what is read at each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xray/layout.hpp"

namespace xray {

/// A step of the driver, as a kprobe event.
struct Probe {
    std::string_view step;  ///< "transmit": the name of the kprobe event
    /// Its function's names in different kernels.
    std::vector<std::string_view> functions;
    bool is_return = false;
    /// What is read: kprobe arguments (kernel documentation, trace/kprobetrace).
    std::string arguments;
};

/// All steps, for a kernel with this layout of structures.
std::vector<Probe> probes_of(const Layout& layout);

/// "p:group/transmit rdma_rxe:rxe_xmit_packet qpn=+176($arg1):u32 …"
std::string definition(const Probe& probe, std::string_view function, std::string_view group);

}  // namespace xray
