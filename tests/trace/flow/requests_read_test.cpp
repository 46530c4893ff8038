// The PSNs that RDMA READ requests take, and the path MTU that follows from them.
#include "trace/flow/requests_fixture.hpp"

namespace requests_test {

using wire::Psn;

TEST_F(RequestPsns, of_a_read_are_as_many_as_its_response_has_packets) {
    show_mtu(100);
    read(102, 3 * mtu + 1);
    read(106, 0);
    read(107, mtu);
    send(108);
    expect_undisturbed();
    EXPECT_EQ(requests().psns, 9U);
    EXPECT_EQ(conversation().path_mtu, mtu);
}

TEST_F(RequestPsns, of_a_read_end_the_sequence_where_its_response_does) {
    show_mtu(100);
    read(102, 3 * mtu);
    EXPECT_EQ(requests().last_psn, Psn(104));
    EXPECT_EQ(requests().psns, 5U);
}

TEST_F(RequestPsns, behind_a_read_tell_an_unknown_path_mtu) {
    read(100, 6 * mtu);
    send(106, 2);
    expect_undisturbed();
    EXPECT_EQ(conversation().path_mtu, mtu);
    EXPECT_EQ(requests().psns, 8U);
}

TEST_F(RequestPsns, behind_a_read_tell_no_path_mtu_where_several_fit) {
    read(100, 1000);  // 1 PSN with a path MTU of 1024, 2048 or 4096
    send(101);
    expect_undisturbed();
    EXPECT_EQ(conversation().path_mtu, 0U);
}

TEST_F(RequestPsns, behind_a_read_tell_its_length_where_the_capture_cut_it_off) {
    const auto frame = wire::encode(flow_test::read(there, 100, 6 * mtu));
    feed_.add(util::Bytes(frame).first(60), frame.size());
    send(106, 2);
    expect_undisturbed();
    EXPECT_EQ(requests().psns, 8U);
}

TEST_F(RequestPsns, of_reads_with_unknown_path_mtu_one_behind_the_other) {
    read(100, 6 * mtu);
    read(106, 2 * mtu);
    read(108, 100);
    send(109);
    expect_undisturbed();
    EXPECT_EQ(requests().psns, 10U);
}

TEST_F(RequestPsns, of_a_read_are_settled_by_a_packet_that_shows_the_path_mtu) {
    read(100, 6 * mtu);
    EXPECT_EQ(requests().last_psn, Psn(101)) << "the fewest that it can be";
    show_mtu(106);
    expect_undisturbed();
    EXPECT_EQ(requests().psns, 8U);
}

TEST_F(RequestPsns, a_shown_path_mtu_overrules_one_that_a_read_told) {
    read(100, 6 * mtu);
    send(103);  // the READ takes 3 PSNs, as with path MTU 2048
    EXPECT_EQ(conversation().path_mtu, 2 * mtu);
    show_mtu(104);
    EXPECT_EQ(conversation().path_mtu, mtu);
}

TEST_F(RequestPsns, a_read_that_is_asked_for_again_is_a_repetition) {
    show_mtu(100);
    read(102, 8 * mtu);
    read(102, 8 * mtu);
    send(110);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(conversation().forward.messages[static_cast<std::size_t>(flow::MessageKind::Read)],
              1U);
}

TEST_F(RequestPsns, the_rest_of_a_read_that_is_asked_for_again_is_a_repetition) {
    show_mtu(100);
    read(102, 8 * mtu);
    read(105, 5 * mtu);
    send(110);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(requests().restarts, 0U);
    EXPECT_EQ(requests().psns, 11U);
}

TEST_F(RequestPsns, a_retransmission_may_go_back_behind_large_reads) {
    show_mtu(100);
    constexpr std::uint32_t large = 100'000;  // PSNs
    for (std::uint32_t i = 0; i < 3; ++i)
        read(102 + i * large, std::size_t{large} * mtu);
    read(102, std::size_t{large} * mtu);
    EXPECT_EQ(requests().restarts, 0U);
    EXPECT_EQ(requests().repeats, 1U);
}

}  // namespace requests_test
