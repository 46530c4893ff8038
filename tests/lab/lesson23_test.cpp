// Lesson 23 in the lab: pushes and pulls in the logs and on the wire; a torn read; and workers that
// are refused or disconnect.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "examples/23_parameter_server/block.hpp"
#include "support/step_checks.hpp"

namespace lesson23_test {

using namespace std::chrono_literals;
using support::LabRun;
using support::rows;
using Strings = std::vector<std::string>;

constexpr const char* server_program = "build/examples/23_parameter_server/server";
constexpr const char* client_program = "build/examples/23_parameter_server/client";
constexpr std::uint64_t gradient_size = std::uint64_t{521} * 8;

class Lesson23 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// Returns the mean loss of each lesson.
std::vector<double> losses_of(const LabRun& run) {
    std::vector<double> losses;
    for (const auto& step : LabRun::all(run.server, "training"))
        losses.push_back(std::stod(std::string(step.text("loss"))));
    return losses;
}

std::size_t count(const std::vector<runlog::Event>& log, const std::string& name,
                  const std::string& key, const std::string& value) {
    const auto events = LabRun::all(log, name);
    return static_cast<std::size_t>(
        std::ranges::count_if(events, [&](const auto& event) { return event.text(key) == value; }));
}

TEST(WeightsBlock, is_whole_only_between_two_looks_at_the_same_even_version) {
    using lesson23::belong_together;
    EXPECT_TRUE(belong_together(4, 4));
    EXPECT_FALSE(belong_together(4, 5)) << "an update has begun";
    EXPECT_FALSE(belong_together(4, 6)) << "one was made in between";
    EXPECT_FALSE(belong_together(5, 5)) << "one is being made";
    EXPECT_FALSE(belong_together(5, 6));
}

TEST(WeightsBlock, is_odd_while_it_is_written) {
    lesson23::Block block;
    lesson23::BlockWriter writer(block);
    lesson23::Weights ones;
    ones.fill(1);
    writer.begin();
    EXPECT_FALSE(lesson23::is_resting(block.version));
    writer.write(ones, 0, 10);
    EXPECT_EQ(block.weights[9], 1);
    EXPECT_EQ(block.weights[10], 0);
    writer.end();
    EXPECT_EQ(block.version, lesson23::version_of_step(1));
    writer.give_up();
    EXPECT_EQ(block.version, lesson23::given_up);
}

TEST_F(Lesson23, gradients_are_written_weights_are_read_and_the_loss_goes_down) {
    const LabRun run = support::capture("23");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);

    const auto losses = losses_of(run);
    ASSERT_EQ(losses.size(), 4U);
    EXPECT_NEAR(losses.front(), 0.693147, 1e-6) << "ln 2: nothing is known yet";
    for (std::size_t i = 1; i < losses.size(); ++i)
        EXPECT_LT(losses[i], losses[i - 1]);
    EXPECT_EQ(count(run.server, "check", "verdict", "good"), 1U) << "bit for bit";
    EXPECT_EQ(count(run.client, "pull", "verdict", "whole"), 3U * 5U);
    EXPECT_EQ(LabRun::all(run.client, "pull").size(), 15U);

    // For each rank: its queue pair, and its slot.
    std::map<std::uint64_t, std::uint64_t> rank_of;  // by the worker's QPN
    for (const auto& worker : LabRun::all(run.client, "worker"))
        rank_of[worker.number("qpn").value()] = worker.number("rank").value();
    ASSERT_EQ(rank_of.size(), 3U);
    const auto regions = LabRun::all(run.server, "mr");
    ASSERT_EQ(regions.size(), 4U);
    EXPECT_EQ(regions[0].text("access"), "remote_read");
    std::map<std::uint64_t, std::string> dest_of;  // worker's QPN -> server's
    for (const auto& state : LabRun::ready_to_send(run.client))
        dest_of[state.number("qpn").value()] = std::to_string(state.number("dest_qpn").value());

    for (const auto& [qpn, rank] : rank_of) {
        const runlog::Event& slot = regions.at(1 + rank);
        EXPECT_EQ(slot.text("access"), "local_write remote_write");
        // Each push is two packets. The first is addressed to the worker's own slot, the last
        // carries the immediate data.
        const std::string to_it =
            fmt::format("bth.destqp == {} and ip.dst == {} and ", dest_of[qpn], support::server_ip);
        std::set<Strings> firsts;
        for (const auto& row :
             rows(run, "bth.psn,reth.va,reth.r_key,reth.dmalen", to_it + "bth.opcode == 6"))
            firsts.insert(row);
        EXPECT_EQ(firsts.size(), 4U);
        std::set<std::string> addressed;
        for (const auto& row : firsts) {
            EXPECT_EQ(std::stoull(row[1], nullptr, 0), slot.number("va"));
            EXPECT_EQ(std::stoull(row[2], nullptr, 0), slot.number("rkey"));
            EXPECT_EQ(row[3], std::to_string(gradient_size));
            addressed.insert(row[0]);
        }
        std::set<std::uint64_t> notices;
        std::set<std::string> lasts;
        for (const auto& row : rows(run, "bth.psn,immdt", to_it + "bth.opcode == 9")) {
            notices.insert(std::stoull(row[1], nullptr, 0));
            lasts.insert(row[0]);
        }
        EXPECT_EQ(notices, (std::set<std::uint64_t>{rank << 16 | 1, rank << 16 | 2, rank << 16 | 3,
                                                    rank << 16 | 4}));

        // The log predicts these PSNs: two for each push.
        for (const auto& post : LabRun::all(run.client, "post_send"))
            if (post.number("qpn") == qpn && post.text("opcode") == "RDMA_WRITE_WITH_IMM") {
                EXPECT_EQ(support::psns_of(post).size(), 2U);
                EXPECT_TRUE(addressed.contains(std::to_string(post.number("psn_first").value())));
                EXPECT_TRUE(lasts.contains(std::to_string(post.number("psn_last").value())));
            }

        // Weights are read only from the other region: five times, with reads of the version before
        // and after.
        std::map<std::string, std::pair<std::string, std::uint64_t>> reads;  // by PSN
        for (const auto& row :
             rows(run, "bth.psn,reth.dmalen,reth.va,reth.r_key", to_it + "bth.opcode == 12")) {
            EXPECT_EQ(std::stoull(row[3], nullptr, 0), regions[0].number("rkey"));
            reads[row[0]] = {row[1], std::stoull(row[2], nullptr, 0)};
        }
        std::size_t pulls = 0;
        for (const auto& [psn, read] : reads) {
            const bool is_version = read.first == "8";
            pulls += !is_version;
            EXPECT_EQ(read.second, regions[0].number("va").value() + (is_version ? 0 : 8));
        }
        EXPECT_EQ(pulls, 5U);
        EXPECT_GE(reads.size(), 15U);
    }
}

TEST_F(Lesson23, a_read_that_an_update_overtakes_is_found_torn_and_made_again) {
    const LabRun run = support::capture("23", {}, {"--torn", "--steps", "2"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(count(run.client, "pull", "verdict", "torn, read again"), 1U);
    const auto* torn = LabRun::find(run.client, "torn");
    ASSERT_NE(torn, nullptr);
    EXPECT_EQ(torn->number("old"), 260U);
    EXPECT_EQ(torn->number("new"), 260U);
    const auto pulls = LabRun::all(run.client, "pull");
    const auto refused = std::ranges::find_if(
        pulls, [](const auto& pull) { return pull.text("verdict") != "whole"; });
    EXPECT_EQ(refused->number("before"), 2U);
    EXPECT_EQ(refused->number("after"), 3U);
    const auto again = std::find_if(refused + 1, pulls.end(), [&](const auto& pull) {
        return pull.number("rank") == refused->number("rank");
    });
    ASSERT_NE(again, pulls.end());
    EXPECT_EQ(again->number("before"), 4U);
    EXPECT_EQ(count(run.server, "check", "verdict", "good"), 1U)
        << "what was torn has gone into no gradient";
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson23, any_number_of_workers_comes_to_the_result_of_one_process) {
    for (const char* workers : {"1", "4"}) {
        const LabRun run = support::capture("23", {}, {"--workers", workers, "--steps", "2"});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        EXPECT_EQ(count(run.server, "check", "verdict", "good"), 1U);
        EXPECT_EQ(losses_of(run).size(), 2U);
        EXPECT_EQ(LabRun::all(run.server, "gradient").size(), 2 * std::stoul(workers));
    }
}

// Two of three workers have joined. One of them is stopped, and the server notifies the other.
TEST_F(Lesson23, a_worker_that_goes_takes_the_others_with_it_and_the_next_job_is_served) {
    auto server = support::start("server", {server_program, "--port", "4316"});
    ASSERT_TRUE(server.await("listening", 60s));
    const support::Argv one_of_three{client_program, "192.0.2.1", "--port",    "4316",
                                     "--clients",    "3",         "--workers", "1"};
    auto first = support::start("client", one_of_three);
    ASSERT_TRUE(first.await("rank 0 of 3", 60s));
    auto second = support::start("client", one_of_three);
    ASSERT_TRUE(second.await("rank 1 of 3", 60s));

    const auto other_job =
        support::exec("client", {client_program, "192.0.2.1", "--port", "4316", "--workers", "2"});
    EXPECT_EQ(other_job.exit_code, 1);
    EXPECT_NE(other_job.err.find("client: "), std::string::npos) << other_job.all();

    second.close_input();
    EXPECT_NE(second.wait(30s).exit_code, 0);
    const auto told = first.wait(40s);
    EXPECT_EQ(told.exit_code, 1) << told.all();
    EXPECT_NE(told.err.find("client: the server has stopped: another worker has disconnected."),
              std::string::npos)
        << told.all();

    const auto next = support::exec("client", {client_program, "192.0.2.1", "--port", "4316",
                                               "--workers", "2", "--steps", "1"});
    EXPECT_EQ(next.exit_code, 0) << next.all();
    server.close_input();
    const auto end = server.wait(30s);
    EXPECT_NE(end.err.find("server: a worker for a job of 2 workers and 4 steps: the current job "
                           "has 3 workers and 4 steps, and 2 workers have joined."),
              std::string::npos)
        << end.all();
    EXPECT_NE(
        end.err.find("server: rank 1 disconnected before the last step: the others are informed."),
        std::string::npos)
        << end.all();
    EXPECT_NE(end.out.find("bit for bit"), std::string::npos) << end.all();
}

TEST_F(Lesson23, a_worker_of_another_job_is_refused_and_the_others_go_on) {
    auto server = support::start("server", {server_program, "--port", "4317"});
    ASSERT_TRUE(server.await("listening", 60s));
    const support::Argv one_of_two{client_program, "192.0.2.1", "--port",    "4317",
                                   "--clients",    "2",         "--workers", "1"};
    auto first = support::start("client", one_of_two);
    ASSERT_TRUE(first.await("rank 0 of 2", 60s));
    const auto stranger =
        support::exec("client", {client_program, "192.0.2.1", "--port", "4317", "--workers", "1"});
    EXPECT_EQ(stranger.exit_code, 1) << stranger.all();
    const auto second = support::exec("client", one_of_two);
    EXPECT_EQ(second.exit_code, 0) << second.all();
    const auto end = first.wait(30s);
    EXPECT_EQ(end.exit_code, 0) << end.all();
    server.close_input();
    const auto served = server.wait(30s);
    EXPECT_NE(served.err.find("server: a worker for a job of 1 workers"), std::string::npos)
        << served.all();
}

}  // namespace lesson23_test
