// Synthetic RoCE traffic between a few hosts, the same in every run: RC connections over IPv4, IPv6
// and VLANs that write, send, read and do atomics, with the faults of a real link (lost packets and
// their retransmission, RNR NAKs, congestion marks), their connection set-up, UD datagrams, and a
// few frames that are not RoCE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "wire/packet.hpp"

namespace bench {

class Traffic {
  public:
    explicit Traffic(unsigned connections = 64);

    struct Frame {
        std::chrono::nanoseconds time{};  ///< since 1970, never decreasing
        std::vector<std::byte> bytes;     ///< Ethernet
    };
    Frame next();

  private:
    struct Connection {
        wire::Packet to_server;  ///< link and network headers of each direction
        wire::Packet to_client;
        std::uint32_t client_qpn = 0;
        std::uint32_t server_qpn = 0;
        wire::Psn psn;
        std::uint32_t msn = 0;
        std::uint32_t rkey = 0;
        std::uint64_t va = 0;
    };

    void connect(unsigned number);
    void exchange(Connection& connection);
    void write(Connection& connection, std::size_t length);
    void send(Connection& connection, std::size_t length);
    void read(Connection& connection, std::size_t length);
    void fetch_add(Connection& connection);
    void datagram(const Connection& connection);
    void not_roce(const Connection& connection);

    wire::Packet request(Connection& connection, std::uint8_t opcode, std::size_t payload);
    wire::Packet response(const Connection& connection, std::uint8_t opcode, wire::Psn psn,
                          std::uint8_t syndrome);
    void acknowledge(Connection& connection, wire::Psn psn);
    void emit(const wire::Packet& packet);
    unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }

    std::mt19937 random_{20260101};  // NOLINT(cert-msc51-cpp): the same in every run
    std::chrono::nanoseconds now_;
    std::vector<Connection> connections_;
    std::deque<Frame> ready_;
};

}  // namespace bench
