// A synthetic run in which the link emulator drops a packet.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tools/rocecap/synthetic_run.hpp"

namespace rocecap_test {

// Three WRITEs of three packets each. The link emulator drops the fifth packet (PSN +4). The NAK
// arrives before the third WRITE begins.
class LostPacket {
  public:
    LostPacket() {
        run_.log_states(0x5e1900u, 0xc19000u);
        send({0, 1, 2});
        respond(2, ack);
        send({3, 5});
        respond(4, nak);
        send({6, 7, 8});
        send({4, 5, 6, 7, 8});
        respond(5, ack);
        respond(8, ack);
        run_.keep_capture();
        run_.log("link", "drop",
                 {{"rule", 1u},
                  {"text", "drop the 5th packet from client"},
                  {"from", "client"},
                  {"to", "server"},
                  {"opcode_name", "RC RDMA WRITE Middle"},
                  {"dest_qpn", 0x11u},
                  {"psn", first_psn + 4}});
    }

    std::string path() const { return run_.path(); }

  private:
    static constexpr std::uint8_t write_first = 0x06;
    static constexpr std::uint8_t write_middle = 0x07;
    static constexpr std::uint8_t write_last = 0x08;
    static constexpr std::uint8_t acknowledge = 0x11;
    static constexpr std::uint32_t first_psn = 0xc19000;
    static constexpr std::uint8_t ack = 0x1f;
    static constexpr std::uint8_t nak = 0x60;  // PSN sequence error

    void send(std::initializer_list<std::uint32_t> offsets) {
        for (const std::uint32_t offset : offsets)
            run_.packet(std::array{write_first, write_middle, write_last}.at(offset % 3),
                        first_psn + offset);
    }
    void respond(std::uint32_t offset, std::uint8_t syndrome) {
        run_.packet_with(acknowledge, first_psn + offset, true,
                         [syndrome](wire::Packet& packet) { packet.aeth->syndrome = syndrome; });
    }

    SyntheticRun run_{"predict_lost"};
};

}  // namespace rocecap_test
