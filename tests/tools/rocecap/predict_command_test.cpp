// Runs rocecap predict with answers from a pipe, on synthetic runs and on the sample of lesson 20.
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/lost_packet.hpp"
#include "tools/rocecap/synthetic_run.hpp"

namespace predict_command_test {

using rocecap_test::LostPacket;
using rocecap_test::SyntheticRun;

constexpr std::uint8_t write_only = 0x0a;
constexpr std::uint8_t acknowledge = 0x11;
constexpr const char* sample = "captures/samples/20_one_packet";

support::Outcome predict(const std::string& answers, const std::string& arguments) {
    return support::run(
        {"bash", "-c",
         "printf '" + answers + "' | '" + support::rocecap() + "' predict " + arguments});
}

bool has(const support::Outcome& outcome, const std::string& part) {
    return outcome.out.find(part) != std::string::npos;
}

std::size_t questions(const support::Outcome& outcome) {
    constexpr std::string_view question = "sends the next packet";
    std::size_t count = 0;
    for (auto at = outcome.out.find(question); at != std::string::npos;
         at = outcome.out.find(question, at + 1))
        ++count;
    return count;
}

TEST(PredictCommand, asks_from_the_lost_packet_on_and_keeps_the_score) {
    const LostPacket run;
    const auto outcome = predict("write +5\\nnak +5\\nwrite\\n\\nnak +8\\n", run.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const auto drop = outcome.out.find("drop      RC RDMA WRITE Middle PSN +4");
    ASSERT_NE(drop, std::string::npos) << outcome.all();
    EXPECT_LT(outcome.out.find("RC RDMA WRITE First          PSN +3"), drop);
    EXPECT_LT(drop, outcome.out.find("The client sends the next packet. Which kind and PSN?"));
    EXPECT_TRUE(has(outcome, "> write +5\n")) << "a pipe's answers are shown";
    EXPECT_TRUE(has(outcome, "nearly: a NAK's PSN is the one that the responder expects\n"));
    EXPECT_TRUE(has(outcome, "wrong: the responder accepted this request: it sends an ACK\n"));
    EXPECT_TRUE(outcome.out.ends_with(
        "\n5 asked: 2 right, 1 nearly, 1 wrong, 1 shown without a prediction\n"))
        << outcome.all();
    EXPECT_EQ(outcome.out.find("0xc19"), std::string::npos) << "PSNs are offsets";
}

TEST(PredictCommand, finds_the_link_s_log_beside_a_capture_and_takes_the_directory_as_well) {
    const auto outcome = predict("q\\n", std::string(sample) + "/annotated.pcapng");
    EXPECT_TRUE(has(outcome, "drop      RC RDMA WRITE Middle PSN +4")) << outcome.all();
    EXPECT_TRUE(has(outcome, "The client sends the next packet")) << outcome.all();
    EXPECT_EQ(predict("q\\n", sample).out,
              predict("q\\n", std::string(sample) + "/annotated.pcapng").out);
}

TEST(PredictCommand, ends_with_the_input_and_with_q_and_shows_no_more) {
    const LostPacket run;
    for (const char* answers : {"write +5\\n", "write +5", "write +5\\nq\\n"}) {
        const auto outcome = predict(answers, run.path());
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_TRUE(outcome.out.ends_with("1 asked: 1 right, 0 nearly, 0 wrong\n"))
            << outcome.all();
        EXPECT_FALSE(has(outcome, "NAK psn sequence error"));
    }
}

TEST(PredictCommand, helps_without_telling_the_answer_and_asks_again) {
    const LostPacket run;
    const auto outcome = predict("write\\n?\\nnack\\nnak four\\nnak\\nq\\n", run.path());
    EXPECT_TRUE(has(outcome,
                    "The server expects PSN +4 next, but the last packet had another PSN.\n"
                    "The client has sent up to PSN +5; from PSN +3 on, no PSN is acknowledged.\n"))
        << outcome.all();
    EXPECT_TRUE(has(outcome, "'nack' is not a kind of packet"));
    EXPECT_TRUE(has(outcome, "'four' is not a PSN"));
    EXPECT_TRUE(outcome.out.ends_with("2 asked: 2 right, 0 nearly, 0 wrong\n")) << outcome.all();
}

TEST(PredictCommand, asks_for_all_or_from_a_packet_on) {
    const std::string nothing(40, '\n');
    const LostPacket run;
    EXPECT_EQ(questions(predict(nothing, run.path())), 5U);
    EXPECT_EQ(questions(predict(nothing, run.path() + " --from 17 --all")), 1U);
    EXPECT_EQ(questions(predict(nothing, run.path() + " --from 1 --all")), 17U);
    EXPECT_EQ(questions(predict(nothing, run.path() + " --from 1")), 8U);
}

TEST(PredictCommand, packets_have_their_numbers_in_the_capture) {
    SyntheticRun run("predict");
    run.packet(wire::ud_send_only_opcode, 1);
    run.packet(write_only, 0x10);
    run.packet(wire::ud_send_only_opcode, 2);
    run.packet(acknowledge, 0x10, true);
    run.keep_capture();
    const auto outcome = predict("ack +0\\n", run.path() + " --from 3");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "   2  ")) << outcome.all();
    EXPECT_TRUE(has(outcome, "   4  ")) << outcome.all();
    EXPECT_FALSE(has(outcome, "   1  ")) << outcome.all();
    EXPECT_TRUE(outcome.out.ends_with("1 asked: 1 right, 0 nearly, 0 wrong\n")) << outcome.all();
}

TEST(PredictCommand, a_run_without_a_link_s_log_begins_with_its_first_packet) {
    SyntheticRun run("predict");
    run.packet(write_only, 0x10);
    run.packet(acknowledge, 0x10, true);
    run.keep_capture();
    const auto outcome = predict("write +0\\nack +0\\n", run.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "The client sends the next packet.")) << outcome.all();
    EXPECT_TRUE(outcome.out.ends_with("2 asked: 2 right, 0 nearly, 0 wrong\n")) << outcome.all();
}

// Which of the two requesters has sent what the response acknowledges?
TEST(PredictCommand, knows_from_the_logs_which_queue_pairs_are_connected) {
    SyntheticRun run("predict");
    for (const std::uint32_t qpn : {0x12U, 0x14U})
        run.log("client", "qp_state", {{"qpn", qpn}, {"state", "RTR"}, {"dest_qpn", qpn - 1}});
    const auto to = [](std::uint32_t qpn) {
        return [=](wire::Packet& packet) { packet.bth->dest_qpn = qpn; };
    };
    run.packet_with(write_only, 0x10, false, to(0x11));
    run.packet_with(write_only, 0x11, false, to(0x11));
    run.packet_with(write_only, 0x11, false, to(0x13));
    run.packet_with(acknowledge, 0x11, true, to(0x14));
    run.packet_with(acknowledge, 0x11, true, to(0x12));
    run.keep_capture();
    const auto outcome = predict("\\n\\n\\n\\n\\n\\n", run.path() + " --all");
    EXPECT_TRUE(has(outcome, "PSN +0 qp 0x000014")) << outcome.all();
    EXPECT_TRUE(has(outcome, "PSN +1 qp 0x000012")) << outcome.all();
}

TEST(PredictCommand, leaves_out_responses_to_what_was_sent_before_the_capture) {
    SyntheticRun run("predict");
    run.packet(acknowledge, 0x08, true);
    run.packet(write_only, 0x10);
    run.packet(acknowledge, 0x10, true);
    run.keep_capture();
    const auto outcome = predict("\\n\\n\\n", run.path());
    EXPECT_TRUE(has(outcome, "2 packets. A prediction is")) << outcome.all();
    EXPECT_TRUE(has(outcome, "\n2 asked: ")) << outcome.all();
}

TEST(PredictCommand, names_queue_pairs_where_there_are_several_connections) {
    SyntheticRun run("predict");
    for (const std::uint32_t qpn : {0x11U, 0x13U})
        run.packet_with(write_only, 0x10, false,
                        [&](wire::Packet& packet) { packet.bth->dest_qpn = qpn; });
    run.keep_capture();
    const auto outcome = predict("\\n\\n", run.path());
    EXPECT_TRUE(has(outcome, "PSN +0 qp 0x000011")) << outcome.all();
    EXPECT_TRUE(has(outcome, "PSN +0 qp 0x000013")) << outcome.all();
    EXPECT_FALSE(has(predict("\\n", LostPacket().path()), " qp 0x")) << "of one connection";
}

TEST(PredictCommand, names_hosts_by_address_where_it_knows_no_other_name) {
    const auto outcome = predict("\\n", "captures/samples/06_verbs_tcp_exchange/annotated.pcapng");
    EXPECT_TRUE(has(outcome, "192.0.2.2 sends the next packet.")) << outcome.all();
}

TEST(PredictCommand, says_what_it_cannot_predict) {
    const auto says = [](const std::string& arguments, const std::string& text) {
        const auto outcome = predict("", arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.all();
    };
    says("/nonexistent", "cannot open '/nonexistent'");
    says("captures/samples/05_qp_states", "has no capture: record a run with 'lab/lab capture'.");
    const LostPacket lost;
    says(lost.path() + " --from 18",
         "no packet of a reliable connection has number 18 or higher: the last one is 17");
    says(lost.path() + " --from 0", "--from");
    SyntheticRun run("predict_nothing");
    says(run.path(), "has no capture");
    run.packet(wire::ud_send_only_opcode, 1);
    run.keep_capture();
    says(run.path(), "has nothing to predict");
}

}  // namespace predict_command_test
