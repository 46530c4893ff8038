// Lesson 07 in the lab: the PSNs cannot be read before the first packet that contains them, and
// refused connections. tests/net/tls*_test.cpp tests the other refusals of TLS and their messages.
#include <algorithm>
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "support/certificates.hpp"
#include "support/step_checks.hpp"

namespace lesson07_test {

using std::chrono::seconds;
using support::LabRun;
using support::rows;
using support::rows_once;

class Lesson07 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        support::make_certificates("build/certs");
    }

    static constexpr const char* client = "build/examples/07_secure_psn/client";
    static constexpr const char* server = "build/examples/07_secure_psn/server";
};

std::string hex_of(std::uint32_t psn) {
    char text[7];
    std::snprintf(text, sizeof text, "%06x", psn);
    return text;
}

// Returns this field of the packets on the TCP port, as hexadecimal digits. With the TLS secrets,
// also decrypted data.
std::string tshark_payloads(const LabRun& run, const std::string& field,
                            const support::Argv& more = {}) {
    support::Argv argv{
        "tshark", "-n", "-r", run.file("wire.pcapng"), "-d", "tcp.port==18515,tls", "-T",
        "fields", "-e", field};
    argv.insert(argv.end(), more.begin(), more.end());
    const auto outcome = support::run(argv);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
}

TEST_F(Lesson07, no_log_and_no_tcp_segment_tells_the_psns_of_the_wire) {
    const LabRun& run = support::plain_run("07");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto requests = rows_once(run, "bth.psn", "bth.opcode_name contains WRITE");
    ASSERT_EQ(requests.size(), 3U);
    const auto psn = static_cast<std::uint32_t>(std::stoul(requests[0][0]));
    for (const char* file : {"server.log", "client.log", "server.jsonl", "client.jsonl"}) {
        const std::string log = run.text_of(file);
        EXPECT_EQ(log.find(hex_of(psn)), std::string::npos) << file;
        EXPECT_FALSE(std::regex_search(log, std::regex("\\b" + std::to_string(psn) + "\\b")))
            << file;
        EXPECT_NE(log.find("secret"), std::string::npos) << file;
    }
    // "RWLX" is in no segment, so no endpoint was sent in clear text.
    const std::string payloads = tshark_payloads(run, "tcp.payload");
    EXPECT_GT(payloads.size(), 2000U);
    EXPECT_EQ(payloads.find("52574c58"), std::string::npos);
    EXPECT_EQ(payloads.find("00" + hex_of(psn)), std::string::npos);
    EXPECT_TRUE(rows(run, "frame", "cm").empty());
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson07, who_asks_for_psns_sees_those_of_the_wire) {
    const LabRun run = support::capture("07", {"LAB_SERVER_ARGS=--show-psn"}, {"--show-psn"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto posts = LabRun::all(run.client, "post_send");
    ASSERT_EQ(posts.size(), 2U);
    std::set<std::uint32_t> on_the_wire;
    for (const auto& row : rows_once(run, "bth.psn", "bth.opcode_name contains WRITE"))
        on_the_wire.insert(static_cast<std::uint32_t>(std::stoul(row[0])));
    EXPECT_EQ(support::psns_of(posts[0]), on_the_wire);
    const auto theirs = LabRun::ready_to_send(run.server);
    ASSERT_EQ(theirs.size(), 1U);
    EXPECT_EQ(theirs[0].number("rq_psn"), posts[0].number("psn_first"));
    support::expect_every_packet_joined(run);
}

TEST_F(Lesson07, the_secrets_of_tls_open_the_exchange_to_tshark) {
    const LabRun run = support::capture("07", {}, {"--keylog", "-"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const std::string keys = run.file("tls-keys.log");
    ASSERT_TRUE(std::filesystem::exists(keys));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(keys).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_EQ(run.text_of("client.log").find("SECRET_0 "), std::string::npos)
        << "a text log has a secret";
    const auto requests = rows_once(run, "bth.psn", "bth.opcode_name contains WRITE");
    ASSERT_FALSE(requests.empty());
    const auto psn = static_cast<std::uint32_t>(std::stoul(requests[0][0]));
    const std::string opened =
        tshark_payloads(run, "rwlx.psn",
                        {"-o", "tls.keylog_file:" + keys, "-Y", "rwlx.psn", "-X",
                         "lua_script:wireshark/plugins/rdma_wire_lab.lua"});
    EXPECT_TRUE(opened.starts_with("0x00" + hex_of(psn) + "\n")) << opened;
    EXPECT_EQ(std::ranges::count(opened, '\n'), 2) << opened;
}

TEST_F(Lesson07, each_connection_has_new_psns_and_a_refused_client_disturbs_nobody) {
    const std::string foreign = "build/test-certs-of-strangers";
    std::filesystem::remove_all(foreign);
    support::make_certificates(foreign);
    support::Process serving = support::start("server", {server, "--show-psn"});
    ASSERT_TRUE(serving.await("listening on", seconds(30)));
    std::set<std::uint64_t> psns;
    for (int i = 0; i < 3; ++i) {
        const auto outcome =
            support::exec("client", {client, support::server_ip, "--show-psn", "--run-log", "-"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);)
            if (const auto event = runlog::from_json(line);
                event && event->name == "qp_state" && event->text("state") == "RTS") {
                psns.insert(event->number("sq_psn").value());
                psns.insert(event->number("rq_psn").value());
            }
        // Between the connections, a client with a certificate from another CA connects.
        const auto refused =
            support::exec("client", {client, support::server_ip, "--certs", foreign});
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_NE(refused.err.find("was not issued by the CA in"), std::string::npos)
            << refused.err;
    }
    EXPECT_EQ(psns.size(), 6U) << "three connections, two directions";
    std::filesystem::remove_all(foreign);
}

TEST_F(Lesson07, a_client_without_a_server_tries_again_until_its_time_is_over) {
    const auto outcome = support::exec("client", {client, "192.0.2.1", "--timeout", "1"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("No program listens there"), std::string::npos) << outcome.err;
    EXPECT_GE(outcome.took, std::chrono::milliseconds(900));
}

TEST_F(Lesson07, a_program_without_certificates_says_how_to_get_them) {
    const auto outcome = support::exec("client", {client, "192.0.2.1", "--certs", "build/nowhere"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("cannot use build/nowhere/ca.crt: No such file or directory. `make "
                               "certs` creates the lab's certificates."),
              std::string::npos)
        << outcome.err;
}

}  // namespace lesson07_test
