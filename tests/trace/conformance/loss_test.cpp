// Recovery after the link emulator loses a packet, as specified.
#include "trace/conformance/checked_trace.hpp"

namespace {

using namespace conformance_test;

TEST_F(Recoveries, are_none_where_nothing_happens) {
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    trace_.pass(read_part(4, 3));
    respond(4, 0, 3, 2);
    trace_.pass(fetch_add(7));
    trace_.pass(atomic_ack(7, 3, 41));
    trace_.pass(send_one(8));
    trace_.pass(acknowledge(8, 4));
    expect("");
    ASSERT_EQ(report_.connections.size(), 1U);
    EXPECT_EQ(report_.connections[0].forward.requests, 7U);
    EXPECT_FALSE(report_.connections[0].forward.began_in_the_middle);
}

TEST_F(Recoveries, one_ack_may_answer_several_requests) {
    for (std::uint32_t psn = 0; psn < 5; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    trace_.pass(acknowledge(4, 5));
    expect("");
}

TEST_F(Recoveries, of_a_lost_first_packet_by_a_nak) {
    trace_.lose(write_part(0, 0, 4));
    const auto behind = trace_.pass(write_part(0, 1, 4)) + 1;
    write_from(0, 2, 4);
    const auto nak_frame = trace_.pass(nak(0, 0));
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: NAK, as specified");
    EXPECT_EQ(first().behind, behind);
    EXPECT_EQ(first().nak, nak_frame);
    EXPECT_EQ(first().detection_ns, 25'000);
    EXPECT_EQ(first().reaction_ns, 5'000);
    EXPECT_EQ(first().resend->packets, 4U);
    EXPECT_EQ(first().resend->last_psn, wire::Psn(3));
    EXPECT_TRUE(first().ended_by);
    EXPECT_EQ(report_.connections[0].forward.repeated, 4U);
}

TEST_F(Recoveries, of_a_lost_middle_packet_by_a_nak) {
    trace_.pass(write_part(0, 0, 4));
    trace_.lose(write_part(0, 1, 4));
    write_from(0, 2, 4);
    trace_.pass(nak(1, 0));
    write_from(0, 1, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_last_packet_by_the_timer) {
    write_from(0, 0, 0);
    for (std::uint32_t i = 0; i < 3; ++i)
        trace_.pass(write_part(0, i, 4));
    trace_.lose(write_part(0, 3, 4));
    trace_.time_out();
    write_all(0, 4);
    trace_.pass(acknowledge(3, 1));
    expect("lost: timeout, as specified");
    EXPECT_EQ(first().detection_ns, timeout_ns + 1'005'000);
    EXPECT_FALSE(first().reaction_ns);
}

TEST_F(Recoveries, of_a_lost_only_packet_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_only_packet_by_the_next_request) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(0, 1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_repeat_that_is_lost_again_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(nak(0, 0));
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));  // out of sequence, but the NAK was already sent
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect("lost: NAK, as specified\nlost: timeout, as specified");
}

TEST_F(Recoveries, of_two_losses_together) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    trace_.lose(send_one(2));
    trace_.pass(nak(0, 0));
    for (std::uint32_t psn = 0; psn < 3; ++psn)
        trace_.pass(send_one(psn));
    trace_.pass(acknowledge(2, 3));
    expect("lost: NAK, as specified\nlost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_read_request) {
    trace_.lose(read_part(0, 3));
    trace_.pass(send_one(3));
    trace_.pass(nak(0, 0));
    trace_.pass(read_part(0, 3));
    trace_.pass(send_one(3));
    respond(0, 0, 3, 1);
    trace_.pass(acknowledge(3, 2));
    expect("lost: NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_first_response_of_a_read) {
    trace_.pass(read_part(0, 3));
    trace_.lose(response(0, 0, 3, 1));
    respond(0, 1, 3, 1);
    trace_.pass(read_part(0, 3));
    respond(0, 0, 3, 1);
    expect("lost: implied NAK, as specified");
    EXPECT_EQ(first().reaction_ns, 15'000);
}

TEST_F(Recoveries, of_a_lost_middle_response_by_asking_for_the_rest) {
    trace_.pass(read_part(0, 4));
    trace_.pass(response(0, 0, 4, 1));
    trace_.lose(response(0, 1, 4, 1));
    respond(0, 2, 4, 1);
    trace_.pass(read_part(0, 4, 1));
    respond(1, 0, 3, 1);
    expect("lost: implied NAK, as specified");
    EXPECT_EQ(first().resend->first.psn, wire::Psn(1));
    EXPECT_EQ(first().resend->last_psn, wire::Psn(3));
}

TEST_F(Recoveries, of_a_lost_last_response_by_the_timer) {
    trace_.pass(read_part(0, 3));
    trace_.pass(response(0, 0, 3, 1));
    trace_.pass(response(0, 1, 3, 1));
    trace_.lose(response(0, 2, 3, 1));
    trace_.time_out();
    trace_.pass(read_part(0, 3, 2));
    trace_.pass(response(2, 0, 1, 1));
    expect("lost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_response_by_the_ack_behind_it) {
    trace_.pass(read_part(0, 1));
    trace_.pass(send_one(1));
    trace_.lose(response(0, 0, 1, 1));
    trace_.pass(acknowledge(1, 2));
    trace_.pass(read_part(0, 1));
    trace_.pass(send_one(1));
    trace_.pass(response(0, 0, 1, 2));
    trace_.pass(acknowledge(1, 2));
    expect("lost: implied NAK, as specified");
}

TEST_F(Recoveries, of_a_lost_atomic_and_of_its_answer) {
    trace_.lose(fetch_add(0));
    trace_.time_out();
    trace_.pass(fetch_add(0));
    trace_.lose(atomic_ack(0, 1, 41));
    trace_.time_out();
    trace_.pass(fetch_add(0));
    trace_.pass(atomic_ack(0, 1, 41));
    expect("lost: timeout, as specified\nlost: timeout, as specified");
}

TEST_F(Recoveries, of_a_lost_ack_by_the_next_one) {
    trace_.pass(send_one(0));
    trace_.lose(acknowledge(0, 1));
    trace_.pass(send_one(1));
    const auto covering = trace_.pass(acknowledge(1, 2)) + 1;
    expect("lost: nothing, as specified");
    EXPECT_EQ(first().ended_by, covering);
}

TEST_F(Recoveries, of_the_last_ack_by_the_timer_and_a_duplicate) {
    trace_.pass(send_one(0));
    trace_.lose(acknowledge(0, 1));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(acknowledge(0, 1));
    expect("lost: timeout, as specified");
}

// A NAK that comes as another packet asks for nothing.
class LostNak : public Recoveries, public testing::WithParamInterface<std::string_view> {};

TEST_P(LostNak, is_replaced_by_the_timer) {
    trace_.lose(send_one(0));
    trace_.pass(send_one(1));
    if (GetParam() == "lost")
        trace_.lose(nak(0, 0));
    else if (GetParam() == "corrupted")
        trace_.corrupt(nak(0, 0));
    else
        trace_.change(nak(0, 0), acknowledge(0xffffff, 0));
    trace_.time_out();
    trace_.pass(send_one(0));
    trace_.pass(send_one(1));
    trace_.pass(acknowledge(1, 2));
    expect(fmt::format("lost: timeout, as specified\n{}: timeout, as specified", GetParam()));
    EXPECT_EQ(first().prediction, "the NAK was lost, and a NAK is not repeated");
}

INSTANTIATE_TEST_SUITE_P(All, LostNak, testing::Values("lost", "corrupted", "changed"));

// Their responses are READ responses without data.
TEST_F(Recoveries, of_a_lost_response_to_flush_and_atomic_write) {
    constexpr std::uint8_t atomic_write = 0x1d;
    std::uint32_t psn = 0;
    for (const std::uint8_t code : {opcode::flush, atomic_write}) {
        const auto request = asking(packet(there, code, psn));
        trace_.pass(request);
        trace_.pass(send_one(psn + 1));
        trace_.lose(response(psn, 0, 1, psn + 1));
        trace_.pass(acknowledge(psn + 1, psn + 2));
        trace_.pass(request);
        trace_.pass(send_one(psn + 1));
        trace_.pass(response(psn, 0, 1, psn + 2));
        trace_.pass(acknowledge(psn + 1, psn + 2));
        psn += 2;
    }
    expect("lost: implied NAK, as specified\nlost: implied NAK, as specified");
}

}  // namespace
