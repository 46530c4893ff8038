#include "trace/timeline/seen_packets.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace seen_packets_test {

using timeline::CmKey;
using timeline::PacketKey;
using timeline::PacketRow;
using timeline::SeenPackets;

PacketRow row(std::int64_t t_ns, const char* source, const char* destination) {
    PacketRow made;
    made.t_ns = t_ns;
    made.source = source;
    made.destination = destination;
    made.is_roce = t_ns % 2 == 1;
    return made;
}

std::vector<PacketRow> rows_again(const std::vector<PacketRow>& rows) {
    SeenPackets seen;
    for (std::size_t i = 0; i < rows.size(); ++i)
        seen.add(10 + i, rows[i]);
    std::vector<PacketRow> again;
    seen.for_each([&](std::size_t packet, const PacketRow& one) {
        EXPECT_EQ(packet, 10 + again.size());
        again.push_back(one);
    });
    return again;
}

TEST(SeenPackets, keeps_time_ends_and_protocol) {
    const std::vector rows{row(1, "a", "b"), row(2, "b", "a"), row(-3, "", ""), row(5, "a", "b")};
    const auto again = rows_again(rows);
    ASSERT_EQ(again.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(again[i].t_ns, rows[i].t_ns);
        EXPECT_EQ(again[i].source, rows[i].source);
        EXPECT_EQ(again[i].destination, rows[i].destination);
        EXPECT_EQ(again[i].is_roce, rows[i].is_roce);
        EXPECT_FALSE(again[i].key || again[i].cm || again[i].segment);
    }
}

TEST(SeenPackets, keeps_the_key_of_a_queue_pair_s_packet) {
    std::vector rows{row(1, "192.0.2.1", "192.0.2.2"), row(2, "192.0.2.2", "192.0.2.1")};
    rows[0].key = PacketKey{.destination = "192.0.2.2",
                            .dest_qpn = 0xffffff,
                            .psn = 0x123456,
                            .is_response = true,
                            .starts_message = false,
                            .is_nak = true,
                            .t_ns = 1,
                            .source = "192.0.2.1"};
    rows[1].key = PacketKey{.destination = "192.0.2.1", .dest_qpn = 2, .psn = 3, .t_ns = 2};
    rows[1].key->source = "192.0.2.2";
    rows[1].key->source_qpn = 0;
    const auto again = rows_again(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_TRUE(again[i].key);
        const PacketKey& key = *again[i].key;
        EXPECT_EQ(key.destination, rows[i].key->destination);
        EXPECT_EQ(key.source, rows[i].key->source);
        EXPECT_EQ(key.dest_qpn, rows[i].key->dest_qpn);
        EXPECT_EQ(key.psn, rows[i].key->psn);
        EXPECT_EQ(key.is_response, rows[i].key->is_response);
        EXPECT_EQ(key.starts_message, rows[i].key->starts_message);
        EXPECT_EQ(key.is_nak, rows[i].key->is_nak);
        EXPECT_EQ(key.t_ns, rows[i].key->t_ns);
        EXPECT_EQ(key.source_qpn, rows[i].key->source_qpn);
    }
}

TEST(SeenPackets, keeps_the_keys_of_messages_and_segments) {
    std::vector rows{row(1, "a", "b"), row(2, "b", "a"), row(3, "a", "b")};
    rows[0].cm = CmKey{"a", "b", 0xfffffff1, 2, 0x12, CmKey::Kind::ConnectReply};
    rows[1].cm = CmKey{"b", "a", 3, 4, std::nullopt, CmKey::Kind::DisconnectRequest};
    rows[2].segment = timeline::SegmentKey{"a", "b", 65535, 18515};
    const auto again = rows_again(rows);
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(again[i].cm);
        EXPECT_EQ(again[i].cm->source, rows[i].cm->source);
        EXPECT_EQ(again[i].cm->destination, rows[i].cm->destination);
        EXPECT_EQ(again[i].cm->local_id, rows[i].cm->local_id);
        EXPECT_EQ(again[i].cm->remote_id, rows[i].cm->remote_id);
        EXPECT_EQ(again[i].cm->local_qpn, rows[i].cm->local_qpn);
        EXPECT_EQ(again[i].cm->kind, rows[i].cm->kind);
    }
    ASSERT_TRUE(again[2].segment);
    EXPECT_EQ(again[2].segment->source, "a");
    EXPECT_EQ(again[2].segment->source_port, 65535);
    EXPECT_EQ(again[2].segment->destination_port, 18515);
}

}  // namespace seen_packets_test
