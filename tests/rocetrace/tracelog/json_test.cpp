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

// The record of a post as it is in a ring.
template <typename Post>
std::vector<std::byte> packed(Post post, std::uint32_t entries) {
    for (std::uint32_t i = 0; i < entries; ++i)
        post.sges.add(post.header, {UINT64_MAX - i, i, UINT32_MAX - i});
    const std::uint32_t fixed = post.fixed_size();
    const std::size_t list = tracelog::SgeList::recorded(post.header) * sizeof(tracelog::Sge);
    post.header.size = static_cast<std::uint32_t>(fixed + list);
    std::vector<std::byte> bytes(post.header.size);
    std::memcpy(bytes.data(), &post, fixed);
    std::memcpy(bytes.data() + fixed, post.sges.entries, list);
    return bytes;
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
        for (std::uint16_t flags = 0; flags < 64; ++flags) {
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
            record.opcode = static_cast<std::uint16_t>(opcode);
            record.send_flags = flags;
            record.compare_add = random();
            record.swap = random();
            record.srqn = 5;
            for (const std::uint32_t entries : {0U, 1U, 4U, 6U})
                expect_same(packed(record, entries));
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
    for (const std::uint16_t flags : std::array<std::uint16_t, 3>{0, 1, 32})
        for (const std::uint32_t entries : {0U, 1U, 4U, 300U})
            expect_same(
                packed(tracelog::PostRecv{{0, Kind::post_recv, flags, 2}, 1, 2, 3, {}}, entries));
}

TEST(Decode, refuses_a_post_whose_scatter_gather_list_is_cut) {
    const auto whole = packed(tracelog::PostRecv{{0, Kind::post_recv, 0, 2}, 1, 2, 3, {}}, 2);
    EXPECT_TRUE(tracelog::decode(whole, "", {}));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(tracelog::decode(std::span(whole).first(size), "", {})) << size;
}

TEST(Decode, reads_what_an_event_writer_wrote) {
    const std::array<unsigned char, 16> gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1};
    tracelog::EventBytes written(tracelog::Category::qp, "qp_state");
    const std::string_view text = "some text";
    written.put(runlog::key::qpn, 17);
    written.put(runlog::key::state, IBV_QPS_RTS);
    written.put_gid(runlog::key::gid, gid.data());
    written.put_bytes(runlog::key::text, text.data(), text.size());
    written.put(runlog::key::cm_status, static_cast<std::uint64_t>(-110));
    written.put(runlog::key::error, 12);
    written.put({"flag", tracelog::Type::truth}, 1);
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
