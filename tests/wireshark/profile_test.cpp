// wireshark/profile: what its columns show and which packets its filters match, according to
// tshark.
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "capture/pcapng_writer.hpp"
#include "net/endpoint.hpp"
#include "wire/cm_data.hpp"
#include "wire/opcode.hpp"
#include "wireshark/plain_tshark.hpp"
#include "wireshark/tcp_frame.hpp"

namespace {

using wire::Operation;

struct Sample {
    std::string what;
    std::vector<std::byte> bytes;
    std::string comment;
};

std::vector<std::byte> encoded(std::uint8_t opcode, std::optional<std::uint8_t> syndrome = {}) {
    auto packet =
        wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, 64);
    if (syndrome)
        packet.aeth->syndrome = *syndrome;
    return wire::encode(packet);
}

std::string kind(const wire::OpcodeInfo& opcode) {
    switch (opcode.operation) {
        case Operation::Send:
            return "SEND";
        case Operation::RdmaWrite:
            return "WRITE";
        case Operation::RdmaReadRequest:
        case Operation::RdmaReadResponse:
            return "READ";
        case Operation::Acknowledge:
            return "ACK";
        case Operation::AtomicAcknowledge:
        case Operation::CmpSwap:
        case Operation::FetchAdd:
            return "ATOMIC";
        default:
            return "other RDMA";
    }
}

// A packet of every opcode, and of everything else that a filter matches.
const std::vector<Sample>& samples() {
    static const std::vector<Sample> made = [] {
        std::vector<Sample> all;
        for (const auto& opcode : wire::opcodes())
            // In a SEND over UD, Wireshark decodes any payload as a MAD.
            if (opcode.transport() != wire::Transport::Ud)
                all.push_back({kind(opcode), encoded(opcode.value), ""});
        constexpr std::uint8_t ack = 0x11;
        all.push_back({"NAK of a sequence", encoded(ack, 0x60), ""});
        all.push_back({"NAK", encoded(ack, 0x62), ""});
        all.push_back({"RNR NAK", encoded(ack, 0x2e), ""});
        all.push_back({"WRITE", encoded(0x0a), "client wr 1 RDMA_WRITE 64 B, PSN 1 of 1"});
        all.push_back({"again", encoded(0x0a), "client wr 1 RDMA_WRITE 64 B, PSN 1 of 1, again"});
        const auto mad =
            wire_test::cm_mad(wire::CmAttribute::ReadyToUse, wire_test::CmData().bytes());
        all.push_back(
            {"CM", wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4)), ""});
        all.push_back(
            {"Exchange",
             wireshark_test::tcp_frame(net::serialize_header(net::MessageType::Ready), 18515, 1),
             ""});
        all.push_back({"TCP", wireshark_test::tcp_frame(wire_test::from_hex("00"), 4000, 1), ""});
        return all;
    }();
    return made;
}

// Returns the value with Wireshark's escaped quotes replaced by quotes.
std::string unescaped(const std::string& text) {
    return std::regex_replace(text, std::regex(R"(\\x22)"), "\"");
}

class WiresharkProfile : public testing::Test {
  protected:
    WiresharkProfile() {
        capture::PcapngWriter writer(capture::Sink::create(capture_.str()), {});
        const auto interface = writer.add_interface({});
        for (const Sample& sample : samples())
            writer.packet(interface,
                          {.time = capture::Time(1'000'000'000),
                           .bytes = sample.bytes,
                           .original_length = static_cast<std::uint32_t>(sample.bytes.size())},
                          sample.comment);
        writer.close();
        std::filesystem::create_directories(home_.config() / "profiles");
        std::filesystem::create_directory_symlink(
            std::filesystem::absolute("wireshark/profile/RDMA Wire Lab"),
            home_.config() / "profiles/RDMA Wire Lab");
    }

    void SetUp() override {
        if (!wireshark_test::runs_scripts())
            GTEST_SKIP() << wireshark_test::no_scripts;
    }
    // Runs tshark with the profile and the dissector.
    std::string tshark(support::Argv options) const {
        options.insert(options.begin(), {"-C", "RDMA Wire Lab", "-X",
                                         std::string("lua_script:") + wireshark_test::plugin});
        const auto outcome = home_.tshark(capture_.str(), options);
        EXPECT_EQ(outcome.exit_code, 0) << options.back() << "\n" << outcome.all();
        return outcome.out;
    }
    // Returns the kinds of the packets that match a display filter.
    std::multiset<std::string> shown(const std::string& filter) const {
        std::istringstream out(tshark({"-T", "fields", "-e", "frame.number", "-Y", filter}));
        std::multiset<std::string> found;
        for (std::size_t number = 0; out >> number;)
            found.insert(samples().at(number - 1).what);
        return found;
    }
    static std::multiset<std::string> those(const std::set<std::string>& whats) {
        std::multiset<std::string> found;
        for (const Sample& sample : samples())
            if (whats.contains(sample.what))
                found.insert(sample.what);
        return found;
    }
    // Returns the names and filters in a file's lines: the first and second group of the pattern.
    static std::vector<std::pair<std::string, std::string>> filters(const std::string& name,
                                                                    const std::string& pattern) {
        std::ifstream file("wireshark/profile/RDMA Wire Lab/" + name);
        std::vector<std::pair<std::string, std::string>> found;
        std::smatch match;
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("#"))
                continue;
            EXPECT_TRUE(std::regex_match(line, match, std::regex(pattern))) << line;
            found.emplace_back(match[1], unescaped(match[2]));
        }
        return found;
    }
    using Wanted = std::map<std::string, std::set<std::string>>;
    // Expects that each filter shows exactly the packets listed for its name, and that no name is
    // missing.
    void expect(const std::vector<std::pair<std::string, std::string>>& filters,
                const Wanted& wanted) const {
        EXPECT_EQ(filters.size(), wanted.size());
        for (const auto& [name, filter] : filters) {
            ASSERT_TRUE(wanted.contains(name)) << name;
            EXPECT_EQ(shown(filter), those(wanted.at(name))) << name << ": " << filter;
        }
    }

    support::TempPath capture_{"profile.pcapng"};
    wireshark_test::Home home_{"profile"};
};

const std::set<std::string> every_rdma{"SEND", "WRITE", "READ", "ATOMIC",  "other RDMA",
                                       "ACK",  "again", "NAK",  "RNR NAK", "NAK of a sequence"};
const std::set<std::string> every_nak{"NAK", "NAK of a sequence", "RNR NAK"};

TEST_F(WiresharkProfile, colours_each_packet_by_the_rule_that_is_meant_for_it) {
    // The first rule that matches applies.
    const auto rules = filters("colorfilters", R"(@([^@]+)@([^@]+)@\[.*\]\[.*\])");
    std::map<std::string, std::set<std::string>> coloured;
    std::map<std::string, std::string> rule_of;
    for (const auto& [rule, filter] : rules)
        for (const std::string& what : shown(filter))
            if (rule_of.try_emplace(what, rule).second)
                coloured[rule].insert(what);
    const Wanted wanted{{"NAK: PSN sequence error", {"NAK of a sequence"}},
                        {"NAK", {"NAK"}},
                        {"RNR NAK", {"RNR NAK"}},
                        {"Retransmission", {"again"}},
                        {"CM", {"CM"}},
                        {"Exchange", {"Exchange"}},
                        {"WRITE", {"WRITE"}},
                        {"READ", {"READ"}},
                        {"ATOMIC", {"ATOMIC"}},
                        {"SEND", {"SEND"}},
                        {"ACK", {"ACK"}},
                        {"TCP", {"TCP"}}};
    EXPECT_EQ(coloured, wanted);
}

TEST_F(WiresharkProfile, colours_all_packets_of_a_kind) {
    expect(filters("colorfilters", R"(@([^@]+)@([^@]+)@\[.*\]\[.*\])"),
           {{"NAK: PSN sequence error", {"NAK of a sequence"}},
            {"NAK", {"NAK", "NAK of a sequence"}},
            {"RNR NAK", {"RNR NAK"}},
            {"Retransmission", {"again"}},
            {"CM", {"CM"}},
            {"Exchange", {"Exchange"}},
            {"WRITE", {"WRITE", "again"}},
            {"READ", {"READ"}},
            {"ATOMIC", {"ATOMIC"}},
            {"SEND", {"SEND"}},
            {"ACK", {"ACK"}},
            {"TCP", {"TCP", "Exchange"}}});
}

TEST_F(WiresharkProfile, has_buttons_that_show_what_they_are_named_after) {
    expect(filters("dfilter_buttons", R"RE("TRUE","([^"]+)","([^"]+)","[^"]*")RE"),
           {{"RDMA", every_rdma},
            {"CM", {"CM"}},
            {"Exchange", {"Exchange"}},
            {"SEND", {"SEND"}},
            {"WRITE", {"WRITE", "again"}},
            {"READ", {"READ"}},
            {"ATOMIC", {"ATOMIC"}},
            {"ACK", {"ACK"}},
            {"NAK", every_nak},
            {"Again", {"again"}}});
}

TEST_F(WiresharkProfile, graphs_rdma_against_tcp) {
    expect(filters("io_graphs", R"RE("Enabled","([^"]+)","([^"]+)",.*)RE"),
           {{"RDMA", every_rdma},
            {"TCP", {"TCP", "Exchange"}},
            {"CM", {"CM"}},
            {"NAK", every_nak},
            {"Retransmissions", {"again"}}});
}

// Opcode, DestQP, PSN, rkey and AETH of the last packet that matches a filter.
TEST_F(WiresharkProfile, has_columns_for_what_rdma_is_about) {
    const auto columns = [this](const std::string& filter) {
        std::string cells = tshark({"-T", "tabs", "-Y", filter});
        cells = std::regex_replace(cells, std::regex(R"(^ *\d+\t[^\t]*\t *)"), "");
        cells = std::regex_replace(cells, std::regex(" +\n"), "\n");
        return std::regex_replace(cells, std::regex(R"( *\t *)"), "|");
    };
    EXPECT_EQ(
        columns("frame.comment contains \", again\""),
        "192.0.2.2|→|192.0.2.1|RRoCE|10|0x012345|16777214|0xdeadbeef||"
        "client wr 1 RDMA_WRITE 64 B, PSN 1 of 1, again|138|RC RDMA Write Only QP=0x012345\n");
    EXPECT_EQ(columns("infiniband.aeth.syndrome == 0x62"),
              "192.0.2.2|→|192.0.2.1|RRoCE|17|0x012345|16777214||Nak,Remote Access Error||62|"
              "RC Acknowledge QP=0x012345 [Remote Access Error]\n");
    EXPECT_NE(columns("infiniband.bth.opcode == 19").find("|19|0x012345|16777214|0xcafebabe|"),
              std::string::npos);
}

}  // namespace
