// Other counters of a direction: congestion marks, CNPs, bad ICRCs.
#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"

namespace marks_test {

using namespace flow_test;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};
constexpr Endpoint active{.comm_id = 7, .qpn = back.qpn, .psn = 500};
constexpr Endpoint passive{.comm_id = 8, .qpn = there.qpn, .psn = 100};

class Marks : public testing::Test {
  protected:
    void send(std::uint32_t psn) { feed_.add(packet(there, opcode::send_only, psn, 8)); }
    void ack(std::uint32_t psn) { feed_.add(answer(back, psn)); }
    void cnp() {
        auto made = packet(back, wire::cnp_opcode, 0);
        made.bth->becn = true;
        feed_.add(made);
    }

    Feed feed_;
};

TEST_F(Marks, cnps_count_with_the_connection_that_they_slow_down) {
    feed_.connect(there, active, passive);
    send(100);
    ack(100);
    cnp();
    cnp();
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].backward->packets, 3U);
    EXPECT_EQ(all[0].backward->marks.cnps, 2U);
    EXPECT_EQ(all[0].backward->marks.becn, 2U);
    EXPECT_EQ(all[0].forward.marks.cnps, 0U);
}

TEST_F(Marks, cnps_count_with_the_connection_also_after_one_that_came_too_early) {
    cnp();
    feed_.connect(there, active, passive);
    send(100);
    ack(100);
    cnp();
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].forward.marks.cnps, 1U);
    EXPECT_EQ(all[0].transport, wire::Transport::Cnp);
    EXPECT_EQ(all[1].backward->marks.cnps, 1U);
}

TEST_F(Marks, congestion_marks_count_in_their_direction) {
    auto marked = packet(there, opcode::send_only, 100, 8);
    marked.ipv4->dsfield |= 3;
    marked.bth->fecn = true;
    feed_.add(marked);
    const auto all = feed_.conversations();
    EXPECT_EQ(all[0].forward.marks.ce, 1U);
    EXPECT_EQ(all[0].forward.marks.fecn, 1U);
}

TEST_F(Marks, bad_icrcs_count_where_they_are_computed) {
    auto frame = wire::encode(packet(there, opcode::send_only, 100, 8));
    feed_.add(frame, wire::IcrcCheck::Compute);
    frame.back() ^= std::byte{1};
    feed_.add(frame, wire::IcrcCheck::Compute);
    feed_.add(frame, wire::IcrcCheck::Skip);
    EXPECT_EQ(feed_.conversations()[0].forward.icrc_checked, 2U);
    EXPECT_EQ(feed_.conversations()[0].forward.icrc_bad, 1U);
}

TEST_F(Marks, cnps_at_once_after_one_that_came_too_early_still_find_the_connection) {
    feed_.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = back.qpn});
    cnp();
    ack(100);
    cnp();
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].forward.marks.cnps, 1U);
    EXPECT_EQ(all[1].forward.marks.cnps, 1U);
}

}  // namespace marks_test
