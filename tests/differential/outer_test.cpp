// Packets in encapsulations: the inner headers and the numbers of the encapsulations match
// tshark's.
#include <gtest/gtest.h>

#include "differential/made_capture.hpp"
#include "wire/encapsulations.hpp"

namespace {

using differential::MadeCapture;
using wire_test::Network;

TEST(Outer, packets_in_every_encapsulation_are_what_tshark_sees) {
    for (const auto& encapsulation : wire_test::encapsulations()) {
        SCOPED_TRACE(encapsulation.name);
        // tshark 4.0 takes a switch's metadata behind GRE for data.
        if (encapsulation.name == "gre of a switch's mirror")
            continue;
        std::printf("%.*s: ", static_cast<int>(encapsulation.name.size()),
                    encapsulation.name.data());
        MadeCapture capture("outer");
        for (const wire::OpcodeInfo& opcode : wire::opcodes())
            for (const Network network : {Network::Ipv4, Network::Ipv6})
                capture.add(encapsulation.wrap(
                    wire::encode(wire_test::sample_packet(opcode, network, 21))));
        capture.compare();
    }
}

TEST(Outer, mac_control_frames_are_what_tshark_sees) {
    MadeCapture capture("mac_control");
    for (const auto* control :
         {"0001 ffff", "0001 0000", "0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000",
          "0101 00ff 0001 0002 0003 0004 0005 0006 0007 0008"}) {
        auto frame = wire_test::from_hex(std::string("0180c2000001 020000000002 8808") + control);
        frame.resize(60);
        capture.add(frame);
    }
    capture.compare(10);
}

}  // namespace
