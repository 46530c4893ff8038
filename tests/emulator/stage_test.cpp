#include "emulator/stage.hpp"

#include <fmt/format.h>
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
    std::vector<RuleEvent> events, on_arrival;
    std::uint64_t arrivals = 0;

  private:
    std::uint64_t arrived(const ReceivedFrame& arrival, bool is_roce,
                          const std::vector<RuleEvent>& taken) override {
        EXPECT_EQ(is_roce, decoded(arrival.bytes).is_roce());
        on_arrival = taken;
        return ++arrivals;
    }
    void acted(const Sent& sent, const RuleEvent& event) override {
        EXPECT_TRUE(sent.recorded >= 1 && sent.recorded <= arrivals);
        events.push_back(event);
    }
    void leaves(Host /*from*/, std::optional<Host> /*to*/, util::Bytes bytes,
                bool is_roce) override {
        EXPECT_EQ(is_roce, decoded(bytes).is_roce());
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

TEST(Stage, drops_only_what_goes_to_the_host_of_the_rule) {
    Link link({"drop the 1st packet to server"});
    link.send(1, server);
    link.send({2, 3});
    EXPECT_EQ(link.left(), (Psns{1, 3}));
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

TEST(Stage, what_is_held_meets_the_rules_that_follow) {
    Link link({"duplicate 2 times the 1st packet", "delay 10ms the 1st packet",
               "drop the 1st packet where bth.psn == 1"});
    link.send({1, 2});
    link.wait(10ms);
    EXPECT_EQ(link.left(), (Psns{2}));
    std::vector<std::string> done;
    for (const RuleEvent& event : link.events)
        done.push_back(
            fmt::format("{} {} at {}", event.name, event.copy,
                        std::chrono::duration_cast<std::chrono::milliseconds>(event.time).count()));
    EXPECT_EQ(done, (std::vector<std::string>{"duplicate 0 at 0", "delay 0 at 0", "delay 1 at 0",
                                              "delay 2 at 0", "drop 0 at 10", "drop 1 at 10",
                                              "drop 2 at 10"}));
}

TEST(Stage, tells_with_the_frame_what_is_done_to_it_on_arrival) {
    Link link({"duplicate the 1st packet", "delay 10ms the 1st packet", "mark the 1st packet"});
    link.send(1);
    ASSERT_EQ(link.on_arrival.size(), 3U) << "the mark follows later";
    EXPECT_EQ(link.on_arrival[0].name, "duplicate");
    EXPECT_EQ(link.on_arrival[1].name, "delay");
    EXPECT_EQ(link.on_arrival[2].copy, 1U);
}

TEST(Stage, a_cut_takes_what_would_leave_meanwhile) {
    Link link({"delay 100ms packets 1 to 2 from client", "delay 50ms the 1st packet from server",
               "cut for 80ms at the 3rd packet from client"});
    link.send(1);
    link.send(10, server);
    link.wait(30ms);
    link.send(3);
    link.send(4);
    link.wait(100ms);
    EXPECT_EQ(link.left(), (Psns{3})) << "1 and 10 were due while the link was cut";
    EXPECT_EQ(link.events.back().name, "cut");
    link.send(5);
    EXPECT_EQ(link.left(), (Psns{5}));
}

TEST(Stage, a_short_cut_does_not_end_a_longer_one) {
    Link link({"delay 10ms the 1st packet", "cut for 20ms at the 1st packet",
               "cut for 100ms at the 2nd packet"});
    link.send({1, 2});
    link.wait(60ms);
    link.send(3);
    EXPECT_EQ(link.left(), (Psns{}));
    link.wait(40ms);
    link.send(4);
    EXPECT_EQ(link.left(), (Psns{4}));
}

TEST(Stage, a_removed_rule_ends_its_cut) {
    Link link({"cut for 60s at the 1st packet", "drop the 3rd packet"});
    link.send({1, 2});
    link.stage.remove(1);
    link.send({3, 4});
    EXPECT_EQ(link.left(), (Psns{4})) << "a rule counts also what a cut takes";
}

TEST(Stage, what_is_overtaken_follows_at_the_place_of_the_rule) {
    Link link({"duplicate the 2nd packet", "reorder by 1 the 1st packet", "delay 10ms packets"});
    link.send({1, 2});
    link.wait(10ms);
    EXPECT_EQ(link.left(), (Psns{2, 1, 2}));
}

TEST(Stage, a_packet_has_a_thousand_copies_at_most) {
    Link link({"duplicate 600 times packets", "duplicate 600 times packets"});
    link.send(1);
    EXPECT_EQ(link.left().size(), 1001U);
    EXPECT_EQ(link.events[1].detail, "only 400: a packet has at most 1000 copies");
}

TEST(Stage, a_frame_to_all_reaches_those_whose_link_is_not_cut) {
    class Hosts : public StageOutput {
      public:
        std::uint64_t arrived(const ReceivedFrame& /*arrival*/, bool /*is_roce*/,
                              const std::vector<RuleEvent>& /*events*/) override {
            return 0;
        }
        void acted(const Sent& /*sent*/, const RuleEvent& event) override {
            events.push_back(event.detail);
        }
        void leaves(Host /*from*/, std::optional<Host> to, util::Bytes /*bytes*/,
                    bool /*is_roce*/) override {
            reached.push_back(to);
        }
        std::vector<std::optional<Host>> reached;
        std::vector<std::string> events;
    } hosts;
    Stage stage({"a", "b", "c"});
    stage.add(parse_rule("cut for 1s at the 1st frame from b", stage.hosts()));
    const Bytes frame = arp_frame();
    for (const Host from : {1U, 0U})
        stage.take({{}, from, std::nullopt, frame}, {}, hosts);
    EXPECT_EQ(hosts.reached, (std::vector<std::optional<Host>>{2U}));
    EXPECT_EQ(hosts.events, (std::vector<std::string>(2, "b's link, 1000 ms")));
    hosts.reached.clear();
    stage.take({{}, 2, std::nullopt, frame}, util::Clock::time_point(1s), hosts);
    EXPECT_EQ(hosts.reached, (std::vector<std::optional<Host>>{std::nullopt}));
}

TEST(Stage, holds_what_it_holds_when_rules_go) {
    Link link({"delay 10ms the 1st packet"});
    link.send(1);
    link.stage.clear();
    link.wait(10ms);
    EXPECT_EQ(link.left(), (Psns{1}));
}

}  // namespace
