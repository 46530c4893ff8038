// The analysis of the PSNs of requests: gaps, late packets, retransmissions.
#include "trace/flow/requests_fixture.hpp"

namespace requests_test {

using wire::Psn;

TEST_F(RequestPsns, count_by_one) {
    send(100, 5);
    expect_undisturbed();
    EXPECT_EQ(requests().packets, 5U);
    EXPECT_EQ(requests().first_psn, Psn(100));
    EXPECT_EQ(requests().last_psn, Psn(104));
    EXPECT_EQ(requests().psns, 5U);
    EXPECT_EQ(conversation().forward.messages[0], 5U);
}

// A mirror cuts frames, and the capture does not record their length.
TEST_F(RequestPsns, of_cut_frames_have_all_their_bytes) {
    constexpr std::size_t kept = 64;
    const auto frame = wire::encode(packet(there, opcode::send_only, 100, 600));
    feed_.add(util::Bytes(frame).first(kept), kept);
    EXPECT_EQ(conversation().forward.wire_bytes, frame.size());
    EXPECT_EQ(conversation().forward.payload_bytes, 600U);
}

TEST_F(RequestPsns, wrap_at_24_bits) {
    send(0xfffffe, 5);
    expect_undisturbed();
    EXPECT_EQ(requests().first_psn, Psn(0xfffffe));
    EXPECT_EQ(requests().last_psn, Psn(2));
    EXPECT_EQ(requests().psns, 5U);
}

TEST_F(RequestPsns, of_a_lap_around_the_circle_are_all_counted) {
    constexpr std::uint32_t stride = 60'000;
    for (std::uint32_t psn = 0; psn < (1U << 24) + 2 * stride; psn += stride)
        send(psn);
    EXPECT_GT(requests().psns, 1U << 24);
    EXPECT_EQ(requests().restarts, 0U);
}

TEST_F(RequestPsns, per_second_are_those_between_first_and_newest) {
    send(100);
    feed_.wait(1'000'000);
    send(101);
    feed_.wait(1'000'000);
    send(104);
    EXPECT_DOUBLE_EQ(requests().psns_per_second, 4 / 0.002);
}

TEST_F(RequestPsns, a_single_request_has_no_rate) {
    send(100);
    EXPECT_EQ(requests().psns_per_second, 0);
}

TEST_F(RequestPsns, left_out_are_a_gap) {
    send(100, 2);
    send(105, 2);
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 3U);
    EXPECT_EQ(requests().psns, 7U);
    EXPECT_EQ(requests().repeats, 0U);
}

// Each queue pair that sends to a DC target counts its own PSNs, and the packets do not identify
// the sending queue pair.
TEST_F(RequestPsns, of_the_dynamically_connected_transport_are_not_judged) {
    for (const std::uint32_t psn : {100U, 7000U, 101U, 7001U, 101U}) {
        auto sent = packet(there, opcode::dc_send_only, psn, 8);
        sent.dceth = wire::Dceth{.bytes = {std::byte{0x10}}};
        feed_.add(sent);
    }
    expect_undisturbed();
    EXPECT_EQ(conversation().transport, wire::Transport::Dc);
    EXPECT_EQ(conversation().forward.packets, 5U);
    EXPECT_EQ(conversation().forward.messages[0], 5U);
}

// A switch may cut off the payload of mirrored packets.
TEST_F(RequestPsns, of_sliced_packets_count_as_those_of_whole_ones) {
    for (std::uint32_t psn = 100; psn < 104; ++psn) {
        const auto frame = wire::encode(packet(there, opcode::send_only, psn, mtu));
        feed_.add(util::Bytes(frame).first(64));
    }
    expect_undisturbed();
    EXPECT_EQ(requests().psns, 4U);
    EXPECT_EQ(conversation().forward.messages[0], 4U);
    EXPECT_EQ(conversation().forward.payload_bytes, 4 * mtu);
    EXPECT_EQ(conversation().forward.malformed, 0U);
}

TEST_F(RequestPsns, that_come_later_fill_their_gap) {
    send(100, 2);
    send(104, 2);
    send(102);
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 1U);
    EXPECT_EQ(requests().late, 1U);
    EXPECT_EQ(requests().repeats, 0U);
    EXPECT_EQ(requests().last_psn, Psn(105));
}

TEST_F(RequestPsns, a_late_message_counts_and_a_repeated_one_does_not) {
    send(100);
    send(102);
    send(101);
    send(101);
    EXPECT_EQ(conversation().forward.messages[0], 3U);
    EXPECT_EQ(requests().late, 1U);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(requests().packets, 4U);
}

class Identified : public RequestPsns {
  protected:
    void send(std::uint32_t psn, std::uint16_t id) {
        auto made = packet(there, opcode::send_only, psn, 8);
        made.ipv4->id = id;
        feed_.add(made);
    }
    void expect(std::uint64_t repeats, std::uint64_t copies) const {
        EXPECT_EQ(requests().repeats, repeats);
        EXPECT_EQ(requests().copies, copies);
    }
};

TEST_F(Identified, packets_that_come_again_are_no_retransmissions) {
    send(100, 1);
    send(101, 2);
    send(100, 1);
    send(101, 2);
    expect(0, 2);
}

TEST_F(Identified, packets_with_another_identification_are_retransmissions) {
    send(100, 1);
    send(101, 2);
    send(100, 3);
    send(101, 4);
    send(101, 4);
    expect(2, 1);
}

TEST_F(Identified, packets_of_a_sender_that_uses_one_identification_are_retransmissions) {
    send(100, 7);
    send(101, 7);
    feed_.wait(4'000'000);
    send(100, 7);
    expect(1, 0);
}

// The ring of the newest packets has lost the first one.
TEST_F(Identified, packets_that_come_again_much_later_are_retransmissions) {
    for (std::uint16_t n = 0; n < 20; ++n)
        send(100U + n, n + 1);
    send(100, 1);
    expect(1, 0);
}

TEST_F(Identified, packets_that_come_twice_each_are_captured_twice) {
    for (std::uint16_t n = 0; n < 5; ++n)
        for (int copy = 0; copy < 2; ++copy)
            send(100U + n, n + 1);
    expect(0, 5);
    EXPECT_TRUE(conversation().is_doubled);
}

TEST_F(RequestPsns, going_back_repeats_what_passed_and_goes_on) {
    send(100, 6);
    feed_.wait(4'000'000);
    send(102, 8);
    EXPECT_EQ(requests().repeats, 4U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(requests().psns, 10U);
    EXPECT_EQ(requests().last_psn, Psn(109));
    EXPECT_FALSE(conversation().is_doubled);
}

TEST_F(RequestPsns, lost_before_the_capture_come_with_those_behind_them_again) {
    send(100, 2);
    send(103, 2);
    send(102, 4);
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 0U);
    EXPECT_EQ(requests().late, 1U);
    EXPECT_EQ(requests().repeats, 2U);
    EXPECT_EQ(requests().last_psn, Psn(105));
}

TEST_F(RequestPsns, far_off_begin_anew) {
    send(100, 3);
    send(0x800000, 3);
    EXPECT_EQ(requests().restarts, 1U);
    EXPECT_EQ(requests().gaps, 0U);
    EXPECT_EQ(requests().repeats, 0U);
    EXPECT_EQ(requests().psns, 6U);
    EXPECT_EQ(requests().last_psn, Psn(0x800002));
}

TEST_F(RequestPsns, go_on_behind_one_that_is_far_off) {
    send(100, 2);
    send(103);
    send(0x800000);
    send(102, 3);
    EXPECT_EQ(requests().restarts, 1U);
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 0U);
    EXPECT_EQ(requests().late, 1U);
    EXPECT_EQ(requests().repeats, 1U);
    EXPECT_EQ(requests().psns, 6U);
    EXPECT_EQ(requests().last_psn, Psn(104));
}

TEST_F(RequestPsns, of_a_packet_that_is_malformed_are_not_looked_at) {
    send(100);
    auto frame = wire::encode(packet(there, opcode::send_only, 0x800000, 8));
    frame[42] = std::byte{0x1f};  // a reserved opcode
    feed_.add(frame);
    send(101);
    expect_undisturbed();
    EXPECT_EQ(conversation().forward.packets, 3U);
    EXPECT_EQ(conversation().forward.malformed, 1U);
    EXPECT_EQ(feed_.tracker().totals().malformed, 1U);
}

TEST_F(RequestPsns, of_datagrams_are_not_judged) {
    const Way way{.from = 1, .to = 2, .qpn = 0x33};
    for (const std::uint32_t psn : {5U, 9U, 2U})
        feed_.add(datagram(way, 0x44, psn));
    EXPECT_FALSE(conversation().is_sequenced);
    EXPECT_EQ(requests().first_psn, Psn(5));
    EXPECT_EQ(requests().last_psn, Psn(2));
    EXPECT_EQ(requests().packets, 3U);
    expect_undisturbed();
}

TEST_F(RequestPsns, captured_twice_are_seen_to_be) {
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
        send(100 + psn);
        send(100 + psn);
    }
    EXPECT_TRUE(conversation().is_doubled);
    EXPECT_EQ(requests().psns, 6U);
    EXPECT_EQ(conversation().forward.messages[0], 6U);
}

TEST_F(RequestPsns, captured_twice_are_seen_to_be_where_the_capture_ends_between) {
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
        send(100 + psn);
        send(100 + psn);
    }
    send(106);
    EXPECT_TRUE(conversation().is_doubled);
}

TEST_F(RequestPsns, sent_again_at_once_upon_a_nak_are_not_captured_twice) {
    feed_.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = back.qpn});
    send(100, 5);
    feed_.add(answer(back, 100, syndrome::psn_error));
    send(100, 5);
    EXPECT_EQ(requests().repeats, 5U);
    EXPECT_FALSE(conversation().is_doubled);
}

TEST_F(RequestPsns, the_connection_managers_first_one_may_be_missing) {
    feed_.connect(there, {.comm_id = 1, .qpn = back.qpn, .psn = 500},
                  {.comm_id = 2, .qpn = there.qpn, .psn = 100});
    send(102, 3);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].forward.requests.gaps, 1U);
    EXPECT_EQ(all[0].forward.requests.missing, 2U);
    EXPECT_EQ(all[0].forward.requests.psns, 3U);
}

TEST_F(RequestPsns, of_unreliable_connections_are_followed_too) {
    for (const std::uint32_t psn : {7U, 8U, 11U})
        feed_.add(packet(there, opcode::uc_send_only, psn, 8));
    EXPECT_EQ(requests().gaps, 1U);
    EXPECT_EQ(requests().missing, 2U);
    EXPECT_TRUE(conversation().is_sequenced);
}

TEST_F(RequestPsns, keys_are_each_named_once) {
    for (std::uint32_t i = 0; i < 3; ++i)
        read(100 + i, 1);
    auto add = packet(there, opcode::fetch_add, 103);
    add.atomic_eth = wire::AtomicEth{.va = 0, .rkey = 0x99, .swapdt = 1, .cmpdt = 0};
    feed_.add(add);
    const auto& keys = requests().rkeys;
    EXPECT_EQ(std::vector<std::uint32_t>(keys.begin(), keys.end()),
              (std::vector<std::uint32_t>{0x77, 0x99}));
    EXPECT_EQ(keys.others(), 0U);
}

}  // namespace requests_test
