// What IPv4 identifications say about the order in which a host sent two packets.
#include <gtest/gtest.h>

#include "trace/flow/seen.hpp"

namespace packet_ids_test {

class PacketOrder : public testing::Test {
  protected:
    void sees(std::size_t count, std::uint16_t step) {
        for (std::size_t i = 0; i < count; ++i)
            ids_.see(last_ = static_cast<std::uint16_t>(last_ + step));
    }

    std::uint16_t last_ = 0x100;
    flow::PacketIds ids_;
};

TEST_F(PacketOrder, is_known_of_a_sender_that_counts) {
    sees(9, 3);
    EXPECT_TRUE(ids_.was_sent_before(0xfffe, 2)) << "across the end of the 16 bits";
    EXPECT_FALSE(ids_.was_sent_before(2, 0xfffe));
    EXPECT_FALSE(ids_.was_sent_before(2, 2));
    EXPECT_FALSE(ids_.was_sent_before(0, 2)) << "without an identification";
    EXPECT_FALSE(ids_.was_sent_before(2, 0));
    EXPECT_TRUE(ids_.was_sent_before(100, 4196));
    EXPECT_FALSE(ids_.was_sent_before(100, 4197)) << "too far apart";
}

TEST_F(PacketOrder, takes_eight_steps) {
    sees(8, 1);
    EXPECT_FALSE(ids_.was_sent_before(1, 2));
    sees(1, 1);
    EXPECT_TRUE(ids_.was_sent_before(1, 2));
}

TEST_F(PacketOrder, allows_one_jump_for_eight_steps) {
    sees(17, 1);
    sees(2, 0x4000);
    EXPECT_TRUE(ids_.was_sent_before(1, 2));
    sees(1, 0x4000);
    EXPECT_FALSE(ids_.was_sent_before(1, 2));
}

TEST_F(PacketOrder, is_unknown_if_the_count_may_have_wrapped) {
    sees(9, 1);
    flow::Seen late, behind;
    late.ip_id = 1;
    behind.ip_id = 2;
    behind.frame = 10;
    late.frame = 10 + 32'767;
    EXPECT_TRUE(ids_.was_sent_before(late, behind));
    ++late.frame;
    EXPECT_FALSE(ids_.was_sent_before(late, behind));
}

}  // namespace packet_ids_test
