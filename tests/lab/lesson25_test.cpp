// Lesson 25 in the lab: batches in the logs and on the wire, the slots that limit them, how requests
// are combined into batches, and the statistics at the end.
#include <algorithm>
#include <cmath>

#include "lesson25_checks.hpp"
#include "util/percentile.hpp"

namespace lesson25_test {

using namespace std::chrono_literals;
using namespace lesson25_checks;
using support::LabRun;

class Lesson25 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

std::vector<double> values_of(const std::vector<runlog::Event>& events, std::string_view key) {
    std::vector<double> values;
    values.reserve(events.size());
    for (const auto& event : events)
        values.push_back(static_cast<double>(event.number(key).value()));
    return values;
}

// Returns the only region with this access.
runlog::Event region(const std::vector<runlog::Event>& log, const std::string& access) {
    const auto regions = LabRun::all(log, "mr");
    EXPECT_EQ(
        std::ranges::count_if(regions, [&](const auto& mr) { return mr.text("access") == access; }),
        1);
    return *std::ranges::find_if(regions,
                                 [&](const auto& mr) { return mr.text("access") == access; });
}

// Both directions of the only connection.
struct Wire {
    std::map<std::uint32_t, Passage> to_server, to_client;
};
Wire wire_of(const LabRun& run) {
    const auto state = LabRun::ready_to_send(run.client).at(0);
    return {passages(requests_to(run, support::server_ip, state.number("dest_qpn").value())),
            passages(requests_to(run, support::client_ip, state.number("qpn").value()))};
}

void expect_predicted(const std::vector<runlog::Event>& log,
                      const std::map<std::uint32_t, Passage>& sent) {
    std::set<std::uint32_t> predicted;
    for (const auto& post : LabRun::all(log, "post_send"))
        predicted.merge(support::psns_of(post));
    std::set<std::uint32_t> seen;
    for (const auto& [id, passage] : sent) {
        seen.insert(passage.notice.psn);
        for (const Request& write : passage.writes)
            seen.insert(write.psn);
    }
    EXPECT_EQ(seen, predicted);
}

void expect_all_right(const LabRun& run) {
    const auto* check = LabRun::find(run.client, "check");
    ASSERT_NE(check, nullptr) << run.outcome.all();
    EXPECT_EQ(check->text("verdict"), "good");
}

TEST_F(Lesson25, inputs_are_written_then_the_notice_and_the_result_comes_back_likewise) {
    const LabRun run = support::capture("25");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
    expect_all_right(run);
    EXPECT_TRUE(support::rows(run, "frame", "aeth.type contains NAK").empty())
        << "where there is a slot there is a receive";

    Wire wire = wire_of(run);
    expect_predicted(run.client, wire.to_server);
    expect_predicted(run.server, wire.to_client);
    const auto word = wire.to_client.extract(begin);
    ASSERT_FALSE(word.empty()) << "the word to begin";
    EXPECT_TRUE(word.mapped().writes.empty());
    EXPECT_LT(word.mapped().notice.frame, wire.to_server.at(0).writes.front().frame);

    const runlog::Event slots = region(run.server, "local_write remote_write");
    const runlog::Event results = region(run.client, "local_write remote_write");
    const std::uint64_t slot_size = slots.number("len").value() / 2;
    ASSERT_EQ(wire.to_server.size(), 8U);
    ASSERT_EQ(wire.to_client.size(), 8U);
    for (std::uint32_t id = 0; id < 8; ++id) {
        const std::size_t requests = id < 7 ? 8 : 4;
        const std::uint64_t at = id % 2;
        const Passage& batch = wire.to_server.at(id);
        const std::uint64_t slot = slots.number("va").value() + at * slot_size;
        ASSERT_EQ(batch.writes.size(), requests);
        for (std::size_t i = 0; i < requests; ++i) {
            EXPECT_EQ(batch.writes[i].va, slot + 8 + i * input_size);
            EXPECT_EQ(batch.writes[i].length, input_size);
            EXPECT_EQ(batch.writes[i].rkey, slots.number("rkey"));
        }
        EXPECT_EQ(batch.notice.va, slot);
        EXPECT_EQ(batch.notice.length, 8U);
        EXPECT_EQ(batch.notice.rkey, slots.number("rkey"));

        const Passage& result = wire.to_client.at(id);
        ASSERT_EQ(result.writes.size(), 1U);
        EXPECT_EQ(result.writes[0].va, results.number("va").value() + at * 8 * output_size);
        EXPECT_EQ(result.writes[0].length, requests * output_size);
        EXPECT_EQ(result.writes[0].rkey, results.number("rkey"));
        EXPECT_EQ(result.notice.length, 0U);
    }
    EXPECT_LE(most_outstanding(wire.to_server, wire.to_client, 2), 2U);
}

TEST_F(Lesson25, figures_are_those_of_the_batches_in_the_log) {
    const LabRun& run = support::plain_run("25");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto batches = LabRun::all(run.client, "batch");
    const auto served = LabRun::all(run.server, "served");
    const auto* serving = LabRun::find(run.client, "serving");
    ASSERT_NE(serving, nullptr);
    const auto figure = [&](std::string_view key) {
        return static_cast<double>(serving->number(key).value());
    };
    EXPECT_EQ(figure("requests"), 60);
    ASSERT_EQ(batches.size(), 8U);
    ASSERT_EQ(served.size(), 8U);
    const auto took = values_of(batches, "took_us");
    EXPECT_EQ(figure("batch_p50_us"), util::percentile(took, 50));
    EXPECT_EQ(figure("batch_p99_us"), util::percentile(took, 99));
    EXPECT_LE(figure("batch_p50_us"), figure("batch_p99_us"));
    EXPECT_LE(figure("request_p50_us"), figure("request_p99_us"));
    EXPECT_EQ(figure("request_p99_us"), std::ranges::max(values_of(batches, "oldest_us")))
        << "of 60 values the largest";
    const double seconds = figure("elapsed_us") / 1e6;
    EXPECT_NEAR(std::stod(std::string(serving->text("requests_per_s"))), 60 / seconds, 0.1);
    EXPECT_NEAR(std::stod(std::string(serving->text("batches_per_s"))), 8 / seconds, 0.1);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(served[i].number("batch"), i);
        EXPECT_EQ(batches[i].number("batch"), i);
        EXPECT_EQ(batches[i].number("requests"), served[i].number("requests"));
        // The server's took_us may be larger: its last WRITE may arrive before ibv_post_send
        // returns.
        EXPECT_GE(took[i], static_cast<double>(served[i].number("waited_us").value()))
            << "the batch's time in the server's queue is a part of the client's time";
    }
}

TEST_F(Lesson25, nobody_writes_into_a_slot_in_use_however_many_there_are) {
    for (const std::uint32_t depth : {1U, 3U}) {
        const LabRun run = support::capture(
            "25", {"LAB_SERVER_ARGS=--launch-us 5000"},
            {"--batch", "2", "--requests", "24", "--depth", std::to_string(depth)});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        expect_all_right(run);
        const Wire wire = wire_of(run);
        EXPECT_EQ(wire.to_server.size(), 12U);
        EXPECT_EQ(most_outstanding(wire.to_server, wire.to_client, depth), depth)
            << "and a slow server has all of them";
    }
}

// Returns the number of requests in each batch.
std::vector<double> sizes_of(const support::Argv& arguments) {
    const LabRun run = support::capture("25", {}, arguments);
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    expect_all_right(run);
    return values_of(LabRun::all(run.client, "batch"), "requests");
}

TEST_F(Lesson25, requests_wait_for_others_until_the_batch_is_full_or_their_time_is_over) {
    EXPECT_EQ(sizes_of({"--rate", "1000", "--wait", "10000000", "--requests", "24"}),
              (std::vector<double>{8, 8, 8}));
    EXPECT_EQ(sizes_of({"--rate", "1000", "--even", "--wait", "500000", "--batch", "64",
                        "--requests", "10"}),
              std::vector<double>{10});
    // Requests that arrive slowly and do not wait are sent one at a time, unless the machine is
    // busy.
    EXPECT_GE(sizes_of({"--rate", "5", "--even", "--wait", "0", "--requests", "10"}).size(), 8U);
}

TEST_F(Lesson25, several_clients_are_answered_in_the_order_of_their_notices) {
    const LabRun run = support::capture("25", {"LAB_SERVER_ARGS=--launch-us 4000"},
                                        {"--frontends", "3", "--batch", "4", "--requests", "40"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_every_packet_joined(run);
    expect_all_right(run);

    // By queue pair and ID. When a batch arrives, at most five precede it: two of each other
    // client, and one of its own.
    using Batch = std::pair<std::uint64_t, std::uint64_t>;
    std::vector<Batch> came, answered;
    std::map<Batch, std::size_t> answered_before;
    std::map<std::uint64_t, std::vector<std::size_t>> turns;  // by client
    for (const auto& event : run.server) {
        if (event.name == "wc" && event.text("opcode") == "RECV_RDMA_WITH_IMM") {
            came.emplace_back(event.number("qpn").value(), event.number("imm").value());
            answered_before[came.back()] = answered.size();
        } else if (event.name == "served") {
            const Batch batch{event.number("qpn").value(), event.number("batch").value()};
            EXPECT_LE(answered.size() - answered_before.at(batch), 5U) << batch.second;
            turns[event.number("client").value()].push_back(answered.size());
            answered.push_back(batch);
        }
    }
    EXPECT_EQ(came.size(), 30U);
    EXPECT_EQ(answered, came);
    ASSERT_EQ(turns.size(), 3U);
    for (const auto& [client, own] : turns)
        for (const auto& [other, its] : turns)
            EXPECT_LT(own.front(), its.back()) << client << " began when " << other << " was over";
}

}  // namespace lesson25_test
