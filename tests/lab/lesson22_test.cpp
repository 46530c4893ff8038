// Lesson 22 in the lab: every byte that was transferred according to the logs was on the wire at
// least once, in the predicted packets, and arrived unchanged. The throughput is not tested.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "support/tool.hpp"
#include "support/tshark.hpp"

namespace lesson22_test {

using support::LabRun;
using support::rows;

constexpr std::uint64_t size = 2 << 20;
const std::string client_program = "build/examples/22_bulk_vs_tcp/client";

class Lesson22 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        whole = support::capture("22", {"CAPTURE_SNAPLEN=all"},
                                 {"--size", "2MiB", "--chunk", "256KiB", "--buffer", "512KiB",
                                  "--signal-every", "2", "--depth", "4", "--csv", csv});
        ASSERT_EQ(whole.outcome.exit_code, 0) << whole.outcome.all();
    }
    static void TearDownTestSuite() { std::remove(csv); }

    static std::map<std::string, runlog::Event> outcomes() {
        std::map<std::string, runlog::Event> by_transport;
        for (const auto& event : LabRun::all(whole.client, "bulk"))
            by_transport.emplace(event.text("transport"), event);
        return by_transport;
    }

    // The guests may write to this folder of the repository.
    static constexpr auto csv = "build/guests/lesson22.csv";
    static inline LabRun whole;
};

TEST_F(Lesson22, the_capture_is_whole_and_every_packet_has_its_cause) {
    support::expect_whole(whole);
    support::expect_counted(whole);
    support::expect_every_packet_joined(whole);
}

TEST_F(Lesson22, the_bytes_arrive_by_every_transport) {
    const auto told = outcomes();
    ASSERT_EQ(told.size(), 3U);
    const auto in_memory = LabRun::all(whole.server, "memory");
    ASSERT_EQ(in_memory.size(), 3U);
    std::size_t number = 0;
    for (const char* transport : {"rdma", "tcp", "tcp-zerocopy"}) {
        const auto& event = told.at(transport);
        EXPECT_EQ(event.number("len"), size);
        EXPECT_EQ(event.text("bytes"), "intact");
        EXPECT_EQ(event.number("crc32"), event.number("expected_crc32"));
        // The CRC in the server's own log of its memory is the same.
        EXPECT_EQ(in_memory[number++].number("crc32"), event.number("crc32")) << transport;
        EXPECT_GT(event.number("elapsed_us").value(), 0U);
        EXPECT_GT(event.number("client_user_us").value() + event.number("client_system_us").value(),
                  0U);
    }
}

TEST_F(Lesson22, the_writes_take_the_predicted_psns_and_all_the_bytes) {
    std::set<std::uint32_t> predicted;
    std::uint64_t posted = 0;
    const auto posts = LabRun::all(whole.client, "post_send");
    ASSERT_EQ(posts.size(), 8U);
    for (const auto& post : posts) {
        predicted.merge(support::psns_of(post));
        posted += post.number("len").value();
    }
    EXPECT_EQ(posted, size);
    EXPECT_EQ(LabRun::all(whole.client, "wc").size(), 4U);  // one in two is signalled
    std::map<std::uint32_t, std::uint64_t> payload;  // by PSN: each retransmitted packet once
    for (const auto& row : rows(whole, "bth.psn,payload_len",
                                "ip.dst == " + support::server_ip +
                                    " and bth.destqp > 1 and bth.opcode_name contains WRITE"))
        payload[static_cast<std::uint32_t>(std::stoul(row.at(0)))] = std::stoull(row.at(1));
    std::set<std::uint32_t> seen;
    std::uint64_t bytes = 0;
    for (const auto& [psn, length] : payload) {
        seen.insert(psn);
        bytes += length;
    }
    EXPECT_EQ(seen, predicted);
    EXPECT_EQ(bytes, size);
}

// Returns the number of bytes in one direction of the data stream. Retransmitted bytes count once.
std::uint64_t tcp_bytes(const LabRun& run, const std::string& stream) {
    const auto read = support::run(
        {"tshark", "-n", "-r", run.file("wire.pcapng"), "-Y",
         "tcp.stream == " + stream + " && ip.dst == " + support::server_ip + " && tcp.len > 0",
         "-T", "fields", "-e", "tcp.seq", "-e", "tcp.len"});
    std::map<std::uint64_t, std::uint64_t> segments;
    std::istringstream lines(read.out);
    for (std::uint64_t seq = 0, length = 0; lines >> seq >> length;)
        segments[seq] = std::max(segments[seq], length);
    std::uint64_t bytes = 0, end = 1;
    for (const auto& [seq, length] : segments) {
        EXPECT_LE(seq, end) << "a hole in the stream";
        if (seq + length > end) {
            bytes += seq + length - end;
            end = seq + length;
        }
    }
    return bytes;
}

TEST_F(Lesson22, the_streams_have_as_many_bytes) {
    const auto read = support::run({"tshark", "-n", "-r", whole.file("wire.pcapng"), "-Y",
                                    "tcp.dstport == 18516 && tcp.flags.syn == 1", "-T", "fields",
                                    "-e", "tcp.stream"});
    std::istringstream lines(read.out);
    std::vector<std::string> streams;
    for (std::string stream; lines >> stream;)
        streams.push_back(stream);
    ASSERT_EQ(streams.size(), 2U) << read.all();
    for (const auto& stream : streams)
        EXPECT_EQ(tcp_bytes(whole, stream), size) << stream;
}

TEST_F(Lesson22, the_progress_grows_to_the_whole_and_the_table_is_csv_too) {
    for (const char* transport : {"rdma", "tcp", "tcp-zerocopy"}) {
        std::uint64_t bytes = 0, elapsed = 0;
        std::size_t points = 0;
        for (const auto& event : LabRun::all(whole.client, "progress")) {
            if (event.text("transport") != transport)
                continue;
            ++points;
            EXPECT_GE(event.number("bytes").value(), bytes);
            EXPECT_GE(event.number("elapsed_us").value(), elapsed);
            bytes = event.number("bytes").value();
            elapsed = event.number("elapsed_us").value();
        }
        EXPECT_GE(points, 2U) << transport;
        EXPECT_EQ(bytes, size) << transport;
        EXPECT_EQ(elapsed, outcomes().at(transport).number("elapsed_us"));
    }
    std::ifstream file(csv);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line.substr(0, 30), "transport,len,chunk,elapsed_us");
    for (const std::string transport : {"rdma", "tcp", "tcp-zerocopy"}) {
        ASSERT_TRUE(std::getline(file, line));
        EXPECT_EQ(line.substr(0, transport.size() + 1), transport + ",");
    }
}

TEST_F(Lesson22, the_plot_is_made_from_a_run) {
    const std::string picture = "build/lesson22.svg";
    const auto plotted = support::run({"examples/22_bulk_vs_tcp/plot", whole.dir, picture});
    EXPECT_EQ(plotted.exit_code, 0) << plotted.all();
    std::ifstream file(picture);
    std::ostringstream text;
    text << file.rdbuf();
    for (const char* word : {"<svg", "tcp-zerocopy", "rdma", "MiB"})
        EXPECT_NE(text.str().find(word), std::string::npos) << word;
    std::remove(picture.c_str());
    EXPECT_EQ(support::run({"examples/22_bulk_vs_tcp/plot", "/nonexistent"}).exit_code, 1);
}

TEST_F(Lesson22, one_transport_alone_is_asked_for_by_name) {
    const LabRun run = support::read_run(
        support::run({"lab/lab", "run", "22", "--", "--transport", "tcp", "--size", "64KiB"}));
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto told = LabRun::all(run.client, "bulk");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].text("transport"), "tcp");
    EXPECT_EQ(told[0].number("len"), 65536U);
}

TEST_F(Lesson22, says_in_one_sentence_what_the_machine_does_not_have) {
    for (const auto& [arguments, says] :
         {std::pair{support::Argv{"--size", "16GiB", "--buffer", "16GiB"},
                    "available on this machine"},
          std::pair{support::Argv{"--port", "9", "--timeout", "1", "--size", "4096"},
                    "No program listens there"}}) {
        support::Argv command{client_program, support::server_ip};
        command.insert(command.end(), arguments.begin(), arguments.end());
        support::expect_one_sentence(support::exec("client", command), 1, says);
    }
}

}  // namespace lesson22_test
