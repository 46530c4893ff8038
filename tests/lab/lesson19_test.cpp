// Lesson 19 in the lab: lost packets are retransmitted and the data arrives unchanged; without
// responses, a device gives up after `retry_cnt` retransmissions. Each test clears its settings of
// the link emulator at its end.
#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "support/tool.hpp"
#include "support/tshark.hpp"

namespace lesson19_test {

using namespace std::chrono_literals;
using support::LabRun;
using support::rows;

const std::string client_program = "build/examples/19_packet_loss/client";

support::Outcome netem(const support::Argv& words) {
    support::Argv argv{"lab/lab", "netem"};
    argv.insert(argv.end(), words.begin(), words.end());
    return support::run(argv);
}

class Lesson19 : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
    void TearDown() override {
        const auto cleared = netem({"clear"});
        EXPECT_EQ(cleared.exit_code, 0) << cleared.all();
    }

    static const runlog::Event& only(const LabRun& run, std::string_view name) {
        static const runlog::Event none;
        const auto* event = LabRun::find(run.client, name);
        EXPECT_NE(event, nullptr) << name << run.outcome.all().substr(0, 4000);
        return event == nullptr ? none : *event;
    }
};

std::set<std::uint32_t> predicted(const LabRun& run, std::uint64_t qpn) {
    std::set<std::uint32_t> psns;
    for (const auto& post : LabRun::all(run.client, "post_send"))
        if (post.number("qpn") == qpn)
            psns.merge(support::psns_of(post));
    return psns;
}

// Returns how often each PSN arrived at the server's queue pair.
std::map<std::uint32_t, std::size_t> arrived(const LabRun& run, std::uint64_t dest_qpn) {
    std::map<std::uint32_t, std::size_t> times;
    for (const auto& row :
         rows(run, "bth.psn",
              "ip.dst == " + support::server_ip + " and bth.destqp == " + std::to_string(dest_qpn)))
        ++times[static_cast<std::uint32_t>(std::stoul(row.at(0)))];
    return times;
}

TEST_F(Lesson19, a_good_link_needs_each_packet_once_and_silence_all_retries) {
    const LabRun run = support::capture("19", {}, {"--size", "256KiB", "--retry-cnt", "3"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_whole(run);
    support::expect_every_packet_joined(run);

    const auto& transfer = only(run, "transfer");
    EXPECT_EQ(transfer.text("bytes"), "intact");
    EXPECT_EQ(transfer.number("packets"), 64U);
    EXPECT_EQ(transfer.number("sent").value(),
              transfer.number("packets").value() + transfer.number("again").value());
    const auto states = LabRun::ready_to_send(run.client);
    ASSERT_EQ(states.size(), 2U);
    std::set<std::uint32_t> seen;
    for (const auto& [psn, times] : arrived(run, states[0].number("dest_qpn").value()))
        seen.insert(psn);
    EXPECT_EQ(seen, predicted(run, states[0].number("qpn").value()));

    // The unanswered WRITE is sent once and retransmitted three times. The next WRITE is never
    // sent.
    const auto silent = arrived(run, states[1].number("dest_qpn").value());
    ASSERT_EQ(silent.size(), 1U);
    EXPECT_EQ(silent.begin()->first, states[1].number("sq_psn"));
    EXPECT_EQ(silent.begin()->second, 1U + 3U);
    const auto& silence = only(run, "silence");
    EXPECT_EQ(silence.text("status"), "RETRY_EXC_ERR");
    EXPECT_EQ(silence.text("next"), "WR_FLUSH_ERR");
    EXPECT_EQ(silence.number("sent"), 1U + 3U);
    EXPECT_GE(silence.number("took_us").value(), 4U * 268'435U - 100'000U);  // 4.096 us * 2^16
    const auto all_states = LabRun::all(run.client, "qp_state");
    ASSERT_EQ(all_states.size(), 7U);  // INIT, RTR and RTS twice, ERR
    EXPECT_EQ(all_states.back().text("state"), "ERR");
    EXPECT_EQ(all_states.back().number("qpn"), states[1].number("qpn"));
}

struct Request {
    std::uint32_t psn;
    bool is_nak;  // otherwise a packet of the client
};

// Returns the first connection's requests and its NAKs for PSN sequence errors, in capture order.
std::vector<Request> requests_and_naks(const LabRun& run) {
    const auto state = LabRun::ready_to_send(run.client).at(0);
    std::vector<Request> all;
    const std::string where = fmt::format(
        "(ip.dst == {} and bth.destqp == {}) or (ip.dst == {} and bth.destqp == {} and "
        "aeth.error == \"PSN Sequence Error\")",
        support::server_ip, state.number("dest_qpn").value(), support::client_ip,
        state.number("qpn").value());
    for (const auto& row : rows(run, "ip.dst,bth.psn", where))
        all.push_back(
            {static_cast<std::uint32_t>(std::stoul(row.at(1))), row.at(0) == support::client_ip});
    return all;
}

TEST_F(Lesson19, what_is_lost_is_asked_for_and_all_behind_it_comes_again) {
    ASSERT_EQ(netem({"client", "loss", "5%"}).exit_code, 0);
    const LabRun run = support::capture("19", {"CAPTURE_SECONDS=170"},
                                        {"--transfer", "--size", "256KiB", "--path-mtu", "512",
                                         "--retry-cnt", "7", "--timeout", "150"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all().substr(0, 4000);
    support::expect_every_packet_joined(run);
    EXPECT_EQ(run.info["hosts"]["client"].value("netem", ""), "loss 5%");

    const auto& transfer = only(run, "transfer");
    EXPECT_EQ(transfer.text("bytes"), "intact");
    EXPECT_EQ(transfer.number("crc32"), LabRun::all(run.server, "memory").at(0).number("crc32"));
    EXPECT_GT(transfer.number("again").value(), 0U);
    EXPECT_GT(transfer.number("naks").value(), 0U);

    const auto passed = requests_and_naks(run);
    const auto wanted =
        predicted(run, LabRun::ready_to_send(run.client).at(0).number("qpn").value());
    std::set<std::uint32_t> seen;
    std::size_t naks = 0;
    std::size_t again = 0;
    for (auto at = passed.begin(); at != passed.end(); ++at) {
        if (!at->is_nak) {
            seen.insert(at->psn);
            continue;
        }
        // The responder dropped the packets after the gap: all of them must be retransmitted.
        ++naks;
        std::set<std::uint32_t> later;
        for (auto next = at; next != passed.end(); ++next)
            if (!next->is_nak)
                later.insert(next->psn);
        EXPECT_TRUE(later.contains(at->psn)) << "PSN " << at->psn << " was asked for in vain";
        for (const auto psn : seen)
            if (psn > at->psn) {
                ++again;
                EXPECT_TRUE(later.contains(psn)) << psn << " after the NAK for " << at->psn;
            }
    }
    EXPECT_GT(naks, 0U);
    EXPECT_GT(again, 0U);
    EXPECT_EQ(seen, wanted);

    const auto flows = support::run({"build/rocecap", "flows", run.file("wire.pcapng")});
    EXPECT_NE(flows.out.find("PSN Sequence Error"), std::string::npos) << flows.out;
}

TEST_F(Lesson19, a_link_that_is_cut_ends_in_an_error_after_all_retries) {
    // Large enough to be in progress when the packet loss starts.
    support::Process client({"lab/lab", "capture", "19", "--", "--transfer", "--size", "256MiB",
                             "--retry-cnt", "2", "--ack-timeout", "17", "--timeout", "60"},
                            {"CAPTURE_SNAPLEN=128", "CAPTURE_SECONDS=120"});
    ASSERT_TRUE(client.await("wc        wr ", 120s));
    // No packet from the server arrives any more. Packets to the server are still captured there.
    ASSERT_EQ(netem({"server", "loss", "100%"}).exit_code, 0);
    EXPECT_TRUE(client.await("RETRY_EXC_ERR", 100s));
    EXPECT_EQ(netem({"clear"}).exit_code, 0);
    const LabRun run = support::read_run(client.wait(120s));
    EXPECT_EQ(run.outcome.exit_code, 1);
    const auto completions = LabRun::all(run.client, "wc");
    ASSERT_FALSE(completions.empty());
    EXPECT_EQ(completions.back().text("status"), "RETRY_EXC_ERR");
    const auto states = LabRun::all(run.client, "qp_state");
    ASSERT_EQ(states.size(), 4U);  // INIT, RTR, RTS, ERR
    EXPECT_EQ(states[3].text("state"), "ERR");
    const auto* error = LabRun::find(run.client, "error");
    ASSERT_NE(error, nullptr);
    EXPECT_NE(error->text("text").find("--retry-cnt 2"), std::string::npos) << error->text("text");

    // The oldest unacknowledged packet is sent once and retransmitted twice. On a slow machine it
    // may already have been retransmitted before the loss, after packets whose ACKs were late.
    const auto times = arrived(run, states[2].number("dest_qpn").value());
    const auto most = std::ranges::max_element(
        times, [](const auto& one, const auto& other) { return one.second < other.second; });
    ASSERT_NE(most, times.end());
    EXPECT_GE(most->second, 1U + 2U);
}

TEST_F(Lesson19, the_sweep_measures_both_transports_and_clears_the_link) {
    const std::string folder = "build/lesson19-sweep";
    const auto sweep = support::run({"examples/19_packet_loss/sweep", folder},
                                    {"RATES=0 2", "REPEATS=1", "SWEEP_SIZE=256KiB"}, 5min);
    EXPECT_EQ(sweep.exit_code, 0) << sweep.all();
    const auto csv = support::run({"cat", folder + "/sweep.csv"});
    EXPECT_EQ(std::ranges::count(csv.out, '\n'), 1 + 2 * 2) << csv.out;
    EXPECT_EQ(csv.out.find("DAMAGED"), std::string::npos) << csv.out;
    for (const char* row : {"rdma,0,", "rdma,2,", "tcp,0,", "tcp,2,"})
        EXPECT_NE(csv.out.find(row), std::string::npos) << csv.out;
    EXPECT_NE(support::run({"cat", folder + "/sweep.svg"}).out.find("<svg"), std::string::npos);
    EXPECT_EQ(netem({}).out, "server: netem on eth0: none\nclient: netem on eth0: none\n");
    support::run({"rm", "-r", folder});
}

TEST_F(Lesson19, says_that_no_server_listens) {
    support::expect_one_sentence(support::exec("client", {client_program, support::server_ip,
                                                          "--port", "9", "--timeout", "1"}),
                                 1, "No program listens there");
}

}  // namespace lesson19_test
