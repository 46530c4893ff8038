// rocexray in the lab: the drivers' steps of a run agree with its packets, and nothing of the trace
// remains.
#include <algorithm>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace xray_test {

using support::LabRun;

class Xray : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
    void TearDown() override {
        EXPECT_EQ(support::run({"lab/lab", "wire", "clear"}).exit_code, 0);
        for (const char* host : {"server", "client"}) {
            const auto left = support::exec(
                host, {"bash", "-c",
                       "cat /sys/kernel/tracing/kprobe_events; ls /sys/kernel/tracing/instances"});
            EXPECT_EQ(left.out, "") << host;
        }
    }
};

using Packet = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // host, destination QPN, PSN

// The packets that this step of the driver's log handled.
std::vector<Packet> handled(const LabRun& run, const std::string& host, std::string_view step) {
    std::vector<Packet> all;
    for (const runlog::Event& event : support::events_of(run.file(host + "-driver.jsonl")))
        if (event.name == "driver" && event.text("step") == step)
            all.emplace_back(host, event.number("dest_qpn").value_or(0),
                             event.number("psn").value_or(0));
    std::ranges::sort(all);
    return all;
}

// The steps that the log says are missing: an interrupt came while a probe was at work.
std::size_t missed(const LabRun& run, const std::string& host) {
    std::size_t all = 0;
    for (const runlog::Event& event : support::events_of(run.file(host + "-driver.jsonl")))
        if (event.name == "driver" && event.text("step") == "lost")
            all += event.number("records").value_or(0);
    return all;
}

TEST_F(Xray, sees_each_packet_leave_one_driver_and_reach_the_other) {
    const LabRun run = support::capture("06", {"LAB_XRAY=1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto packets = support::tshark_packets(run.file("wire.pcapng"));
    ASSERT_FALSE(packets.empty());
    std::map<std::string, std::size_t> absent;
    const auto expect_handled = [&](const std::string& host, std::string_view step,
                                    const std::vector<Packet>& expected) {
        const auto logged = handled(run, host, step);
        EXPECT_TRUE(std::ranges::includes(expected, logged))
            << host << ' ' << step << ": " << testing::PrintToString(logged) << " of "
            << testing::PrintToString(expected);
        absent[host] += expected.size() - logged.size();
    };
    for (const auto& [host, ip, peer] : {std::tuple{"client", support::client_ip, "server"},
                                         {"server", support::server_ip, "client"}}) {
        std::vector<Packet> sent;
        for (const auto& packet : packets)
            if (packet.source == ip)
                sent.emplace_back(host, packet.dest_qpn, packet.psn);
        std::ranges::sort(sent);
        expect_handled(host, "transmit", sent);
        for (Packet& packet : sent)
            std::get<0>(packet) = peer;
        expect_handled(peer, "receive", sent);
    }
    // Each completion of the programs was one of the driver before.
    const auto driver = support::events_of(run.file("client-driver.jsonl"));
    for (const runlog::Event& wc : LabRun::all(run.client, "wc")) {
        const auto complete = std::ranges::find_if(driver, [&](const runlog::Event& event) {
            return event.text("step") == "complete" && event.number("qpn") == wc.number("qpn") &&
                   event.number("wr_id") == wc.number("wr_id");
        });
        if (complete == driver.end()) {
            ++absent["client"];
            continue;
        }
        EXPECT_LE(complete->t_ns, wc.t_ns);
        EXPECT_EQ(complete->text("status"), wc.text("status"));
    }
    for (const auto& [host, steps] : absent)
        EXPECT_LE(steps, missed(run, host)) << host << '\n' << run.outcome.all();
    EXPECT_NE(run.text_of("timeline.txt").find("client           driver    transmit  RC "),
              std::string::npos);
}

TEST_F(Xray, shows_the_timer_behind_a_retransmission) {
    ASSERT_EQ(
        support::run({"lab/lab", "wire", "drop packets 1 to 3 from server where aeth.type == ACK"})
            .exit_code,
        0);
    const LabRun run = support::capture("20", {"LAB_XRAY=1"}, {"--op", "write"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto driver = support::events_of(run.file("client-driver.jsonl"));
    EXPECT_GE(std::ranges::count_if(
                  driver, [](const auto& event) { return event.text("step") == "ack_timer"; }),
              1);
    const auto explained = support::run({"build/rocecap", "explain", run.dir});
    EXPECT_NE(explained.out.find("driver    ack_timer  QP"), std::string::npos) << explained.all();
}

}  // namespace xray_test
