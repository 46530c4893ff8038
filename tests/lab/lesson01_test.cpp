// Lesson 01 in the lab: the programs' logs are compared with the capture, as decoded by tshark, and
// with the kernel's counters.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "examples/common/memory.hpp"
#include "support/step_checks.hpp"

namespace lesson01_test {

using support::LabRun;
using support::TsharkPacket;

// BTH opcodes, IBTA volume 1, table 38.
constexpr unsigned rc_write_first = 0x06, rc_write_middle = 0x07, rc_write_last = 0x08,
                   rc_write_only = 0x0a;
constexpr unsigned rc_read_request = 0x0c, rc_read_response_first = 0x0d,
                   rc_read_response_only = 0x10;

struct Case {
    const char* name;
    support::Argv environment;
    std::uint64_t length;
    std::string server, client;
};

class Lesson01 : public testing::TestWithParam<Case> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_P(Lesson01, log_wire_memory_and_counters_agree) {
    const Case& wanted = GetParam();
    const LabRun run =
        support::capture("01", wanted.environment, {"--length", std::to_string(wanted.length)});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    ASSERT_TRUE(run.info.is_object()) << run.outcome.all();

    // The packets, as decoded by tshark.
    const auto packets = support::tshark_packets(run.file("wire.pcapng"));
    ASSERT_FALSE(packets.empty());
    const auto states = LabRun::ready_to_send(run.client);
    ASSERT_EQ(states.size(), 1U);
    const auto& state = states.front();
    const auto client_qpn = state.number("qpn").value();
    const auto server_qpn = state.number("dest_qpn").value();
    const auto is_request = [&](const TsharkPacket& p) {
        return p.destination == wanted.server && p.dest_qpn == server_qpn;
    };
    const auto is_read_response = [&](const TsharkPacket& p) {
        return p.destination == wanted.client && p.dest_qpn == client_qpn &&
               p.opcode >= rc_read_response_first && p.opcode <= rc_read_response_only;
    };

    // Each PSN that a WRITE predicts is in exactly one WRITE packet. Each PSN that a READ predicts
    // is in exactly one response packet.
    const auto posts = LabRun::all(run.client, "post_send");
    ASSERT_EQ(posts.size(), 2u);
    std::multiset<std::uint32_t> written, responded;
    std::vector<std::uint32_t> read_requests;
    for (const TsharkPacket& packet : packets) {
        if (is_request(packet) && packet.opcode >= rc_write_first && packet.opcode <= rc_write_only)
            written.insert(packet.psn);
        else if (is_request(packet) && packet.opcode == rc_read_request)
            read_requests.push_back(packet.psn);
        else if (is_read_response(packet))
            responded.insert(packet.psn);
    }
    const auto write_psns = support::psns_of(posts[0]);
    const auto read_psns = support::psns_of(posts[1]);
    EXPECT_TRUE(std::ranges::equal(write_psns, written));
    EXPECT_TRUE(std::ranges::equal(read_psns, responded));
    EXPECT_EQ(read_requests,
              std::vector{static_cast<std::uint32_t>(posts[1].number("psn_first").value())});
    const auto mtu = state.number("path_mtu").value();
    EXPECT_EQ(write_psns.size(), std::max<std::uint64_t>(1, (wanted.length + mtu - 1) / mtu));

    // The server's and the client's memory contain the bytes.
    const auto bytes = common::pattern(wanted.length, "Hello from the client. ");
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    for (const auto& [log, size] :
         {std::pair{&run.server, std::uint64_t{1} << 20}, {&run.client, wanted.length}}) {
        const auto notes = support::notes(*log, " in use, ");
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_NE(notes[0].find(fmt::format(": {} of {} B in use, CRC-32 {:#010x}, ", wanted.length,
                                            size, crc)),
                  std::string::npos)
            << notes[0];
    }

    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
    RecordProperty("packets", static_cast<int>(packets.size()));
}

INSTANTIATE_TEST_SUITE_P(
    Wire, Lesson01,
    testing::Values(
        Case{"ipv4", {"LAB_FAMILY=ipv4"}, 10'000, support::server_ip, support::client_ip},
        Case{"ipv6", {"LAB_FAMILY=ipv6"}, 10'000, support::server_ip6, support::client_ip6},
        Case{"one_byte", {}, 1, support::server_ip, support::client_ip},
        Case{"a_whole_packet", {}, 4096, support::server_ip, support::client_ip},
        Case{"a_packet_and_a_byte", {}, 4097, support::server_ip, support::client_ip},
        Case{"a_mebibyte", {}, 1 << 20, support::server_ip, support::client_ip}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace lesson01_test
