// Steps with packet loss in both directions: each retransmitted packet is assigned to its work
// request and marked as retransmitted, in agreement with tshark's fields of the capture.
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lossy_host.hpp"
#include "support/run_rows.hpp"
#include "support/step_checks.hpp"

namespace loss_test {

using support::LabRun;
using support::LossyHost;

class Loss : public testing::TestWithParam<const char*> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// The packets of one work request in one direction. seen() returns whether a packet is reordered or
// retransmitted.
class Sequence {
  public:
    std::string seen(std::uint32_t index) {
        const bool is_last = seen_.empty() || index > *seen_.rbegin();
        const bool is_new = seen_.insert(index).second;
        return is_last ? "" : is_new ? ", late" : ", again";
    }
    std::size_t size() const { return seen_.size(); }

  private:
    std::set<std::uint32_t> seen_;
};

struct Packet {
    unsigned opcode = 0;
    std::uint32_t psn = 0;
    std::string comment;
};

// Returns the packets to connected queue pairs.
std::vector<Packet> commented_packets(const LabRun& run) {
    const auto outcome =
        support::run({"tshark", "-n", "-r", run.file("annotated.pcapng"), "-Y",
                      "infiniband.bth.destqp > 1", "-T", "fields", "-e", "infiniband.bth.opcode",
                      "-e", "infiniband.bth.psn", "-e", "frame.comment"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<Packet> packets;
    std::istringstream lines(outcome.out);
    Packet packet;
    while (lines >> packet.opcode >> packet.psn && lines.get() == '\t' &&
           std::getline(lines, packet.comment))
        packets.push_back(packet);
    EXPECT_TRUE(lines.eof()) << outcome.out.substr(0, 1000);
    return packets;
}

// The expected comments, calculated from the PSNs that the posts predict.
class Expected {
  public:
    explicit Expected(const LabRun& run) : posts_(LabRun::all(run.client, "post_send")) {}

    std::string comment(const Packet& packet) {
        const bool is_response = packet.opcode >= 0x0d && packet.opcode <= 0x12;  // IBTA table 38
        for (const runlog::Event& post : posts_) {
            const auto first = static_cast<std::uint32_t>(post.number("psn_first").value());
            const auto packets = static_cast<std::uint32_t>(support::psns_of(post).size());
            const std::uint32_t index = (packet.psn - first) & 0xffffff;
            if (index >= packets)
                continue;
            const auto wr_id = post.number("wr_id").value();
            return fmt::format("{}client wr {} {} {} B, PSN {} of {}{}",
                               is_response ? "answers " : "", wr_id, post.text("opcode"),
                               post.number("len").value(), index + 1, packets,
                               repeated(wr_id, packet.opcode, index));
        }
        return "a PSN of no work request";
    }

    // Expects all request packets of each WRITE and all response packets of each READ.
    void expect_whole() {
        for (const runlog::Event& post : posts_) {
            const auto wr_id = post.number("wr_id").value();
            const auto& packets =
                post.text("opcode") == "RDMA_READ" ? responses_[wr_id] : requests_[wr_id];
            EXPECT_EQ(packets.size(), support::psns_of(post).size()) << "wr " << wr_id;
        }
    }

  private:
    std::string repeated(std::uint64_t wr_id, unsigned opcode, std::uint32_t index) {
        constexpr unsigned read_request = 0x0c, acknowledge = 0x11;
        if (opcode == acknowledge)
            return "";
        if (opcode == read_request)  // a retransmitted one may have another PSN
            return reads_.insert(wr_id).second ? "" : ", again";
        return (opcode > read_request ? responses_ : requests_)[wr_id].seen(index);
    }

    std::vector<runlog::Event> posts_;
    std::map<std::uint64_t, Sequence> requests_, responses_;  // by wr_id
    std::set<std::uint64_t> reads_;
};

TEST_P(Loss, every_packet_that_comes_again_belongs_to_its_work_request) {
    const LossyHost client("client", "3%"), server("server", "3%");
    support::Argv arguments{"--length", "700000"};
    if (GetParam() == std::string_view("06"))
        arguments.insert(arguments.end(), {"--timeout", "150"});
    const LabRun run = support::capture(GetParam(), {"CAPTURE_SECONDS=170"}, arguments);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all().substr(0, 4000);
    support::expect_every_packet_joined(run);

    Expected expected(run);
    std::uint64_t again = 0;
    for (const Packet& packet : commented_packets(run)) {
        ASSERT_EQ(packet.comment, expected.comment(packet)) << "PSN " << packet.psn;
        again += packet.comment.ends_with(", again");
    }
    expected.expect_whole();
    EXPECT_GT(again, 0U) << "nothing was lost";

    timeline::FinishedRun finished(run.dir);
    EXPECT_EQ(finished.joins().causeless(), 0U);
    support::expect_effects_after_causes(finished);
}

INSTANTIATE_TEST_SUITE_P(Lessons, Loss, testing::Values("01", "06"),
                         [](const auto& test) { return "lesson" + std::string(test.param); });

}  // namespace loss_test
