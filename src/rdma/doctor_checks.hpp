// Parts of diagnose(): its checks of ports and GIDs, and what they share with those of the host.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdma/doctor.hpp"

namespace rdma {

/// The findings of all checks, in their order.
class Report {
  public:
    void add(Finding finding) { findings_.push_back(std::move(finding)); }
    void good(std::string what) { findings_.push_back({Verdict::good, std::move(what), ""}); }
    void advice(std::string what, std::string fix) {
        findings_.push_back({Verdict::advice, std::move(what), std::move(fix)});
    }
    void wrong(std::string what, std::string fix) {
        findings_.push_back({Verdict::wrong, std::move(what), std::move(fix)});
    }
    std::vector<Finding> take() { return std::move(findings_); }

  private:
    std::vector<Finding> findings_;
};

/// The interface that has this address; nullptr: none of this network namespace.
const NetdevFacts* netdev_with(const HostFacts& host, const util::Address& address);

/// A Soft-RoCE device carries the addresses of an interface, and of the VLANs above it. The kernel refuses one on a VLAN.
const std::string& carrier(const NetdevFacts& netdev);

/// Interface for a Soft-RoCE device: the one with the requested address, else one with a hardware
/// device. If there are several, `others` lists the rest.
struct NetdevChoice {
    std::string netdev;
    std::string others;
};
NetdevChoice choose_netdev(const HostFacts& host, const std::optional<util::Address>& address);

// doctor_ports.cpp
void check_port(const PortFacts& port, const HostFacts& host, Report& report);
void check_gid_of(const util::Address& address, const HostFacts& host, Report& report);
/// Of a host whose address is not given.
void check_any_gid(const HostFacts& host, Report& report);

}  // namespace rdma
