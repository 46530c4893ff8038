// Lesson 18, on the client's host: an attacker who can read and write the interface and knows
// everything about the connection except the keys.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "capture/live_source.hpp"
#include "examples/09_forged_packets/packets.hpp"
#include "examples/09_forged_packets/raw_sender.hpp"
#include "net/endpoint.hpp"
#include "util/error.hpp"

namespace lesson18 {

using Frame = std::vector<std::byte>;

class Attacker {
  public:
    /// Throws util::Error without root or CAP_NET_RAW. Starts the capture before it returns.
    explicit Attacker(const std::string& interface)
        : source_(
              {.interface = interface, .filter = "ip proto 50 or ip6 proto 50 or udp port 4791"}) {
        sender_.use(interface);
    }

    /// Returns the first ESP or RoCE packet to the server since the last call. Throws util::Error
    /// if there is none before the deadline or a stop was requested.
    lesson09::CapturedFrame record(const wire::Gid& client, util::StopSignal& stop,
                                   util::Deadline deadline) {
        while (true) {
            while (const auto frame = source_.next()) {
                lesson09::CapturedFrame seen{{frame->bytes.begin(), frame->bytes.end()}};
                if (lesson09::source_gid(seen.packet()) == client)
                    return seen;
            }
            if (util::wait_readable(source_.fd(), stop, deadline) != util::Ready::input)
                throw util::Error(
                    "the WRITE passed the interface neither as RoCE nor in ESP: its device does "
                    "not "
                    "use the kernel's network stack. This lesson needs Soft-RoCE (rdma_rxe).");
        }
    }

    void send(const Frame& frame) { sender_.send(frame); }

  private:
    capture::LiveSource source_;
    lesson09::RawSender sender_;
};

/// Returns a plain RoCE WRITE Only with the addresses of the captured packet.
inline Frame plain_write(const lesson09::CapturedFrame& seen, const net::Endpoint& server,
                         wire::Psn psn, util::Bytes payload) {
    return lesson09::altered(seen, [&](wire::Packet& packet) {
        constexpr std::uint8_t rc_write_only = 0x0a;
        constexpr std::uint16_t default_p_key = 0xffff;
        if (packet.ipv4)
            packet.ipv4->protocol = wire::ip_protocol::udp;
        if (packet.ipv6)
            packet.ipv6->next_header = wire::ip_protocol::udp;
        packet.udp = wire::Udp{.src_port = 49152};
        packet.bth = wire::Bth{.opcode = rc_write_only,
                               .p_key = default_p_key,
                               .dest_qpn = server.qpn,
                               .a = true,
                               .psn = psn};
        packet.reth = wire::Reth{.va = server.va,
                                 .rkey = server.rkey,
                                 .dmalen = static_cast<std::uint32_t>(payload.size())};
        packet.payload = payload;
    });
}

/// Returns the offset of the ESP header: 4 bytes SPI, 4 bytes sequence number, then encrypted data.
inline std::size_t esp_at(const lesson09::CapturedFrame& seen) {
    const wire::Packet packet = seen.packet();
    constexpr std::size_t ethernet_size = 14;
    constexpr std::size_t ipv6_size = 40;
    return ethernet_size + (packet.ipv4 ? packet.ipv4->header_length : ipv6_size);
}

/// Returns the captured packet with one byte changed.
inline Frame changed(const lesson09::CapturedFrame& seen, std::size_t at) {
    Frame frame = seen.frame;
    frame.at(at) ^= std::byte{1};
    return frame;
}

}  // namespace lesson18
