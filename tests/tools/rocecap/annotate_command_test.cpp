// Runs rocecap annotate on a synthetic run. tshark reads its output.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "net/endpoint.hpp"
#include "support/file_size_limit.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"

namespace annotate_command_test {

using rocecap_test::SyntheticRun;

constexpr std::uint8_t write_first = 0x06;
constexpr std::uint8_t write_last = 0x08;
constexpr std::uint8_t acknowledge = 0x11;

// A WRITE of two packets, of which the first is sent twice, and a packet of no work request.
void make_one_write(SyntheticRun& run) {
    run.log("server", "ready", {{"port", 18515U}});
    run.log_states(0x54b40du, 0x0deeedu);
    run.log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", 7u},
             {"opcode", "RDMA_WRITE"},
             {"len", 5000u},
             {"psn_first", 0x0deeedu},
             {"psn_last", 0x0deeeeu}});
    run.tcp(net::serialize({.qpn = 0x12, .psn = 0x0deeed, .path_mtu = 4096}));
    run.packet(write_first, 0x0deeed);
    run.packet(write_first, 0x0deeed);
    run.packet(write_last, 0x0deeee);
    run.packet(acknowledge, 0x0deeee, true);
    run.packet(write_last, 0x123456);
    run.keep_capture();
}

support::Outcome annotate(const support::Argv& arguments) {
    support::Argv argv{support::rocecap(), "annotate"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return support::run(argv);
}

std::string tshark(const std::string& file, const std::string& field,
                   const support::Argv& more = {}) {
    support::Argv argv{"tshark", "-n", "-r", file, "-T", "fields", "-e", field};
    argv.insert(argv.end(), more.begin(), more.end());
    const auto outcome = support::run(argv);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
}

TEST(AnnotateCommand, each_packets_comment_names_its_cause) {
    SyntheticRun run("annotate");
    make_one_write(run);
    const auto outcome = annotate({run.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const std::string file = run.path() + "/annotated.pcapng";
    EXPECT_EQ(outcome.err, file + ": 6 packets, 5 with a cause\n");
    EXPECT_EQ(tshark(file, "frame.comment"),
              "client's exchange\n"
              "client wr 7 RDMA_WRITE 5000 B, PSN 1 of 2\n"
              "client wr 7 RDMA_WRITE 5000 B, PSN 1 of 2, again\n"
              "client wr 7 RDMA_WRITE 5000 B, PSN 2 of 2\n"
              "answers client wr 7 RDMA_WRITE 5000 B, PSN 2 of 2\n"
              "\n");
}

TEST(AnnotateCommand, packets_and_times_stay_as_they_are) {
    SyntheticRun run("annotate_same");
    make_one_write(run);
    ASSERT_EQ(annotate({run.path()}).exit_code, 0);
    const support::Argv bytes{"-e", "frame.len", "-e", "udp.payload", "-e", "eth.dst"};
    EXPECT_EQ(tshark(run.path() + "/annotated.pcapng", "frame.time_epoch", bytes),
              tshark(run.path() + "/wire.pcapng", "frame.time_epoch", bytes));
}

TEST(AnnotateCommand, interface_and_hosts_have_their_names) {
    SyntheticRun run("annotate_names");
    make_one_write(run);
    const std::string file = run.path() + "/named.pcapng";
    ASSERT_EQ(annotate({run.path(), "-o", file}).exit_code, 0);
    const std::string interfaces = tshark(file, "frame.interface_name");
    EXPECT_EQ(interfaces.substr(0, interfaces.find('\n')), "eth0");
    const auto named = support::run(
        {"tshark", "-N", "n", "-r", file, "-T", "fields", "-e", "_ws.col.Source", "-c", "1"});
    EXPECT_EQ(named.out, "rdma-client\n") << named.err;
}

TEST(AnnotateCommand, takes_the_secrets_of_tls_along_only_where_the_run_kept_them) {
    SyntheticRun run("annotate_secrets");
    make_one_write(run);
    const auto has_secrets = [&] {
        EXPECT_EQ(annotate({run.path()}).exit_code, 0);
        std::ifstream file(run.path() + "/annotated.pcapng", std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        return bytes.find("CLIENT_TRAFFIC_SECRET_0") != std::string::npos;
    };
    EXPECT_FALSE(has_secrets());
    std::ofstream(run.path() + "/tls-keys.log") << "CLIENT_TRAFFIC_SECRET_0 00 11\n";
    EXPECT_TRUE(has_secrets());
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(run.path() + "/annotated.pcapng").permissions(),
              perms::owner_read | perms::owner_write);
}

TEST(AnnotateCommand, a_file_that_cannot_be_written_leaves_the_one_that_was_there) {
    SyntheticRun run("annotate_full");
    make_one_write(run);
    const std::string file = run.path() + "/annotated.pcapng";
    const auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(run.path()), {});
    };
    const auto before = files();
    for (const bool is_there : {false, true}) {
        if (is_there)
            std::ofstream(file) << "older";
        const support::FileSizeLimit limit(500);
        const auto outcome = annotate({run.path()});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(outcome.err,
                  "rocecap: capture incomplete: cannot write to '" + file + "': File too large.\n");
        EXPECT_EQ(files(), before + (is_there ? 1 : 0));
    }
    EXPECT_EQ(std::filesystem::file_size(file), 5U);
}

TEST(AnnotateCommand, a_directory_without_a_capture_is_named) {
    const SyntheticRun run("annotate_none");
    const auto outcome = annotate({run.path()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("has no wire.pcapng: record a run with 'lab/lab capture'."),
              std::string::npos)
        << outcome.err;
}

}  // namespace annotate_command_test
