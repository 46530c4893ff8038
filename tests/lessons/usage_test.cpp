// Options that the lessons' programs refuse before they open a device: one line on standard error and the
// exit code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace {

struct Case {
    const char* program;  // below build/
    support::Argv arguments;
    int exit_code;
    const char* says;
};

class LessonUsage : public testing::TestWithParam<Case> {};

TEST_P(LessonUsage, is_refused_in_one_sentence) {
    const Case& wrong = GetParam();
    support::Argv argv{fmt::format("build/{}", wrong.program)};
    argv.insert(argv.end(), wrong.arguments.begin(), wrong.arguments.end());
    support::expect_one_sentence(support::run(argv), wrong.exit_code, wrong.says);
}

constexpr const char* atomics = "examples/13_atomics/client";
constexpr const char* transports = "examples/16_transports/client";
constexpr const char* loss = "examples/19_packet_loss/client";
constexpr const char* congestion = "examples/21_congestion/client";
constexpr const char* streams = "examples/22_bulk_vs_tcp/client";
constexpr const char* parameters = "examples/23_parameter_server/client";
constexpr const char* ranks = "examples/24_rendezvous/client";
constexpr const char* inference = "examples/25_inference_batching/client";
constexpr const char* disk = "examples/27_read/client";
constexpr const char* collective = "examples/26_all_reduce/client";
const std::string host = "127.0.0.1";

INSTANTIATE_TEST_SUITE_P(
    All, LessonUsage,
    testing::Values(
        Case{"examples/01_cm_write_read/client", {host, "--prot", "1"}, 2, "--prot"},
        Case{"examples/01_cm_write_read/client", {}, 2, "server is required"},
        Case{"examples/04_access_denied/client", {host, "--port", "65536"}, 2, "--port"},
        Case{"examples/09_forged_packets/client",
             {host, "--timeout", "1"},
             1,
             "127.0.0.1 is not one of the lab's addresses: forged packets stay inside"},
        Case{"examples/09_forged_packets/client",
             {"localhost", "--timeout", "1"},
             1,
             "is not one of the lab's addresses"},
        Case{"examples/09_forged_packets/server",
             {"--bind", host},
             1,
             "127.0.0.1 is not one of the lab's addresses"},
        Case{atomics, {host, "--clients", "0"}, 2, "--clients"},
        Case{atomics, {host, "--adds", "0"}, 2, "--adds"},
        Case{atomics, {host, "--bids", "0"}, 2, "--bids"},
        Case{atomics, {host, "--in-flight", "0"}, 2, "--in-flight"},
        Case{"examples/13_atomics/server",
             {"--responder-resources", "0"},
             2,
             "--responder-resources"},
        Case{transports,
             {host, "--transport", "rd"},
             1,
             "is not valid: choose rc, uc, ud, xrc or all"},
        Case{transports, {host, "--group", "192.0.2.9"}, 1, "is not a multicast address"},
        Case{transports, {host, "--group", "everybody"}, 1, "is not an IP address"},
        Case{transports, {host, "--messages", "0"}, 2, "--messages"},
        Case{transports, {host, "--length", "3"}, 2, "--length"},
        Case{"examples/17_cm_psn/client", {host, "--distance", "0"}, 2, "--distance"},
        Case{"examples/18_roce_in_esp/client",
             {host},
             1,
             "127.0.0.1 is not one of the lab's addresses"},
        Case{loss, {host, "--path-mtu", "1000"}, 2, "256,512,1024,2048,4096"},
        Case{loss, {host, "--retry-cnt", "8"}, 2, "--retry-cnt"},
        Case{loss, {host, "--ack-timeout", "32"}, 2, "--ack-timeout"},
        Case{loss, {host, "--size", "1GiB"}, 2, "--size"},
        Case{congestion,
             {host, "--windows", "0"},
             1,
             "--windows: '0' is neither a number from 1 to 64 (--most) nor 'adaptive'"},
        Case{congestion, {host, "--windows", "65"}, 1, "'65' is neither a number"},
        Case{congestion, {host, "--path-mtu", "1000"}, 2, "--path-mtu: 1000 not in"},
        Case{congestion, {host, "--chunk", "0"}, 2, "--chunk"},
        Case{streams, {host, "--transport", "udp"}, 1, "rdma, tcp, tcp-zerocopy or all"},
        Case{streams, {host, "--size", "10000", "--chunk", "4096"}, 1, "is not a multiple of"},
        Case{streams, {host, "--depth", "2", "--signal-every", "3"}, 1, "more than --depth"},
        Case{streams, {host, "--size", "0"}, 2, "--size"},
        Case{streams, {host, "--size", "1x"}, 2, "--size"},
        Case{parameters, {host, "--steps", "0"}, 2, "--steps"},
        Case{parameters, {host, "--workers", "101"}, 2, "--workers"},
        Case{parameters, {host, "--clients", "0"}, 2, "--clients"},
        Case{ranks, {host, "--ranks", "1"}, 2, "--ranks"},
        Case{ranks, {host, "--ranks", "17"}, 2, "--ranks"},
        Case{ranks, {host, "--rank", "0"}, 2, "--rank"},
        Case{ranks, {host, "--barriers", "101"}, 2, "--barriers"},
        Case{ranks,
             {host, "--ranks", "4", "--clients", "2"},
             1,
             "client: 3 ranks without rank 0 cannot be divided equally among --clients 2."},
        Case{inference, {host, "--batch", "0"}, 2, "--batch"},
        Case{inference, {host, "--batch", "65"}, 2, "--batch"},
        Case{inference, {host, "--depth", "0"}, 2, "--depth"},
        Case{disk, {host, "--length", "1000"}, 1, "multiples of 4096"},
        Case{disk, {host, "--offset", "4190208", "--length", "8192"}, 1, "go beyond its end"},
        Case{collective, {host, "--clients", "0"}, 2, "--clients"},
        Case{collective, {host, "--steps", "0"}, 2, "--steps"},
        Case{inference, {host, "--depth", "65"}, 2, "--depth"},
        Case{inference, {host, "--frontends", "0"}, 2, "--frontends"},
        Case{inference, {host, "--requests", "0"}, 2, "--requests"},
        Case{inference, {host, "--wait", "-1"}, 2, "--wait"},
        Case{inference,
             {host, "--wrong", "all"},
             1,
             "client: --wrong is id, count or length, not 'all'."},
        Case{"bench/transfer/client", {host, "--test", "foo"}, 1, "--test is write_bw, read_bw,"}));

}  // namespace
