// rocecap psns in the lab: it finds the same frames in the captures of lessons 01 and 06 as tshark,
// and with a log without PSNs the same packets are assigned.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runlog/psn_mask.hpp"
#include "support/step_checks.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace psns_test {

using nlohmann::json;
using support::LabRun;
using Frames = std::vector<std::uint64_t>;

class Psns : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

Frames frames_of(const LabRun& run, const std::string& filter) {
    const auto outcome = support::run({"tshark", "-n", "-r", run.file("wire.pcapng"), "-Y", filter,
                                       "-T", "fields", "-e", "frame.number"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    Frames frames;
    std::istringstream lines(outcome.out);
    for (std::uint64_t frame = 0; lines >> frame;)
        frames.push_back(frame);
    return frames;
}

// Returns the client's direction, then the server's.
std::vector<json> directions(const std::string& dir) {
    const auto outcome = support::run({support::rocecap(), "psns", "--json", dir});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    std::vector<json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(json::parse(line));
    EXPECT_EQ(all.size(), 2U) << outcome.out;
    all.resize(2);
    return all;
}

std::uint32_t sent_psn(const std::vector<runlog::Event>& log) {
    const auto states = LabRun::ready_to_send(log);
    return states.empty() ? UINT32_MAX
                          : static_cast<std::uint32_t>(states.front().number("sq_psn").value());
}

// Returns a filter for packets of the connection with this PSN. The connection manager's datagrams
// have their own PSNs.
std::string bth(std::uint32_t psn) {
    return fmt::format("infiniband.bth.psn == {} && infiniband.bth.destqp > 1", psn);
}

TEST_F(Psns, of_rdma_cm_are_in_its_two_messages) {
    const LabRun& run = support::plain_run("01");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto found = directions(run.dir);
    const std::uint32_t client = sent_psn(run.client);
    const std::uint32_t server = sent_psn(run.server);
    EXPECT_EQ(found[0]["first_psn"], client);
    EXPECT_EQ(found[1]["first_psn"], server);
    EXPECT_EQ(found[0]["chosen_by"], "rdma_cm (the kernel)");

    const auto replies = frames_of(run, fmt::format("infiniband.cm.rep.startpsn == {}", client));
    const auto requests = frames_of(run, fmt::format("infiniband.cm.req.startpsn == {}", server));
    const auto packets = frames_of(run, bth(client));
    EXPECT_TRUE(!replies.empty() && !requests.empty() && !packets.empty());
    EXPECT_EQ(found[0]["readable"], (json{{"connect_request", Frames{}},
                                          {"connect_reply", replies},
                                          {"tcp", Frames{}},
                                          {"bth", packets}}));
    EXPECT_EQ(found[1]["readable"], (json{{"connect_request", requests},
                                          {"connect_reply", Frames{}},
                                          {"tcp", Frames{}},
                                          {"bth", frames_of(run, bth(server))}}));
}

class PsnsOfStep06 : public Psns {
  protected:
    // The request is one packet, so its ACK has the first PSN, too.
    static const LabRun& run() {
        static const LabRun once =
            support::capture("06", {}, {"--psn", "0xfedcba", "--length", "100"});
        return once;
    }
};

TEST_F(PsnsOfStep06, are_in_the_exchange_s_tcp_segments) {
    ASSERT_EQ(run().outcome.exit_code, 0) << run().outcome.all();
    const auto found = directions(run().dir);
    EXPECT_EQ(found[0]["first_psn"], 0xfedcba);
    EXPECT_EQ(found[0]["chosen_by"], "--psn");
    EXPECT_EQ(found[1]["chosen_by"], "the program's default");
    const std::string endpoint = "tcp.payload[0:8] == 52:57:4c:58:01:01:00:30 && tcp.payload[12:4]";
    const auto client = frames_of(run(), endpoint + " == 00:fe:dc:ba");
    const auto server = frames_of(run(), endpoint + " == 00:5e:1f:00");
    EXPECT_TRUE(!client.empty() && !server.empty());
    EXPECT_EQ(found[0]["readable"]["tcp"], client);
    EXPECT_EQ(found[1]["readable"]["tcp"], server);
    EXPECT_GE(found[0]["readable"]["bth"].size(), 2U);
    EXPECT_EQ(found[0]["readable"]["bth"], frames_of(run(), bth(0xfedcba)));
    EXPECT_EQ(found[1]["readable"]["bth"], Frames{});
}

TEST_F(PsnsOfStep06, of_a_log_that_hides_them_are_the_wires_and_all_packets_are_joined) {
    ASSERT_EQ(run().outcome.exit_code, 0) << run().outcome.all();
    const support::TempPath copy("psns_hidden");
    std::filesystem::create_directories(copy.str());
    for (const char* name : {"run.json", "wire.pcapng"})
        std::filesystem::copy_file(run().file(name), copy.str() + "/" + name);
    for (const auto& [role, events] :
         {std::pair{"server", &run().server}, {"client", &run().client}}) {
        std::ofstream log(copy.str() + "/" + role + ".jsonl");
        runlog::PsnMask mask;
        for (runlog::Event event : *events) {
            mask.hide(event);
            log << runlog::to_json(event) << '\n';
        }
    }
    const auto timeline = support::run({support::rocecap(), "timeline", copy.str()});
    EXPECT_EQ(timeline.exit_code, 0) << timeline.all();
    const auto summary_of = [](const std::string& text) {
        const auto at = text.find(" packets; of ");
        return text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(summary_of(timeline.out), summary_of(run().text_of("timeline.txt")));
    support::expect_every_packet_joined(run());

    const auto found = directions(copy.str());
    EXPECT_EQ(found[0]["hidden"], true);
    EXPECT_EQ(found[0]["first_psn"], 0xfedcba);
    EXPECT_EQ(found[0]["readable"], directions(run().dir)[0]["readable"]);
}

}  // namespace psns_test
