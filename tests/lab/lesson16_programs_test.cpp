// Lesson 16's programs: one transport at a time, other numbers, invalid arguments, and a client that
// is killed.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson16_programs_test {

using namespace std::chrono_literals;
using support::LabRun;

const std::string client = "build/examples/16_transports/client";
const std::string server = "build/examples/16_transports/server";

class Lesson16Programs : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

TEST_F(Lesson16Programs, send_over_one_transport_alone) {
    const LabRun run = support::capture(
        "16", {}, {"--transport", "uc", "--messages", "20", "--length", "100", "--messages-only"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(LabRun::all(run.client, "transport").size(), 1U);
    EXPECT_EQ(LabRun::find(run.client, "transport")->number("arrived"), 20U);
    const auto packets = support::rows(run, "bth.psn,bth.opcode_name", "bth");
    EXPECT_EQ(packets.size(), 20U);
    for (const auto& packet : packets)
        EXPECT_EQ(packet.at(1), "UC SEND Only");
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson16Programs, work_over_ipv6) {
    const LabRun run = support::capture("16", {"LAB_FAMILY=ipv6"}, {"--transport", "ud"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(LabRun::find(run.client, "transport")->number("arrived"), 8U);
    const auto fates = LabRun::all(run.client, "fate");
    ASSERT_EQ(fates.size(), 6U);
    EXPECT_EQ(fates[4].text("arrived"), "2 copies arrived");
    // With IPv6, the GRH contains the whole IP header.
    for (const auto& event : LabRun::all(run.server, "datagram"))
        EXPECT_TRUE(event.text("grh").starts_with("6")) << event.text("grh");
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson16Programs, say_that_the_device_does_not_have_xrc) {
    support::Process serving = support::start("server", {server, "--port", "4251"});
    ASSERT_TRUE(serving.await("listening on", 20s));
    const auto outcome = support::exec(
        "client", {client, support::server_ip, "--port", "4251", "--transport", "xrc"});
    support::expect_one_sentence(outcome, 1, "rxe0 does not have XRC");
    // The device's capabilities, as reported by ibv_devinfo.
    const auto capabilities =
        support::exec("client", {"bash", "-c", "ibv_devinfo -v | grep -c XRC"});
    EXPECT_EQ(capabilities.out, "0\n") << capabilities.all();
}

TEST_F(Lesson16Programs, the_server_outlives_strangers_and_a_client_that_is_killed) {
    support::Process serving = support::start("server", {server, "--port", "4252"});
    ASSERT_TRUE(serving.await("listening on", 20s));
    support::exec("client", {"bash", "-c",
                             "exec 3<>/dev/tcp/192.0.2.1/4252; head -c 36 /dev/zero >&3; cat <&3"});
    ASSERT_TRUE(serving.await("the peer sent an unknown message", 20s));
    const std::string program = client + " " + support::server_ip + " --port 4252 ";
    const auto killed = support::exec(
        "client", {"bash", "-c",
                   program + "--transport rc --messages 1000 >/tmp/killed.log & pid=$!; until "
                             "grep -q qp_state /tmp/killed.log; do kill -0 $pid || break; done; "
                             "kill -KILL $pid; wait $pid"});
    EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.all();
    const auto next =
        support::exec("client", {"bash", "-c", program + "--transport ud --messages 4"});
    EXPECT_EQ(next.exit_code, 0) << next.all();
}

}  // namespace lesson16_programs_test
