// Captures packets live on a network interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "capture/pcap_handle.hpp"
#include "capture/rdma_devices.hpp"
#include "capture/source.hpp"

namespace capture {

struct LiveOptions {
    std::string interface;                   // "eth0"; "any" for all; an RDMA device: "mlx5_0"
    std::optional<std::string> filter;       // pcap-filter(7); nullopt: default_filter()
    int snaplen = 262144;                    // bytes kept of each packet
    int buffer_bytes = 64 * 1024 * 1024;     // the kernel's ring
    std::chrono::milliseconds latency{20};   // maximum delay before a packet is delivered
    bool promiscuous = false;                // also frames addressed to other machines
    std::vector<RdmaDevice> rdma_devices{};  // those of this host: rdma_devices()
};

/// Since the start of the capture. pcap_stats(3PCAP).
struct LiveCounters {
    std::uint32_t received = 0;              // passed the filter, whether dropped or not
    std::uint32_t dropped_by_kernel = 0;     // no room in the ring
    std::uint32_t dropped_by_interface = 0;  // by the network card or its driver
};

class LiveSource : public Source {
  public:
    /// Packets are being captured once this returns. Throws util::Error if permission is missing,
    /// the interface does not exist, or the filter does not compile.
    explicit LiveSource(const LiveOptions& options);

    wire::LinkType link_type() const { return link_type_; }
    const std::string& filter() const { return filter_; }

    /// Never waits.
    std::optional<Frame> next() override;

    /// poll() reports it as readable when next() has a frame.
    int fd() const { return fd_; }

    /// How long the kernel may hold back a captured packet.
    std::chrono::milliseconds latency() const { return latency_; }

    LiveCounters counters() const;

  private:
    void set_filter(const std::string& filter);

    std::string name_;
    std::string filter_;
    std::chrono::milliseconds latency_;
    PcapHandle handle_;
    wire::LinkType link_type_;
    int fd_ = -1;
    bool sniffs_rdma_;
    bool drained_ = true;  // queue of an RDMA device
};

/// Filter if none is given: RoCEv2 over IPv4 and IPv6, and on Ethernet also RoCEv1 and all of these
/// inside one VLAN tag. `vlan` shifts the offsets of everything after it in an expression, so the
/// untagged forms come first: pcap-filter(7).
std::string default_filter(wire::LinkType link_type);

}  // namespace capture
