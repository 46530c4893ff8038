// Records as JSON: the direct conversion gives the same text as the conversion through an event.
#include <array>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "rocetrace/tracelog/decode.hpp"
#include "rocetrace/tracelog/event_writer.hpp"

namespace json_test {

using tracelog::Header;
using tracelog::Kind;

template <typename Record>
std::span<const std::byte> bytes_of(const Record& record) {
    return {reinterpret_cast<const std::byte*>(&record), record.header.size};
}

void expect_same(std::span<const std::byte> record) {
    const std::string role = "a \"role\"";
    const tracelog::Writer writer{4711, 4712};
    std::string fast;
    ASSERT_TRUE(tracelog::JsonRenderer(role).append(fast, record, writer));
    const auto event = tracelog::decode(record, role, writer);
    ASSERT_TRUE(event);
    EXPECT_EQ(fast, runlog::to_json(*event) + '\n');
    EXPECT_EQ(runlog::from_json(fast), event);
}

TEST(Json, of_sends_is_that_of_their_events) {
    std::mt19937_64 random(1);
    for (unsigned opcode = 0; opcode < 17; ++opcode)
        for (std::uint16_t flags = 0; flags < 32; ++flags) {
            tracelog::PostSend record{};
            record.header = {sizeof record, Kind::post_send, flags, 1795223486479313000};
            record.wr_id = random();
            record.remote_va = random();
            record.qpn = 0x11;
            record.len = static_cast<std::uint32_t>(random());
            record.psn_first = 0xfffffe;
            record.psn_last = 3;
            record.rkey = static_cast<std::uint32_t>(random());
            record.imm = static_cast<std::uint32_t>(random());
            record.opcode = opcode;
            record.compare_add = random();
            record.swap = random();
            record.srqn = 5;
            expect_same(bytes_of(record));
            record.header.size = tracelog::PostSend::short_size;
            expect_same(bytes_of(record));
        }
}

TEST(Json, of_receives_and_completions_is_that_of_their_events) {
    for (std::uint16_t flags = 0; flags < 8; ++flags)
        for (unsigned status = 0; status < 24; ++status)
            for (const unsigned opcode : {0U, 1U, 128U, 129U}) {
                tracelog::Wc record{};
                record.header = {sizeof record, Kind::wc, flags, 1};
                record.wr_id = UINT64_MAX;
                record.opcode = static_cast<std::uint8_t>(opcode);
                record.status = static_cast<std::uint8_t>(status);
                record.wc_flags = flags;
                record.imm = 7;
                expect_same(bytes_of(record));
            }
    for (const std::uint16_t flags : {std::uint16_t{0}, std::uint16_t{1}})
        expect_same(bytes_of(
            tracelog::PostRecv{{sizeof(tracelog::PostRecv), Kind::post_recv, flags, 2}, 1, 2, 3}));
}

TEST(Decode, reads_what_an_event_writer_wrote) {
    const std::array<unsigned char, 16> gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1};
    tracelog::EventWriter written(tracelog::Category::qp, "qp_state");
    written.add("qpn", 17)
        .add("state", 3, tracelog::Type::qp_state)
        .add_gid("gid", gid.data())
        .add_text("text", "some text")
        .add_negative("status", -110)
        .add_error(12)
        .add("flag", 1, tracelog::Type::truth);
    std::vector<std::byte> record(sizeof(Header) + written.size() + 5);
    const Header header{static_cast<std::uint32_t>(record.size()), Kind::event, 5, 99};
    std::memcpy(record.data(), &header, sizeof header);
    std::memcpy(record.data() + sizeof header, written.data(), written.size());
    const auto event = tracelog::decode(record, "client", {1, 2});
    ASSERT_TRUE(event);
    const runlog::Event expected{99,
                                 "client",
                                 "qp_state",
                                 {{"qpn", std::uint64_t{17}},
                                  {"state", "RTS"},
                                  {"gid", "::ffff:192.0.2.1"},
                                  {"text", "some text"},
                                  {"status", std::int64_t{-110}},
                                  {"error", "ENOMEM"},
                                  {"flag", true},
                                  {"pid", 1U},
                                  {"tid", 2U}}};
    EXPECT_EQ(*event, expected);
    for (std::size_t size = 0; size < record.size() - 5; ++size)
        tracelog::decode(std::span(record).first(size), "client", {});
}

}  // namespace json_test
