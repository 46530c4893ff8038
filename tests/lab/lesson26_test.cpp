// Lesson 26 in the lab: what Gloo's all_reduce sends, as logged, on the wire, and as the lesson's script
// lists it; its first PSNs; and ends that go or are no ranks.
#include <cmath>
#include <csignal>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson26_test {

using namespace std::chrono_literals;
using support::LabRun;
using support::rows;

constexpr const char* server_program = "build/examples/26_all_reduce/server";
constexpr const char* client_program = "build/examples/26_all_reduce/client";
// rand() & 0xffffff of a C program that does not call srand().
constexpr std::uint64_t everybodys_psn = 0x8b4567;
constexpr std::uint64_t chunk_bytes = 4096;

class Lesson26 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

std::uint64_t first_psn(const std::vector<runlog::Event>& log) {
    return LabRun::ready_to_send(log).at(0).number("sq_psn").value();
}

std::string crc_of(const std::vector<runlog::Event>& log) {
    const auto* memory = LabRun::find(log, "memory");
    return memory == nullptr ? "no weights" : fmt::format("{}", *memory->number("crc32"));
}

std::vector<runlog::Event> chunks(const std::vector<runlog::Event>& log) {
    auto posts = LabRun::all(log, "post_send");
    std::erase_if(posts, [](const auto& post) { return post.number("len") != chunk_bytes; });
    return posts;
}

TEST_F(Lesson26, gradients_are_summed_in_chunks_that_go_round_and_both_ranks_learn_the_same) {
    const LabRun run = support::capture("26");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);

    // The training.
    for (const auto* log : {&run.server, &run.client}) {
        const auto learned = LabRun::all(*log, "learned");
        ASSERT_EQ(learned.size(), 3U);
        EXPECT_EQ(learned.front().text("loss"), "0.693147");
        for (std::size_t i = 1; i < learned.size(); ++i)
            EXPECT_LT(std::stod(std::string(learned[i].text("loss"))),
                      std::stod(std::string(learned[i - 1].text("loss"))));
        const auto* check = LabRun::find(*log, "check");
        ASSERT_NE(check, nullptr);
        EXPECT_EQ(check->text("verdict"), "good");
        // Four chunks in each all_reduce.
        EXPECT_EQ(chunks(*log).size(), 12U);
    }
    EXPECT_EQ(crc_of(run.server), crc_of(run.client)) << "bit for bit";

    // What Gloo chose.
    for (const auto* log : {&run.server, &run.client}) {
        EXPECT_EQ(first_psn(*log), everybodys_psn);
        const auto state = LabRun::ready_to_send(*log).at(0);
        EXPECT_EQ(state.number("path_mtu"), 1024U);
        EXPECT_EQ(state.number("timeout"), 14U);
        EXPECT_EQ(state.number("retry_cnt"), 7U);
    }

    // Each chunk is one WRITE of four packets; three credits for each rank and all_reduce.
    std::set<std::string> posted;
    for (const auto* log : {&run.server, &run.client})
        for (const auto& post : chunks(*log)) {
            EXPECT_EQ(support::psns_of(post).size(), 4U);
            posted.insert(fmt::format("{} {} {}", post.number("psn_first").value(),
                                      post.number("remote_va").value(),
                                      post.number("rkey").value()));
        }
    std::set<std::string> seen;
    for (const auto& row : rows(run, "bth.psn,reth.va,reth.r_key,ip.src",
                                fmt::format("reth.dmalen == {}", chunk_bytes)))
        seen.insert(fmt::format("{} {} {}", row[0], std::stoull(row[1], nullptr, 0),
                                std::stoull(row[2], nullptr, 0)));
    EXPECT_EQ(seen, posted);
    // A busy host may send a packet again.
    const auto count = [&run](const std::string& where) {
        const auto all = rows(run, "bth.psn,ip.src", where);
        return std::set<std::vector<std::string>>(all.begin(), all.end()).size();
    };
    EXPECT_EQ(count("reth.dmalen == 4"), 18U);
    EXPECT_EQ(count("bth.opcode == 5"), 6U) << "three memory regions of each rank";

    // The list of the lesson's script.
    const auto listed = support::run({"examples/26_all_reduce/ring", run.dir});
    ASSERT_EQ(listed.exit_code, 0) << listed.all();
    std::size_t own = 0, complete = 0, at = 0;
    for (const std::string_view part : {"its own", "complete"})
        for (at = 0; (at = listed.out.find(part, at)) != std::string::npos; ++at)
            ++(part == "complete" ? complete : own);
    EXPECT_EQ(own, 12U) << listed.out;
    EXPECT_EQ(complete, 12U) << listed.out;
    for (const auto* log : {&run.server, &run.client})
        for (const auto& post : chunks(*log))
            EXPECT_NE(listed.out.find(fmt::format("PSN {:#08x} to {:#08x}",
                                                  post.number("psn_first").value(),
                                                  post.number("psn_last").value())),
                      std::string::npos)
                << listed.out;
}

// The attacker's packets must come between the messages about memory and the first chunk: if they come
// too early, Gloo aborts rank 0; if the attacker has no CPU for some milliseconds, they are duplicates.
TEST_F(Lesson26, a_chunk_that_a_stranger_forges_is_missing_from_the_sum_on_both_ranks) {
    const LabRun honest = support::capture("26");
    ASSERT_EQ(honest.outcome.exit_code, 0) << honest.outcome.all();
    auto qpn = LabRun::ready_to_send(honest.server).at(0).number("qpn").value();
    const auto losses = [](const auto& log) {
        std::vector<std::string> all;
        for (const auto& learned : LabRun::all(log, "learned"))
            all.emplace_back(learned.text("loss"));
        return all;
    };
    constexpr int tries = 6;
    for (int i = 0; i < tries; ++i) {
        const LabRun run = support::capture("26", {}, {"--forge", std::to_string(++qpn)});
        const bool is_late = losses(run.server) == losses(honest.server);
        EXPECT_EQ(run.outcome.exit_code == 0, is_late) << run.outcome.all();
        if (is_late || losses(run.server).size() < 3)
            continue;
        EXPECT_EQ(losses(run.server), losses(run.client));
        for (const auto* log : {&run.server, &run.client})
            for (const auto& wc : LabRun::all(*log, "wc"))
                EXPECT_EQ(wc.text("status"), "SUCCESS");
        return;
    }
    ADD_FAILURE() << "the forgery came too early or too late in each of " << tries << " tries";
}

TEST_F(Lesson26, another_seed_is_another_first_psn) {
    const LabRun run = support::capture("26", {}, {"--seed", "--steps", "1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(first_psn(run.server), everybodys_psn);
    EXPECT_NE(first_psn(run.client), everybodys_psn);
}

TEST_F(Lesson26, a_rank_that_computes_longer_is_named_by_explain) {
    // Long beside what a busy host takes for a step.
    const LabRun run = support::capture("26", {}, {"--late", "2000"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto said = support::run({"build/rocecap", "explain", run.dir});
    EXPECT_EQ(said.exit_code, 0) << said.all();
    EXPECT_NE(said.out.find("late-rank (likely, not fatal)  client"), std::string::npos)
        << said.out;
    EXPECT_NE(said.out.find("that of step 2"), std::string::npos) << said.out;
}

// The memory of a WRITE that is not acknowledged stays registered, and Gloo's destructor does not abort.
TEST_F(Lesson26, ranks_end_only_when_their_last_credits_are_acknowledged) {
    const auto wire = [](const std::string& words) {
        EXPECT_EQ(support::run({"lab/lab", "wire", words}).exit_code, 0);
    };
    wire("delay 400ms packets where aeth");
    const LabRun run = support::capture("26", {}, {"--steps", "1"});
    wire("clear");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    for (const auto* log : {&run.server, &run.client})
        EXPECT_EQ(LabRun::find(*log, "check")->text("verdict"), "good");
}

TEST_F(Lesson26, who_is_no_rank_is_refused_and_the_next_job_is_served) {
    auto server = support::start("server", {server_program, "--port", "4326"});
    ASSERT_TRUE(server.await("listening", 60s));
    const auto say = [](const std::string& bytes) {
        return support::exec(
            "client", {"bash", "-c",
                       fmt::format("exec 3<>/dev/tcp/{}/4326; printf '{}' >&3; cat <&3 >/dev/null",
                                   support::server_ip, bytes)});
    };
    say("GET / HTTP/1.0\\r\\n\\r\\n");
    ASSERT_TRUE(server.await("a client wants a job of 1195725856 ranks", 30s));
    // One of two ranks, which announces a key of 4 GiB.
    say("\\0\\0\\0\\002\\0\\0\\0\\001\\0\\0\\0\\144\\0\\0\\0\\001\\377\\377\\377\\377");
    ASSERT_TRUE(server.await("announces a text of 4294967295 bytes", 30s));
    const auto good =
        support::exec("client", {client_program, support::server_ip, "--port", "4326"});
    EXPECT_EQ(good.exit_code, 0) << good.all();
    server.close_input();
    EXPECT_EQ(server.wait(30s).exit_code, 0);
}

// {signal, to whom, what the other one says}
class RankThatGoes : public Lesson26,
                     public testing::WithParamInterface<std::tuple<int, const char*>> {};

TEST_P(RankThatGoes, ends_the_job_of_the_other) {
    const auto& [number, who] = GetParam();
    auto server = support::start("server", {server_program, "--port", "4327"});
    ASSERT_TRUE(server.await("listening", 60s));
    auto client = support::start(
        "client", {client_program, support::server_ip, "--port", "4327", "--steps", "1000"});
    ASSERT_TRUE(client.await("step 1: loss", 60s));
    const bool is_server = std::string(who) == "server";
    support::exec(who, {"pkill", fmt::format("-{}", number), "-x", who});
    const auto one = (is_server ? server : client).wait(30s);
    EXPECT_FALSE(one.timed_out) << one.all();
    const auto other = (is_server ? client : server).wait(30s);
    EXPECT_FALSE(other.timed_out) << other.all();
    EXPECT_EQ(other.exit_code, 1) << other.all();
    EXPECT_NE(other.err.find("another rank has ended"), std::string::npos) << other.all();
    if (number == SIGINT) {
        EXPECT_EQ(one.exit_code, 1) << one.all();
        EXPECT_NE(one.err.find("stopped by a signal during the training"), std::string::npos)
            << one.all();
    }
}

INSTANTIATE_TEST_SUITE_P(All, RankThatGoes,
                         testing::Values(std::tuple(SIGKILL, "server"),
                                         std::tuple(SIGKILL, "client"),
                                         std::tuple(SIGINT, "client")));

}  // namespace lesson26_test
