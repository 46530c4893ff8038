// The counters of an RDMA device's port, with the names used by its driver. Those of rxe are in the
// kernel's drivers/infiniband/sw/rxe/rxe_hw_counters.c; hardware devices have other counters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace rdma {

using Counters = std::map<std::string, std::uint64_t>;

/// Reads all counters in DEVICE/ports/PORT/hw_counters below `root`; empty if there are none.
Counters read_counters(const std::string& device, unsigned port,
                       const std::filesystem::path& root = "/sys/class/infiniband");

/// The counter's increase: its value if it was reset in between, 0 if one of the two lacks it.
std::uint64_t increase(const Counters& before, const Counters& after, const std::string& name);

}  // namespace rdma
