// The offset and size of each header in packets of every opcode match tshark's.
#include <map>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "differential/made_capture.hpp"
#include "support/process.hpp"
#include "wire/sample_set.hpp"

namespace {

using wire::Header;

// tshark 4.0 knows no FETH and no XRCETH.
const std::map<std::string, Header, std::less<>> headers{
    {"eth", Header::Ethernet},
    {"ip", Header::Ipv4},
    {"ipv6", Header::Ipv6},
    {"udp", Header::Udp},
    {"infiniband.grh", Header::Grh},
    {"infiniband.bth", Header::Bth},
    {"infiniband.deth", Header::Deth},
    {"infiniband.reth", Header::Reth},
    {"infiniband.atomiceth", Header::AtomicEth},
    {"infiniband.aeth", Header::Aeth},
    {"infiniband.atomicacketh", Header::AtomicAckEth},
    {"infiniband.immdt", Header::ImmDt},
    {"infiniband.ieth", Header::Ieth},
    {"infiniband.invariant.crc", Header::Icrc}};

TEST(Positions, of_all_headers_are_those_that_tshark_sees) {
    differential::MadeCapture capture("positions");
    std::vector<wire::Trail> trails;
    for (const auto& [link, frame] : wire_test::sample_set()) {
        const wire::Packet packet = wire::decode(frame, link);
        // The sizes and offsets that tshark 4.0 gives for RD's headers are wrong, and it takes DC
        // for RD.
        if (link != wire::LinkType::Ethernet || packet.rdeth || packet.dceth)
            continue;
        capture.add(frame);
        trails.push_back(packet.trail);
    }
    const auto tshark = support::run({"tshark", "-r", capture.path(), "-T", "pdml"});
    ASSERT_EQ(tshark.exit_code, 0) << tshark.err;
    const std::regex header(R"re(<(?:proto|field) name="([^"]+)".* size="(\d+)" pos="(\d+)")re");
    std::map<std::string, int> compared;
    std::size_t packets = 0;
    std::istringstream lines(tshark.out);
    for (std::string line; std::getline(lines, line);) {
        if (line == "<packet>")
            ++packets;
        std::smatch found;
        if (!std::regex_search(line, found, header))
            continue;
        const auto known = headers.find(found[1].str());
        if (known == headers.end())
            continue;
        const wire::Extent extent = trails.at(packets - 1).find(known->second);
        EXPECT_EQ(std::to_string(extent.begin) + "+" + std::to_string(extent.size()),
                  found[3].str() + "+" + found[2].str())
            << known->first << " of packet " << packets;
        ++compared[known->first];
    }
    EXPECT_EQ(packets, trails.size());
    for (const auto& [name, number] : compared)
        std::printf("%s: %d\n", name.c_str(), number);
    EXPECT_EQ(compared.size(), headers.size());
}

}  // namespace
