#include "support/atomic_packets.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace support {
namespace {

constexpr std::uint64_t atomic_acknowledge = 0x12;  // IBTA volume 1, table 38

}  // namespace

std::vector<AtomicPacket> atomic_packets(const LabRun& run) {
    Argv tshark{"tshark", "-n",
                "-r",     run.file("wire.pcapng"),
                "-Y",     "infiniband.bth.opcode in {0x12, 0x13, 0x14}",
                "-T",     "fields",
                "-E",     "separator=,"};
    for (const char* field : {"bth.opcode", "bth.destqp", "bth.psn", "reth.va", "reth.r_key",
                              "atomiceth.swapdt", "atomiceth.cmpdt", "atomicacketh.origremdt"})
        tshark.insert(tshark.end(), {"-e", std::string("infiniband.") + field});
    const Outcome outcome = support::run(tshark);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<AtomicPacket> packets;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::uint64_t> cells;
        std::istringstream text(line);
        for (std::string cell; std::getline(text, cell, ',');)
            cells.push_back(cell.empty() ? 0 : std::stoull(cell, nullptr, 0));
        cells.resize(8);
        packets.push_back({cells[0] == atomic_acknowledge, cells[1], cells[2], cells[3], cells[4],
                           cells[5], cells[6], cells[7]});
    }
    return packets;
}

ByPsn by_psn(const std::vector<AtomicPacket>& packets, bool answers) {
    ByPsn found;
    for (const AtomicPacket& packet : packets)
        if (packet.is_answer == answers)
            found[{packet.dest_qpn, packet.psn}].push_back(packet);
    return found;
}

}  // namespace support
