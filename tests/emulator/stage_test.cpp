#include "emulator/stage.hpp"

#include <gtest/gtest.h>

#include "emulator/frames.hpp"

namespace {

using namespace std::chrono_literals;
using namespace emulator;
using namespace emulator_test;
using Psns = std::vector<std::uint32_t>;

constexpr Host server = 0;
constexpr Host client = 1;

// A stage between two hosts, with a clock that the test controls.
class Link : private StageOutput {
  public:
    explicit Link(const std::vector<std::string>& rules) {
        for (const std::string& text : rules)
            stage.add(parse_rule(text, stage.hosts()));
    }

    void send(const Bytes& frame, Host from = client) {
        stage.take({{}, from, from == client ? server : client, frame}, now, *this);
    }
    void send(std::uint32_t psn, Host from = client) { send(roce_frame(psn), from); }
    void send(const Psns& psns) {
        for (const std::uint32_t psn : psns)
            send(psn);
    }
    void wait(Nanoseconds time) {
        now += time;
        stage.release(now, *this);
    }
    /// Returns the PSNs of the frames that left the stage since the last call.
    Psns left() {
        Psns psns;
        for (const Bytes& frame : std::exchange(left_, {}))
            psns.push_back(psn_of(frame));
        return psns;
    }
    std::vector<Bytes> frames() { return std::exchange(left_, {}); }

    Stage stage{{"server", "client"}};
    util::Clock::time_point now{};
    std::vector<Event> events;
    std::size_t arrivals = 0;

  private:
    void arrived(const Arrival& /*arrival*/, const std::vector<Event>& taken) override {
        ++arrivals;
        events.insert(events.end(), taken.begin(), taken.end());
    }
    void leaves(Host /*from*/, std::optional<Host> /*to*/, util::Bytes bytes) override {
        left_.emplace_back(bytes.begin(), bytes.end());
    }
    std::vector<Bytes> left_;
};

TEST(Stage, lets_everything_pass_as_it_is) {
    Link link({});
    const Bytes arp = arp_frame();
    link.send(roce_frame(1));
    link.send(arp);
    EXPECT_EQ(link.frames(), (std::vector<Bytes>{roce_frame(1), arp}));
    EXPECT_EQ(link.arrivals, 2U);
    EXPECT_TRUE(link.events.empty());
}

TEST(Stage, drops_the_packet_that_was_chosen_and_no_other) {
    Link link({"drop the 2nd packet from client"});
    link.send(10, server);
    link.send(arp_frame());
    link.frames();
    link.send({1, 2, 3, 2});
    EXPECT_EQ(link.left(), (Psns{1, 3, 2}));
    ASSERT_EQ(link.events.size(), 1U);
    EXPECT_EQ(link.events[0].rule, 1U);
    EXPECT_EQ(link.events[0].name, "drop");
    EXPECT_EQ(link.events[0].text, "drop the 2nd packet from client");
}

TEST(Stage, counts_what_the_expression_leaves) {
    Link link({"drop packets 1 to 2 where bth.psn in 4..6"});
    link.send({1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(link.left(), (Psns{1, 2, 3, 6, 7}));
    EXPECT_EQ(link.stage.rules().front().seen, 3U);
    EXPECT_EQ(link.stage.rules().front().taken, 2U);
}

TEST(Stage, takes_every_nth) {
    Link link({"drop every 3rd packet"});
    link.send({1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(link.left(), (Psns{1, 2, 4, 5, 7}));
}

TEST(Stage, takes_the_same_share_with_the_same_seed) {
    Psns some(1000);
    std::iota(some.begin(), some.end(), 0U);
    Link one({"drop 10% of packets seed 7"});
    one.send(some);
    const Psns left = one.left();
    EXPECT_GT(left.size(), 850U);
    EXPECT_LT(left.size(), 950U);
    Link same({"drop 10% of packets seed 7"});
    same.send(some);
    EXPECT_EQ(same.left(), left);
    Link other({"drop 10% of packets seed 8"});
    other.send(some);
    EXPECT_NE(other.left(), left);
    one.stage.restart();
    one.send(some);
    EXPECT_EQ(one.left(), left) << "a restart begins the numbers again";
}

TEST(Stage, frames_are_more_than_packets) {
    Link link({"drop frames from client"});
    link.send(arp_frame());
    link.send(1);
    link.send(2, server);
    EXPECT_EQ(link.left(), (Psns{2}));
}

TEST(Stage, duplicates_at_once_or_later) {
    Link link({"duplicate 2 times the 1st packet", "duplicate after 5ms the 2nd packet"});
    link.send({1, 2, 3});
    EXPECT_EQ(link.left(), (Psns{1, 1, 1, 2, 3}));
    EXPECT_EQ(link.stage.next(), link.now + 5ms);
    link.wait(5ms);
    EXPECT_EQ(link.left(), (Psns{2}));
    EXPECT_EQ(link.stage.held_bytes(), 0U);
    EXPECT_FALSE(link.stage.next());
}

TEST(Stage, delays_and_keeps_the_order_of_what_is_as_late) {
    Link link({"delay 20ms packets 1 to 2"});
    link.send({1, 2, 3});
    EXPECT_EQ(link.left(), (Psns{3}));
    link.wait(19ms);
    EXPECT_EQ(link.left(), (Psns{}));
    link.wait(1ms);
    EXPECT_EQ(link.left(), (Psns{1, 2}));
}

TEST(Stage, reorders_behind_so_many_of_the_same_way) {
    Link link({"reorder by 2 the 1st packet from client"});
    link.send(1);
    link.send(9, server);
    link.send({2, 3, 4});
    EXPECT_EQ(link.left(), (Psns{9, 2, 3, 1, 4}));
}

TEST(Stage, does_not_wait_for_ever_to_be_overtaken) {
    Link link({"reorder by 2 the 1st packet"});
    link.send({1, 2});
    EXPECT_EQ(link.left(), (Psns{2}));
    EXPECT_EQ(link.stage.next(), link.now + Stage::overtaking_time);
    link.wait(Stage::overtaking_time);
    EXPECT_EQ(link.left(), (Psns{1}));
}

TEST(Stage, cuts_both_directions_for_a_time) {
    Link link({"cut for 100ms at the 2nd packet from client"});
    link.send({1, 2});
    link.send(10, server);
    link.send(arp_frame());
    EXPECT_EQ(link.left(), (Psns{1}));
    EXPECT_EQ(link.events.size(), 3U) << "each frame that the cut has taken is told";
    link.wait(100ms);
    link.send(3);
    EXPECT_EQ(link.left(), (Psns{3}));
}

TEST(Stage, limits_to_a_rate_and_drops_what_its_queue_does_not_hold) {
    // The rate of one frame per millisecond.
    const std::size_t bits = roce_frame(1).size() * 8;
    Link link({"limit to " + std::to_string(bits) + "kbit/s queue 2 packets"});
    link.send({1, 2, 3});
    EXPECT_EQ(link.left(), (Psns{}));
    EXPECT_EQ(link.events.back().detail, "its queue is full: dropped");
    link.wait(1ms);
    EXPECT_EQ(link.left(), (Psns{1}));
    link.wait(1ms);
    EXPECT_EQ(link.left(), (Psns{2}));
    link.wait(10ms);
    EXPECT_EQ(link.left(), (Psns{}));
}

TEST(Stage, changes_a_copy_and_sends_that_on) {
    Link link(
        {"set bth.psn to 77 the 1st packet", "mark the 1st packet", "corrupt the 2nd packet"});
    const Bytes frame = roce_frame(1);
    link.send(frame);
    link.send(frame);
    link.send(frame);
    const auto frames = link.frames();
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(psn_of(frames[0]), 77U);
    EXPECT_EQ(decoded(frames[0]).ipv4->ecn(), 3);
    EXPECT_EQ(decoded(frames[1]).icrc->status, wire::IcrcStatus::Bad);
    EXPECT_EQ(frames[2], frame);
    EXPECT_EQ(link.events.size(), 3U);
}

TEST(Stage, rules_see_what_the_host_has_sent_also_where_others_took_it) {
    Link link({"drop the 1st packet", "drop the 2nd packet", "set bth.psn to 9 packets"});
    link.send({1, 2, 3});
    EXPECT_EQ(link.left(), (Psns{9}));
    EXPECT_EQ(link.stage.rules().back().seen, 3U);
    EXPECT_EQ(link.stage.rules().back().taken, 1U) << "a dropped packet has nothing to be set";
}

TEST(Stage, rules_come_and_go_while_packets_pass) {
    Link link({"drop the 2nd packet"});
    link.send(1);
    EXPECT_TRUE(link.stage.remove(1));
    EXPECT_FALSE(link.stage.remove(1));
    link.send(2);
    EXPECT_EQ(link.stage.add(parse_rule("drop the 1st packet", link.stage.hosts())), 2U);
    link.send({3, 4});
    link.stage.restart();
    link.send(5);
    link.stage.clear();
    link.send(6);
    EXPECT_EQ(link.left(), (Psns{1, 2, 4, 6}));
}

TEST(Stage, holds_what_it_holds_when_rules_go) {
    Link link({"delay 10ms the 1st packet"});
    link.send(1);
    link.stage.clear();
    link.wait(10ms);
    EXPECT_EQ(link.left(), (Psns{1}));
}

}  // namespace
