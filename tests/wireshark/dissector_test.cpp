// wireshark/plugins/rdma_wire_lab.lua, run by tshark. The expected bytes come from the code with
// which the steps send them.
#include <optional>

#include <gtest/gtest.h>

#include "net/endpoint.hpp"
#include "rdma/capability.hpp"
#include "tools/rocecap/capture_file.hpp"
#include "wire/cm_data.hpp"
#include "wireshark/plain_tshark.hpp"
#include "wireshark/tcp_frame.hpp"

namespace {

using Bytes = std::vector<std::byte>;

class Dissector : public testing::Test {
  protected:
    void SetUp() override {
        if (!wireshark_test::runs_scripts())
            GTEST_SKIP() << wireshark_test::no_scripts;
    }
    // Returns a row for each packet that has one of the fields: its frame number and the fields,
    // separated by '|'.
    std::string fields(const support::Argv& names, const support::Argv& options = {}) const {
        support::Argv argv{"-X", std::string("lua_script:") + wireshark_test::plugin,
                           "-T", "fields",
                           "-E", "separator=|",
                           "-e", "frame.number"};
        for (const std::string& name : names)
            argv.insert(argv.end(), {"-e", name});
        argv.insert(argv.end(), options.begin(), options.end());
        const auto outcome = home_.tshark(file_.path(), argv);
        // tshark exits with 0 even if the Lua script fails.
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_EQ(outcome.err.find("Lua"), std::string::npos) << outcome.err;
        return outcome.out;
    }
    // Returns the packets that tshark reports as malformed, and Lua errors.
    std::string complaints() const {
        return fields({"_ws.expert.message"}, {"-Y", "_ws.malformed || _ws.lua.error"});
    }

    rocecap_test::CaptureFile file_{"dissector.pcapng"};
    wireshark_test::Home home_{"dissector"};
};

// The private data of one CM message.
class DissectorOfPrivateData : public Dissector {
  protected:
    static constexpr rdma::Capability exposed{
        .va = 0x7fa5'2f6e'5010, .length = 1048576, .rkey = 0x1995};

    void add(wire::CmAttribute attribute, std::size_t at, util::Bytes private_data) {
        Bytes data(wire::Mad::data_size);
        // A request's service ID: RDMA IP CM, TCP's port space, port 4660 (IBTA annex A11).
        std::ranges::copy(wire_test::from_hex("0000000001061234"), data.begin() + 8);
        std::ranges::copy(private_data, data.begin() + static_cast<std::ptrdiff_t>(at));
        const Bytes mad = wire_test::cm_mad(attribute, data);
        file_.add(wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4)));
    }
    std::string capability() const {
        return fields({"rwl.version", "rwl.rkey", "rwl.va", "rwl.length"});
    }

    static constexpr std::size_t in_reply = 36;
};

TEST_F(DissectorOfPrivateData, shows_the_capability_of_a_reply) {
    add(wire::CmAttribute::ConnectReply, in_reply, exposed.serialize());
    EXPECT_EQ(capability(), "1|1|0x00001995|0x00007fa52f6e5010|1048576\n");
    EXPECT_NE(fields({"_ws.col.Info"})
                  .find("capability: rkey 0x00001995, va 0x00007fa52f6e5010, 1048576 bytes"),
              std::string::npos);
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfPrivateData, shows_it_of_a_request_behind_rdma_cms_own_header) {
    constexpr std::size_t in_request = 140 + 36;  // private data after the IP CM header
    add(wire::CmAttribute::ConnectRequest, in_request, exposed.serialize());
    EXPECT_EQ(capability(), "1|1|0x00001995|0x00007fa52f6e5010|1048576\n");
}

TEST_F(DissectorOfPrivateData, leaves_other_programs_data_alone) {
    auto other = exposed.serialize();
    other[3] = std::byte{2};
    add(wire::CmAttribute::ConnectReply, in_reply, other);
    add(wire::CmAttribute::ConnectReply, in_reply, {});
    EXPECT_EQ(capability(), "1||||\n2||||\n");
    EXPECT_EQ(complaints(), "");
}

// Messages in TCP segments from the client to the server's port.
class DissectorOfExchange : public Dissector {
  protected:
    static net::Endpoint endpoint() {
        net::Endpoint made{.qpn = 0x12,
                           .psn = 0xc11e00,
                           .lid = 0x203,
                           .path_mtu = 4096,
                           .va = 0x7f0c'2190'5010,
                           .length = 1048576,
                           .rkey = 0x98e};
        for (const std::size_t i : {10U, 11U})
            made.gid[i] = std::byte{0xff};
        made.gid[12] = std::byte{192};
        made.gid[14] = std::byte{2};
        made.gid[15] = std::byte{1};
        return made;
    }
    static Bytes message() {
        const auto bytes = net::serialize(endpoint());
        return {bytes.begin(), bytes.end()};
    }

    // Adds the next segment of the stream, from port 51234 to `port`.
    void segment(util::Bytes payload, unsigned port = 18515, std::size_t cut = 0) {
        Bytes frame = wireshark_test::tcp_frame(payload, port, sequence_);
        sequence_ += static_cast<std::uint32_t>(payload.size());
        const std::size_t length = frame.size();
        frame.erase(frame.end() - static_cast<std::ptrdiff_t>(cut), frame.end());
        file_.add(frame, length);
    }
    std::string endpoints() const {
        return fields(
            {"rwlx.version", "rwlx.type", "rwlx.length", "rwlx.qpn", "rwlx.psn", "rwlx.lid",
             "rwlx.path_mtu", "rwlx.gid", "rwlx.va", "rwlx.memory", "rwlx.rkey"},
            {"-Y", "rwlx.type"});
    }
    static constexpr const char* endpoint_row =
        "|1|1|48|0x00000012|0x00c11e00|515|4096|::ffff:192.0.2.1|0x00007f0c21905010|1048576|"
        "0x0000098e\n";

  private:
    std::uint32_t sequence_ = 1000;
};

TEST_F(DissectorOfExchange, shows_an_endpoint) {
    segment(message());
    EXPECT_EQ(endpoints(), std::string("1") + endpoint_row);
    EXPECT_EQ(fields({"_ws.col.Protocol", "_ws.col.Info"}),
              "1|RWLX|endpoint: QPN 0x000012, PSN 0xc11e00, path MTU 4096, rkey 0x0000098e, "
              "va 0x00007f0c21905010, 1048576 bytes  \n");
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfExchange, shows_it_on_a_port_of_any_number) {
    segment(message(), 4000);
    EXPECT_EQ(endpoints(), std::string("1") + endpoint_row);
}

TEST_F(DissectorOfExchange, puts_a_message_together_wherever_it_is_divided) {
    const Bytes whole = message();
    for (std::size_t at = 1; at < whole.size(); ++at) {
        segment(util::Bytes(whole).first(at));
        segment(util::Bytes(whole).subspan(at));
    }
    std::string wanted;
    for (std::size_t at = 1; at < whole.size(); ++at)
        wanted += std::to_string(2 * at) + endpoint_row;
    EXPECT_EQ(endpoints(), wanted);
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfExchange, shows_both_messages_of_one_segment) {
    Bytes both = message();
    const auto ready = net::serialize_header(net::MessageType::Ready);
    both.insert(both.end(), ready.begin(), ready.end());
    segment(both);
    EXPECT_EQ(fields({"rwlx.type", "rwlx.qpn"}), "1|1,2|0x00000012\n");
    const std::string line = fields({"_ws.col.Info"});
    EXPECT_TRUE(line.starts_with("1|endpoint: QPN ") && line.ends_with("bytes  ready  \n")) << line;
}

TEST_F(DissectorOfExchange, shows_what_a_refusal_says) {
    segment(net::serialize_refusal("the server is full."));
    segment(net::serialize_refusal(""));
    segment(net::serialize_header(net::MessageType::Done));
    EXPECT_EQ(fields({"rwlx.type", "rwlx.reason", "_ws.col.Info"}),
              "1|4|the server is full.|refused: the server is full.  \n2|4||refused  \n"
              "3|3||done  \n");
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfExchange, shows_an_unknown_type_as_one) {
    Bytes other = wire_test::from_hex("52574c58 01 2a 0003 aabbcc");
    other.insert(other.end(), {std::byte{'R'}, std::byte{'W'}, std::byte{'L'}, std::byte{'X'}});
    const Bytes ready = wire_test::from_hex("01 02 0000");
    other.insert(other.end(), ready.begin(), ready.end());
    segment(other);
    EXPECT_EQ(fields({"rwlx.type", "rwlx.rest", "_ws.expert.message", "_ws.col.Info"}),
              "1|42,2|aabbcc|A type this dissector does not know|type 42  ready  \n");
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfExchange, reads_no_other_version_as_its_own) {
    Bytes other = message();
    other[4] = std::byte{2};
    segment(other);
    EXPECT_EQ(fields({"rwlx.version", "rwlx.qpn", "_ws.expert.message"}, {"-Y", "rwlx"}),
              "1|2||Not version 1: this dissector does not know its layout\n");
}

TEST_F(DissectorOfExchange, shows_what_a_message_that_is_too_short_has) {
    Bytes cut = message();
    cut.resize(8 + 6);
    cut[7] = std::byte{6};
    segment(cut);
    EXPECT_EQ(fields({"rwlx.qpn", "rwlx.psn", "_ws.expert.message"}, {"-Y", "rwlx"}),
              "1|0x00000012||The message ends too soon\n");
    EXPECT_EQ(complaints(), "");
}

TEST_F(DissectorOfExchange, shows_bytes_behind_an_endpoint_as_such) {
    Bytes longer = message();
    longer.insert(longer.end(), {std::byte{0xab}, std::byte{0xcd}});
    longer[7] = std::byte{50};
    segment(longer);
    EXPECT_EQ(fields({"rwlx.rkey", "rwlx.rest"}), "1|0x0000098e|abcd\n");
}

TEST_F(DissectorOfExchange, leaves_a_segment_that_the_capture_cut_to_what_is_there) {
    segment(message(), 18515, 48 - 10);
    EXPECT_EQ(fields({"rwlx.type", "rwlx.qpn", "rwlx.rkey"}), "1|1|0x00000012|\n");
}

TEST_F(DissectorOfExchange, leaves_other_programs_on_the_port_alone) {
    segment(wire_test::from_hex("474554202f20485454502f312e310d0a0d0a"));
    EXPECT_EQ(fields({"rwlx.type"}), "1|\n");
    EXPECT_EQ(complaints(), "");
}

}  // namespace
