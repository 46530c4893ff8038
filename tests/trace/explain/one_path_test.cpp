// Queue pairs that share one UDP source port.
#include "trace/explain/account.hpp"

namespace explain_test {

class OnePath : public Account {
  protected:
    static wire::Packet request(std::uint32_t qpn, std::uint16_t port) {
        auto made = packet({.from = 2, .to = 1, .qpn = qpn}, opcode::send_only, 100, 8);
        made.bth->a = true;
        made.udp = wire::Udp{.src_port = port, .dst_port = wire::roce_v2_port};
        return made;
    }
    void works(std::uint32_t qpn, std::uint16_t port) {
        add(request(qpn, port));
        add(answer({.from = 1, .to = 2, .qpn = qpn + 0x100}, 100));
    }
};

TEST_F(OnePath, of_four_queue_pairs) {
    for (std::uint32_t qpn = 0x11; qpn < 0x15; ++qpn)
        works(qpn, 53550);
    EXPECT_EQ(causes(), R"(
one-path possible
  192.0.2.2 → 192.0.2.1
  the requests for 4 queue pairs all come from UDP source port 53550: where several paths exist (ECMP, link aggregation), they share one of them.
  frame 1: RC SEND Only  PSN 0x000064  8 B
)");
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(OnePath, of_few_queue_pairs_is_no_matter) {
    for (std::uint32_t qpn = 0x11; qpn < 0x14; ++qpn)
        works(qpn, 53550);
    EXPECT_EQ(answered(), "none");
}

TEST_F(OnePath, is_not_that_of_another_port) {
    for (std::uint32_t qpn = 0x11; qpn < 0x14; ++qpn)
        works(qpn, 53550);
    works(0x14, 53551);
    EXPECT_EQ(answered(), "none");
}

TEST_F(OnePath, may_explain_marks_of_congestion) {
    for (std::uint32_t qpn = 0x11; qpn < 0x15; ++qpn)
        works(qpn, 53550);
    auto marked = request(0x11, 53550);
    marked.bth->psn = wire::Psn(101);
    marked.ipv4->dsfield |= 3;
    add(marked);
    EXPECT_EQ(answered(), "congestion certain");
    ASSERT_EQ(last_.causes.size(), 2U);
    EXPECT_NE(last_.causes[1].text.find("which may be why packets were lost or marked"),
              std::string::npos);
    EXPECT_FALSE(last_.causes[1].is_fatal);
}

}  // namespace explain_test
