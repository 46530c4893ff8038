#include "render/page/details.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "filter/field.hpp"
#include "render/page/page.hpp"
#include "support/temp_path.hpp"
#include "util/json.hpp"
#include "wire/sample_frames.hpp"

namespace details_test {

using util::Json;
using wire_test::Network;

Json details(util::Bytes bytes, std::size_t original_length, std::size_t most_payload = 512) {
    std::string json;
    page::append_details(json, wire::decode(bytes, wire::LinkType::Ethernet, original_length),
                         {.time = capture::Time(0),
                          .bytes = bytes,
                          .original_length = static_cast<std::uint32_t>(original_length)},
                         1, most_payload);
    return Json::parse(json);
}
Json details(const std::vector<std::byte>& bytes, std::size_t most_payload = 512) {
    return details(bytes, bytes.size(), most_payload);
}
std::vector<std::byte> send(std::size_t payload) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, payload));
}
std::string hex(util::Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

// Ethernet 14, IPv4 20, UDP 8 and BTH 12 bytes; the payload begins at 54.
TEST(PageDetails, spans_and_bytes_cover_the_frame) {
    const auto bytes = send(6);
    const Json all = details(bytes);
    EXPECT_EQ(all["spans"],
              "eth 0 14\nip 14 20\nudp 34 8\nbth 42 12\npayload 54 6\npad 60 2\nicrc 62 4\n");
    EXPECT_EQ(all["bytes"], "0 " + hex(bytes) + "\n");
    EXPECT_EQ(all["note"], "");
}

TEST(PageDetails, of_a_request_have_its_scatter_gather_list_and_flags) {
    const std::string all = page::details_of(runlog::Event{
        0,
        "client",
        "post_send",
        {{"send_flags", "SIGNALED"}, {"sges", runlog::Sges{{0x1000, 1, 2}, {0x2000, 20, 3}}}}});
    EXPECT_EQ(Json::parse(all), Json::array({{"send_flags", "SIGNALED"},
                                             {"sges",
                                              "0x1000 + 1 B, lkey 0x00000002; 0x2000 + 20 B, lkey "
                                              "0x00000003"}}));
}

TEST(PageDetails, the_middle_of_a_long_payload_is_left_out) {
    const auto bytes = send(20);
    const util::Bytes all = bytes;
    EXPECT_EQ(details(bytes, 20)["bytes"], "0 " + hex(all) + "\n");
    EXPECT_EQ(details(bytes, 19)["bytes"],
              "0 " + hex(all.first(54 + 19)) + "\n74 " + hex(all.subspan(74)) + "\n");
    // Nothing follows data that are not decoded.
    auto other = wire_test::from_hex("020000000001 020000000002 88cc 0102030405060708");
    EXPECT_EQ(details(other, 4)["bytes"], "0 " + hex(util::Bytes(other).first(18)) + "\n");
}

TEST(PageDetails, a_note_says_what_is_wrong_with_the_packet) {
    auto bytes = send(4);
    bytes.back() ^= std::byte{1};
    EXPECT_EQ(details(bytes)["note"], "Its ICRC is wrong.");
    bytes = send(4);
    bytes[42] = std::byte{0x1f};
    EXPECT_EQ(details(bytes)["note"], "Malformed: BTH opcode 0x1f is reserved.");
    bytes = send(4);
    const auto cut = util::Bytes(bytes).first(50);
    EXPECT_EQ(details(cut, bytes.size(), 512)["note"],
              "Truncated: truncated by snap length: BTH needs 12 bytes, 8 left.");
}

// Of all samples: each kind of header, CM messages and encapsulations.
TEST(PageDetails, made_later_are_those_of_the_frame_as_it_was) {
    std::size_t packets = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("captures/samples")) {
        if (entry.path().extension() != ".pcapng" && entry.path().extension() != ".pcap")
            continue;
        capture::FileSource source(entry.path());
        wire::RoceFlows flows;
        while (const auto frame = source.next()) {
            std::vector<std::byte> bytes(frame->bytes.begin(), frame->bytes.end());
            capture::Frame own = *frame;
            own.bytes = bytes;
            const wire::Packet packet = capture::decode(own, flows);
            std::string now, later;
            page::append_details(now, packet, own, frame->number, 64);
            const auto make = page::details_later(packet, own, frame->number, 64);
            std::ranges::fill(bytes, std::byte{0xee});
            make(later);
            ASSERT_EQ(later, now) << entry.path() << ", frame " << frame->number;
            ++packets;
        }
    }
    EXPECT_GT(packets, 1000U);
}

TEST(PageDetails, made_later_have_the_hint_that_the_packet_had) {
    auto bytes = send(4);
    bytes.back() ^= std::byte{1};
    wire::Packet packet = wire::decode(bytes, wire::LinkType::Ethernet);
    wire::IcrcHint hint{.kind = wire::IcrcHint::Kind::SourcePort, .port = 4660};
    packet.icrc->hint = &hint;
    const auto make = page::details_later(packet, {.bytes = bytes}, 1, 64);
    hint.port = 1;
    std::string json;
    make(json);
    EXPECT_NE(json.find("right with UDP source port 4660"), std::string::npos) << json;
}

TEST(PageDetails, fields_are_numbered_as_in_the_table) {
    const Json table = page::field_table();
    std::istringstream lines(details(send(4))["fields"].get<std::string>());
    std::map<std::string, std::string> shown;
    for (std::string line; std::getline(lines, line);) {
        const auto space = line.find(' ');
        shown[table.at(std::stoul(line.substr(0, space)))["name"]] = line.substr(space + 1);
    }
    EXPECT_EQ(shown["bth.psn"], "16777214 = 0xfffffe");
    EXPECT_EQ(shown["bth.destqp"], "0x012345");
    EXPECT_EQ(shown["ip.src"], "192.0.2.2");
    EXPECT_EQ(shown.count("reth.va"), 0U);
    EXPECT_EQ(table.size(), filter::fields().size());
}

TEST(PageDetails, values_of_an_event_are_text) {
    const runlog::Event event{
        1,
        "client",
        "note",
        {{"text", "a b"}, {"yes", true}, {"no", false}, {"below", -3}, {"nine", 9U}, {"ten", 10U}}};
    EXPECT_EQ(Json::parse(page::details_of(event)), Json::parse(R"([["text", "a b"], ["yes", "yes"],
        ["no", "no"], ["below", "-3"], ["nine", "9"], ["ten", "10 = 0xa"]])"));
}

TEST(PageDetails, a_tls_secret_shows_only_its_label) {
    const runlog::Fields fields{{"line", "CLIENT_TRAFFIC_SECRET_0 0011 2233"}};
    EXPECT_EQ(Json::parse(page::details_of({1, "client", "tls_secret", fields})),
              Json::parse(R"([["line", "CLIENT_TRAFFIC_SECRET_0"]])"));
    EXPECT_EQ(Json::parse(page::details_of({1, "client", "note", fields})),
              Json::parse(R"([["line", "CLIENT_TRAFFIC_SECRET_0 0011 2233"]])"));
}

TEST(PageDetails, headers_have_descriptions) {
    const Json names = page::header_names();
    EXPECT_EQ(names["bth"], "BTH: base transport header");
    EXPECT_EQ(names["pad"], "Padding to four bytes");
    EXPECT_EQ(names["reserved"], "Reserved bytes of a CNP");
    EXPECT_EQ(names.size(), static_cast<std::size_t>(wire::Header::Trailer) + 1);
}

TEST(Page, its_title_is_escaped) {
    const support::TempPath temp("page_title");
    {
        auto sink = capture::Sink::create(temp.str());
        page::write({.title = "a <b> & c", .run = "RUN", .rows = "ROWS", .details = "DETAILS"},
                    sink);
        sink.flush();
    }
    std::stringstream text;
    text << std::ifstream(temp.str()).rdbuf();
    EXPECT_NE(text.str().find("<title>a &lt;b> &amp; c</title>"), std::string::npos)
        << text.str().substr(0, 500);
    EXPECT_EQ(text.str().find("{{"), std::string::npos);
}

}  // namespace details_test
