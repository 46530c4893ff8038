// What explain and check say of simulated runs, of which the truth is known: from the capture alone or
// with the requester's log, at each of the two hosts.
#include <array>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "trace/explain/simulated_run.hpp"

namespace simulated_test {

using explain_test::Captured;
using explain_test::Conditions;
using explain_test::SimulatedRun;
using Codes = std::set<std::string>;

struct Evidence {
    bool is_at_server = false, has_log = false;

    std::string text() const {
        return std::string(is_at_server ? "the server's" : "the client's") + " capture" +
               (has_log ? " and the log" : "");
    }
};

// Of about 800. The newest 64 of each direction are among them, more than the requester has outstanding.
constexpr std::size_t few_packets = 512;

constexpr std::array all_evidence{Evidence{false, false}, Evidence{true, false},
                                  Evidence{false, true}, Evidence{true, true}};

std::string_view gid_of(bool is_server) {
    return is_server ? "::ffff:192.0.2.1" : "::ffff:192.0.2.2";
}

explain::Explanation explained(const SimulatedRun& run, const Evidence& evidence,
                               std::size_t packets = explain::Explainer::most_packets) {
    explain::Explainer explainer(flow::Limits(), packets);
    if (evidence.has_log) {
        for (const std::string& line : run.log()) {
            const auto event = runlog::from_json(line);
            EXPECT_TRUE(event) << line;
            explainer.learn(event.value());
        }
        explainer.captured_at(*flow::host_of_gid(std::string(gid_of(evidence.is_at_server))));
    }
    std::uint64_t frame = 0;
    for (const Captured& one : evidence.is_at_server ? run.at_server() : run.at_client())
        explainer.add(++frame, one.t_ns, wire::decode(one.frame, wire::LinkType::Ethernet),
                      one.frame.size(), one.frame);
    return explainer.explanation();
}

// Timers and responders of both kinds, with and without IP identifications.
void for_each_host(Conditions conditions, const auto& judge) {
    constexpr std::uint32_t seeds = 4;
    for (std::uint32_t seed = 0; seed < 8 * seeds; ++seed) {
        conditions.has_running_timer = seed % 2 != 0;
        conditions.has_ip_ids = seed / 2 % 2 != 0;
        conditions.acknowledges_each_copy = seed / 4 % 2 != 0;
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        SimulatedRun run(seed, conditions);
        run.run();
        judge(run);
    }
}

// Nothing but these causes; "" among them: each run has one of them.
void expect(const Conditions& conditions, const Codes& allowed,
            std::initializer_list<Evidence> evidence = {all_evidence[0], all_evidence[1],
                                                        all_evidence[2], all_evidence[3]}) {
    for_each_host(conditions, [&](const SimulatedRun& run) {
        for (const Evidence& one : evidence) {
            const auto explanation = explained(run, one);
            for (const explain::Cause& cause : explanation.causes)
                EXPECT_TRUE(allowed.contains(std::string(name(cause.code))))
                    << one.text() << ": " << name(cause.code) << ": " << cause.text;
            for (const explain::Cause& cause : explained(run, one, few_packets).causes)
                EXPECT_TRUE(allowed.contains(std::string(name(cause.code))))
                    << one.text() << ", with few packets: " << name(cause.code) << ": "
                    << cause.text;
            EXPECT_TRUE(!explanation.causes.empty() || !allowed.contains("") ||
                        run.done().is_nothing())
                << one.text() << ": nothing";
        }
    });
}

TEST(SimulatedRuns, without_a_fault_have_no_cause) {
    expect({}, {});
    expect({.delay_ns = 2'000'000, .jitter_ns = 1'500'000}, {});
    expect({.messages = 60, .pause_ns = 100'000'000}, {});
}

TEST(SimulatedRuns, with_slow_answers_have_lost_nothing) {
    const Codes late{"timeout-too-short", "needless-retransmissions"};
    const Codes always_late{"timeout-too-short", "needless-retransmissions", ""};
    expect({.slow = 5, .slow_ns = 90'000'000}, late);
    expect({.slow = 50, .slow_ns = 90'000'000}, always_late);
    expect({.answer_ns = 160'000'000, .messages = 40, .window = 1}, always_late);
}

TEST(SimulatedRuns, with_lost_requests_have_a_loss) {
    expect({.lost_requests = 10}, {"loss", ""});
    expect({.lost_requests = 20, .window = 1}, {"loss"});
}

// What the server has sent may have been lost behind its capture, or the client was late.
TEST(SimulatedRuns, with_lost_responses_have_a_loss) {
    const Codes seen_at_server{"loss", "needless-retransmissions"};
    expect({.lost_responses = 20, .reads = 1000}, {"loss", ""});
    expect({.lost_responses = 20, .window = 1}, {"loss"}, {all_evidence[0], all_evidence[2]});
    expect({.lost_responses = 20, .window = 1}, seen_at_server, {all_evidence[1], all_evidence[3]});
    expect({.lost_responses = 20, .reads = 0}, seen_at_server);  // the next ACK makes up for most
    expect({.lost_requests = 60, .lost_responses = 60}, {"loss", ""}, {all_evidence[0]});
}

TEST(SimulatedRuns, with_doubled_packets_have_them_where_they_arrive) {
    expect({.doubled = 20}, {}, {all_evidence[0], all_evidence[2]});
    expect({.doubled = 20}, {"needless-retransmissions", ""}, {all_evidence[1], all_evidence[3]});
}

// Where they left, a packet that was overtaken looks like one that was lost.
TEST(SimulatedRuns, with_overtaken_packets_have_them_where_they_arrive) {
    expect({.overtaken_requests = 20, .reads = 0}, {"reordering", ""},
           {all_evidence[1], all_evidence[3]});
    expect({.overtaken_responses = 20}, {"reordering"}, {all_evidence[2]});
}

TEST(SimulatedRuns, whose_server_was_not_ready_say_so) {
    expect({.not_ready = 60}, {"receiver-not-ready"});
}

// Which of the two a retransmission stands for may remain open.
TEST(SimulatedRuns, with_losses_and_slow_answers_have_no_other_fault) {
    expect({.lost_requests = 10, .lost_responses = 10, .slow = 10, .slow_ns = 90'000'000},
           {"loss", "timeout-too-short", "needless-retransmissions", "reordering", ""});
}

// The fatal cause of each piece of evidence.
void expect_fatal(const Conditions& conditions, const std::array<std::string_view, 4>& expected) {
    for_each_host(conditions, [&](const SimulatedRun& run) {
        EXPECT_TRUE(run.has_failed());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            bool is_found = expected[i].empty();
            for (const explain::Cause& cause : explained(run, all_evidence[i]).causes) {
                is_found |= cause.is_fatal && name(cause.code) == expected[i];
                // What the cut took may look like a loss.
                EXPECT_TRUE(name(cause.code) == expected[i] || cause.code == explain::Code::Loss)
                    << all_evidence[i].text() << ": " << name(cause.code) << ": " << cause.text;
            }
            EXPECT_TRUE(is_found) << all_evidence[i].text();
        }
    });
}

// Nothing that the server's capture has shows that requests are missing at its end.
TEST(SimulatedRuns, whose_path_was_cut_have_failed) {
    expect_fatal({.requests_end_ns = 30'000'000}, {"peer-gone", "", "path-broken", "path-broken"});
    expect_fatal({.responses_end_ns = 30'000'000},
                 {"peer-gone", "acks-lost", "path-broken", "acks-lost"});
    expect_fatal({.reads = 0, .window = 1, .responses_end_ns = 30'000'000},
                 {"peer-gone", "acks-lost", "path-broken", "acks-lost"});
    expect_fatal({.reads = 1000, .window = 1, .responses_end_ns = 30'000'000},
                 {"peer-gone", "acks-lost", "path-broken", "acks-lost"});
}

// A running timer may expire early: that is a finding of its own.
std::string findings(const std::vector<Captured>& capture, bool is_at_server,
                     std::uint32_t timeout) {
    flow::Tracker tracker;
    tracker.know({.host = std::nullopt,
                  .qpn = 0x21,
                  .dest_qpn = 0x11,
                  .path_mtu = SimulatedRun::mtu,
                  .sq_psn = wire::Psn(SimulatedRun::first_psn),
                  .retry = {.ack_timeout_ns = std::int64_t{4096} << timeout, .retry_count = 7}});
    conformance::Checker checker(tracker);
    checker.captured_at({flow::host_of_gid(std::string(gid_of(is_at_server)))});
    std::uint64_t frame = 0;
    for (const Captured& one : capture) {
        const auto packet = wire::decode(one.frame, wire::LinkType::Ethernet);
        const std::uint64_t stream =
            tracker.add(std::chrono::nanoseconds(one.t_ns), packet, one.frame.size());
        checker.add_at_one_point(++frame, one.t_ns, packet, stream);
    }
    std::string all;
    for (const conformance::Finding& one : checker.finish().findings)
        if (one.code != conformance::Code::TimeoutEarly)
            all += fmt::format("frame {}: {}: {}\n", one.frame, name(one.code), one.text);
    return all;
}

TEST(SimulatedRuns, conform_to_the_specification_under_all_conditions) {
    const std::array<Conditions, 8> all{{
        {},
        {.slow = 20, .slow_ns = 90'000'000},
        {.lost_requests = 20},
        {.lost_responses = 20},
        {.lost_requests = 60, .lost_responses = 60},
        {.doubled = 20},
        {.overtaken_requests = 20, .overtaken_responses = 20},
        {.not_ready = 30},
    }};
    for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(i);
        for_each_host(all[i], [&](const SimulatedRun& run) {
            EXPECT_EQ(findings(run.at_client(), false, all[i].timeout), "");
            EXPECT_EQ(findings(run.at_server(), true, all[i].timeout), "");
        });
    }
}

}  // namespace simulated_test
