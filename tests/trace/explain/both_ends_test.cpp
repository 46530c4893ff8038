// What explain says of a capture at both ends of a path: of simulated runs, of which the truth is known.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/explain/simulated_run.hpp"

namespace both_ends_test {

using conformance::LinkSide;
using explain::Cause;
using explain_test::Captured;
using explain_test::Conditions;
using explain_test::SimulatedRun;

// Of about 1600.
constexpr std::size_t few_packets = 512;

// A frame at one of the ends.
struct Taken {
    const Captured* what = nullptr;
    bool is_at_server = false;
};

std::vector<Taken> merged(const SimulatedRun& run) {
    std::vector<Taken> all;
    for (const Captured& one : run.at_client())
        all.push_back({&one, false});
    for (const Captured& one : run.at_server())
        all.push_back({&one, true});
    std::ranges::stable_sort(all, {}, [](const Taken& one) { return one.what->t_ns; });
    return all;
}

flow::Host host(bool is_server) {
    return *flow::host_of_gid(is_server ? "::ffff:192.0.2.1" : "::ffff:192.0.2.2");
}

explain::Explanation explained(const SimulatedRun& run, bool has_log,
                               std::size_t packets = explain::Explainer::most_packets) {
    explain::Explainer explainer(flow::Limits(), packets);
    if (has_log)
        for (const std::string& line : run.log())
            explainer.learn(runlog::from_json(line).value());
    std::uint64_t frame = 0;
    std::int64_t end_ns = 0;
    for (const Taken& one : merged(run)) {
        const auto& bytes = one.what->frame;
        const auto packet = wire::decode(bytes, wire::LinkType::Ethernet);
        const flow::Host here = host(one.is_at_server);
        const bool is_sent = flow::StreamKey::of(packet)->src == here;
        explainer.add(++frame, one.what->t_ns, packet, bytes,
                      {.side = is_sent ? LinkSide::Ingress : LinkSide::Egress,
                       .host = here,
                       .identity = bytes});
        end_ns = std::max(end_ns, one.what->t_ns);
    }
    // Both hosts still receive something, which is not RoCE.
    const std::vector<std::byte> other(60);
    for (const bool is_server : {false, true})
        explainer.add(++frame, end_ns + 100'000'000, wire::decode(other, wire::LinkType::Ethernet),
                      other, {.host = host(is_server), .identity = other});
    return explainer.explanation();
}

const Cause* cause_with(const explain::Explanation& explanation, std::string_view code) {
    const auto found = std::ranges::find_if(
        explanation.causes, [&](const Cause& one) { return name(one.code) == code; });
    return found == explanation.causes.end() ? nullptr : &*found;
}

// Calls judge with each run and what was explained of it: with and without the log, and for each of these
// numbers of packets to keep.
void for_each_explanation(Conditions conditions, const auto& judge,
                          const std::vector<std::size_t>& most = {explain::Explainer::most_packets,
                                                                  few_packets}) {
    constexpr std::uint32_t seeds = 2;
    for (std::uint32_t seed = 0; seed < 8 * seeds; ++seed) {
        conditions.has_running_timer = seed % 2 != 0;
        conditions.has_ip_ids = seed / 2 % 2 != 0;
        conditions.acknowledges_each_copy = seed / 4 % 2 != 0;
        SimulatedRun run(seed, conditions);
        run.run();
        for (const bool has_log : {false, true})
            for (const std::size_t packets : most) {
                SCOPED_TRACE(fmt::format("seed {}{}{}", seed, has_log ? ", with the log" : "",
                                         packets == few_packets ? ", with few packets" : ""));
                judge(run, explained(run, has_log, packets));
            }
    }
}

// Nothing but these causes. `always`: one that each run has; empty: none.
void expect(const Conditions& conditions, const std::set<std::string_view>& allowed,
            std::string_view always = {}) {
    for_each_explanation(conditions, [&](const SimulatedRun&, const auto& explanation) {
        for (const Cause& cause : explanation.causes)
            EXPECT_TRUE(allowed.contains(name(cause.code)))
                << name(cause.code) << ": " << cause.text;
        EXPECT_TRUE(always.empty() || cause_with(explanation, always) != nullptr);
    });
}

TEST(BothEnds, without_a_fault_have_no_cause) {
    expect({}, {});
    expect({.delay_ns = 2'000'000, .jitter_ns = 1'500'000}, {});
    expect({.messages = 60, .pause_ns = 100'000'000}, {});
}

TEST(BothEnds, count_what_was_lost_and_are_certain) {
    for (const Conditions& conditions :
         {Conditions{.lost_requests = 20}, Conditions{.lost_requests = 30, .window = 1},
          Conditions{.lost_responses = 30, .window = 1},
          Conditions{.lost_requests = 60, .lost_responses = 60}})
        for_each_explanation(conditions, [](const SimulatedRun& run, const auto& explanation) {
            const Cause* loss = cause_with(explanation, "loss");
            ASSERT_NE(loss, nullptr);
            for (const Cause& cause : explanation.causes)
                EXPECT_TRUE(
                    name(cause.code) == "loss" ||
                    (name(cause.code) == "needless-retransmissions" && run.done().timeouts != 0) ||
                    !run.conditions().has_ip_ids)
                    << cause.text;
            EXPECT_EQ(loss->certainty, explain::Certainty::Certain);
            if (run.conditions().has_ip_ids) {
                EXPECT_TRUE(loss->text.starts_with(fmt::format(
                    "{} lost between ", run.done().lost == 1
                                            ? "1 packet was"
                                            : fmt::format("{} packets were", run.done().lost))))
                    << loss->text << " Really: " << run.done().lost;
            }
        });
}

TEST(BothEnds, with_slow_answers_have_lost_nothing) {
    const std::set<std::string_view> late{"timeout-too-short", "needless-retransmissions"};
    expect({.slow = 5, .slow_ns = 90'000'000}, late);
    expect({.slow = 50, .slow_ns = 90'000'000}, late);
    expect({.answer_ns = 160'000'000, .messages = 40, .window = 1}, late);
}

TEST(BothEnds, tell_losses_from_slow_answers) {
    expect({.lost_requests = 10, .lost_responses = 10, .slow = 10, .slow_ns = 90'000'000},
           {"loss", "timeout-too-short", "needless-retransmissions"});
}

TEST(BothEnds, with_doubled_packets_have_a_path_that_doubles) {
    expect({.doubled = 20, .reads = 0}, {"needless-retransmissions"});
    for_each_explanation(
        {.doubled = 100, .reads = 0}, [](const SimulatedRun&, const auto& explanation) {
            const Cause* doubled = cause_with(explanation, "needless-retransmissions");
            ASSERT_NE(doubled, nullptr);
            EXPECT_TRUE(
                doubled->text.ends_with("arrived more often: something on the path duplicates "
                                        "packets."))
                << doubled->text;
        });
}

TEST(BothEnds, with_overtaken_packets_have_lost_nothing) {
    for (const Conditions& conditions : {Conditions{.overtaken_requests = 20, .reads = 0},
                                         Conditions{.overtaken_responses = 20, .reads = 1000}})
        for_each_explanation(conditions, [](const SimulatedRun& run, const auto& explanation) {
            EXPECT_NE(cause_with(explanation, "reordering"), nullptr);
            for (const Cause& cause : explanation.causes) {
                const std::string_view code = name(cause.code);
                // Without IP identifications, a packet that was overtaken may look like its copy.
                EXPECT_TRUE(code == "reordering" ||
                            (code == "loss" && !run.conditions().has_ip_ids))
                    << code << ": " << cause.text;
            }
        });
}

TEST(BothEnds, whose_server_was_not_ready_say_so) {
    expect({.not_ready = 60}, {"receiver-not-ready"});
}

TEST(BothEnds, whose_path_was_cut_say_in_which_direction) {
    const auto expect_end = [](const Conditions& conditions, std::string_view code) {
        for_each_explanation(conditions,
                             [&](const SimulatedRun& run, const auto& explanation) {
                                 EXPECT_TRUE(run.has_failed());
                                 const Cause* end = cause_with(explanation, code);
                                 ASSERT_NE(end, nullptr);
                                 EXPECT_TRUE(end->is_fatal);
                                 EXPECT_EQ(end->certainty, explain::Certainty::Certain)
                                     << end->text;
                             },
                             {explain::Explainer::most_packets});
    };
    expect_end({.requests_end_ns = 30'000'000}, "path-broken");
    expect_end({.responses_end_ns = 30'000'000}, "acks-lost");
}

}  // namespace both_ends_test
