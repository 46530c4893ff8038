// rocecap check as a program, over run directories and captures made here.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/pcapng_writer.hpp"
#include "conformance/trace.hpp"
#include "report/style.hpp"
#include "runlog/event.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace check_command_test {

using namespace conformance_test;
using nlohmann::json;

capture::PcapngInterface named(const char* name) {
    capture::PcapngInterface interface;
    interface.name = name;
    return interface;
}

/// A run directory as one over rocewire leaves it: the client is 192.0.2.1, the server 192.0.2.2.
class CableRun {
  public:
    explicit CableRun(const std::string& name) : temp_("check_" + name) {
        std::filesystem::create_directories(path());
        writer_.emplace(capture::Sink::create(cable()), capture::PcapngSection{});
        before_ = writer_->add_interface(named("before"));
        after_ = writer_->add_interface(named("after"));
    }

    std::string path() const { return temp_.str(); }
    std::string cable() const { return path() + "/cable.pcapng"; }
    void wait(std::int64_t ns) { now_ += ns; }

    std::uint64_t pass(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto number = write(before_, frame);
        write(after_, frame);
        return number;
    }
    std::uint64_t lose(const wire::Packet& packet) {
        const auto number = write(before_, wire::encode(packet));
        std::ofstream(path() + "/cable.jsonl", std::ios::app)
            << runlog::to_json({1,
                                "cable",
                                "drop",
                                {{"rule", 1u}, {"text", "drop psn 0 once"}, {"frame", number}}})
            << '\n';
        return number;
    }

    void tell(const json& client_counters) const {
        const json zero{{"sent_pkts", 10}, {"rcvd_pkts", 10}, {"completer_retry_err", 0}};
        std::ofstream(path() + "/run.json") << json{
            {"hosts",
             {{"client",
               {{"address", "192.0.2.1"},
                {"device", "rxe0"},
                {"port", 1},
                {"counters",
                 {{"before", {{"rxe0/1", zero}}}, {"after", {{"rxe0/1", client_counters}}}}}}},
              {"server", {{"address", "192.0.2.2"}}}}}};
        log("client", "::ffff:192.0.2.1",
            {{"qpn", 0x22u},
             {"state", "RTS"},
             {"dest_qpn", 0x11u},
             {"sq_psn", 0u},
             {"timeout", 12u},
             {"path_mtu", 1024u}});
        log("server", "::ffff:192.0.2.2",
            {{"qpn", 0x11u},
             {"state", "RTS"},
             {"dest_qpn", 0x22u},
             {"sq_psn", 7u},
             {"timeout", 12u},
             {"path_mtu", 1024u}});
    }

    support::Outcome check(support::Argv options = {}) {
        writer_->close();
        options.insert(options.begin(), {support::rocecap(), "check", path()});
        return support::run(options);
    }

  private:
    void log(const std::string& role, const char* gid, runlog::Fields state) const {
        std::ofstream(path() + "/" + role + ".jsonl")
            << runlog::to_json({1, role, "device", {{"gid", gid}}}) << '\n'
            << runlog::to_json({2, role, "qp_state", std::move(state)}) << '\n';
    }
    std::uint64_t write(std::uint32_t interface, const std::vector<std::byte>& frame) {
        now_ += 5'000;
        writer_->packet(interface, {.time = capture::Time(now_),
                                    .bytes = frame,
                                    .original_length = static_cast<std::uint32_t>(frame.size())});
        return ++frames_;
    }

    support::TempPath temp_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t before_ = 0;
    std::uint32_t after_ = 0;
    std::int64_t now_ = 1'000'000'000;
    std::uint64_t frames_ = 0;
};

void lose_and_recover(CableRun& run) {
    run.lose(write_part(0, 0, 3));
    run.pass(write_part(0, 1, 3));
    run.pass(write_part(0, 2, 3));
    run.pass(nak(0, 0));
    for (std::uint32_t i = 0; i < 3; ++i)
        run.pass(write_part(0, i, 3));
    run.pass(acknowledge(2, 1));
}

bool has(const support::Outcome& outcome, const std::string& text) {
    return outcome.out.find(text) != std::string::npos;
}

TEST(CheckCommand, tells_how_a_loss_was_recovered_from) {
    CableRun run("loss");
    lose_and_recover(run);
    run.tell({{"sent_pkts", 16}, {"rcvd_pkts", 13}, {"completer_retry_err", 1}});
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(has(outcome,
                    "#1  client 192.0.2.1 qp 0x22 ↔ server 192.0.2.2 qp 0x11  path MTU 1024\n"
                    "    as specified    requests of client 192.0.2.1: 6, 3 of them again; "
                    "2 responses\n"
                    "                    on the cable: 1 lost\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome,
                    "      1  lost      RDMA WRITE First     0x000000  NAK              "
                    "15 µs      5 µs  as specified\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "cable: drop psn 0 once\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "  1 by NAK; detected in 15 µs p50, 15 µs max; reacted in 5 µs"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "No deviation from the specification.\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "  client    sent_pkts                          6           6\n"))
        << outcome.out;
    EXPECT_TRUE(
        has(outcome, "  client    rcvd_pkts                          3           2  differs\n"))
        << outcome.out;
}

TEST(CheckCommand, lines_have_at_most_100_columns) {
    CableRun run("width");
    lose_and_recover(run);
    run.pass(acknowledge(99, 77));
    const auto outcome = run.check({"--color", "never"});
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(report::display_width(line), 100U) << line;
}

TEST(CheckCommand, ends_with_1_where_something_deviates) {
    CableRun run("deviation");
    run.pass(send_one(0));
    const auto wrong = run.pass(acknowledge(3, 1));
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "    1 deviation     requests of 192.0.2.1: 1; 1 response\n"))
        << outcome.out;
    EXPECT_TRUE(
        has(outcome,
            "      " + std::to_string(wrong) +
                "  ack-beyond                #1  192.0.2.2 as responder; IBTA volume 1, 9.7.5.1\n"))
        << outcome.out;
}

TEST(CheckCommand, tells_programs_the_same) {
    CableRun run("json");
    lose_and_recover(run);
    const auto wrong = run.pass(acknowledge(9, 1));
    run.tell({{"sent_pkts", 16}, {"rcvd_pkts", 13}, {"completer_retry_err", 1}});
    const auto outcome = run.check({"--json"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    const json object = json::parse(outcome.out);
    ASSERT_EQ(object["connections"].size(), 1U);
    EXPECT_EQ(object["connections"][0]["from_name"], "client 192.0.2.1");
    EXPECT_EQ(object["connections"][0]["forward"]["lost"], 1);
    EXPECT_EQ(object["connections"][0]["forward"]["first_psn_is_told"], true);
    EXPECT_EQ(object["connections"][0]["paired_by"], "run log");
    ASSERT_EQ(object["recoveries"].size(), 1U);
    const json& recovery = object["recoveries"][0];
    EXPECT_EQ(recovery["event"], "lost");
    EXPECT_EQ(recovery["rule"], "drop psn 0 once");
    EXPECT_EQ(recovery["predicted"], "NAK");
    EXPECT_EQ(recovery["seen"], "NAK");
    EXPECT_EQ(recovery["verdict"], "as specified");
    EXPECT_EQ(recovery["reaction_ns"], 5000);
    EXPECT_EQ(recovery["resend"]["packets"], 3);
    ASSERT_EQ(object["deviations"].size(), 1U);
    EXPECT_EQ(object["deviations"][0]["code"], "ack-beyond");
    EXPECT_EQ(object["deviations"][0]["frame"], wrong);
    EXPECT_EQ(object["deviations"][0]["who"], "server 192.0.2.2 as responder");
    EXPECT_EQ(object["counters"].size(), 3U);
}

// The client's own interface lost the request with PSN 1: it is on neither side of the link.
void leave_a_psn_out(CableRun& run) {
    run.pass(send_one(0));
    run.pass(acknowledge(0, 1));
    run.pass(send_one(2));
    run.pass(nak(1, 1));
    run.pass(send_one(1));
    run.pass(send_one(2));
    run.pass(acknowledge(2, 3));
}

void record_netem(const CableRun& run, const std::string& netem) {
    std::ofstream(run.path() + "/run.json")
        << json{{"hosts", {{"client", {{"address", "192.0.2.1"}, {"netem", netem}}}}}};
}

TEST(CheckCommand, does_not_judge_what_a_packet_lost_by_netem_explains) {
    CableRun run("netem");
    leave_a_psn_out(run);
    EXPECT_EQ(run.check().exit_code, 1);
    record_netem(run, "delay 2ms");
    EXPECT_EQ(run.check().exit_code, 1);
    record_netem(run, "loss 5%");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "    cannot be judged  requests of client 192.0.2.1: 4"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "\nCannot be judged\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "      1  psn-skipped               IBTA volume 1, 9.7.3.1\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "No deviation from the specification.\n")) << outcome.out;
}

TEST(CheckCommand, takes_the_same_from_an_option) {
    CableRun run("lossy");
    leave_a_psn_out(run);
    const auto outcome = run.check({"--lossy", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const json object = json::parse(outcome.out);
    EXPECT_EQ(object["deviations"].size(), 0U);
    EXPECT_EQ(object["cannot_be_judged"], (json{{"psn-skipped", 1}}));
    EXPECT_EQ(object["connections"][0]["forward"]["cannot_be_judged"], 1);
}

TEST(CheckCommand, lists_40_recoveries_or_all) {
    CableRun run("many");
    for (std::uint32_t psn = 0; psn < 42; ++psn) {
        run.pass(send_one(psn));
        run.lose(acknowledge(psn, psn + 1));
    }
    EXPECT_TRUE(has(run.check(), "  ... and 2 more recoveries: --all lists them\n"));
    EXPECT_FALSE(has(run.check({"--all"}), "more recoveries"));
}

// What one host sent and received, as it was captured there.
class OnePlace {
  public:
    explicit OnePlace(const std::string& name) : temp_("check_one_" + name + ".pcapng") {
        writer_.emplace(capture::Sink::create(path()), capture::PcapngSection{});
        interface_ = writer_->add_interface(named("eth0"));
    }

    std::string path() const { return temp_.str(); }

    void add(const wire::Packet& packet, std::uint8_t flip_last_bits = 0) {
        auto frame = wire::encode(packet);
        frame.back() ^= std::byte{flip_last_bits};
        now_ += 5'000;
        writer_->packet(interface_, {.time = capture::Time(now_),
                                     .bytes = frame,
                                     .original_length = static_cast<std::uint32_t>(frame.size())});
    }

    support::Outcome check(support::Argv options = {}) {
        writer_->close();
        options.insert(options.begin(), {support::rocecap(), "check", path()});
        return support::run(options);
    }

  private:
    support::TempPath temp_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t interface_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

constexpr const char* requester_address = "192.0.2.1";
constexpr const char* responder_address = "192.0.2.2";

// A request that was lost behind the requester's host: its NAK and the retransmission.
TEST(CheckCommand, a_loss_elsewhere_is_no_deviation_of_a_capture_of_one_place) {
    OnePlace capture("loss");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(1));
    capture.add(send_one(2));
    capture.add(nak(1, 1));
    capture.add(send_one(1));
    capture.add(send_one(2));
    capture.add(acknowledge(2, 3));
    for (const support::Argv& options : {support::Argv{}, {"--at", requester_address}}) {
        const auto outcome = capture.check(options);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_TRUE(has(outcome, "\nCannot be judged\n")) << outcome.out;
        EXPECT_TRUE(has(outcome, "nak-without-cause")) << outcome.out;
        EXPECT_TRUE(has(outcome, "requests of 192.0.2.1: 5, 2 of them again; 3 responses"))
            << outcome.out;
        EXPECT_FALSE(has(outcome, "cable")) << outcome.out;
    }
    EXPECT_TRUE(has(capture.check({"--at", requester_address}),
                    "Captured at 192.0.2.1. What this host did is judged;"));
    EXPECT_TRUE(has(capture.check(), "Captured at one place (--at says at which host)."));
    // At the responder's own host nothing is missing: there the NAK has no cause.
    const auto there = capture.check({"--at", responder_address, "--json"});
    EXPECT_EQ(there.exit_code, 1) << there.all();
    const json object = json::parse(there.out);
    EXPECT_EQ(object["captured_at"], "192.0.2.2");
    ASSERT_GE(object["deviations"].size(), 1U);
    EXPECT_EQ(object["deviations"][0]["code"], "nak-without-cause");
}

TEST(CheckCommand, what_the_captured_host_did_is_judged) {
    OnePlace capture("requester");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(2));
    EXPECT_EQ(capture.check().exit_code, 0);
    EXPECT_EQ(capture.check({"--at", responder_address}).exit_code, 0);
    const auto outcome = capture.check({"--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "psn-skipped               #1  192.0.2.1 as requester"))
        << outcome.out;
    EXPECT_EQ(capture.check({"--at", requester_address, "--lossy"}).exit_code, 0);
}

TEST(CheckCommand, what_no_missing_packet_explains_is_judged_wherever_the_capture_was_made) {
    OnePlace capture("certain");
    capture.add(send_one(0));
    capture.add(acknowledge(3, 1));
    const auto outcome = capture.check();
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "ack-beyond")) << outcome.out;
    EXPECT_EQ(capture.check({"--lossy"}).exit_code, 0) << "the capture may lack the requests";
}

TEST(CheckCommand, an_icrc_counts_only_where_the_packet_arrived) {
    OnePlace capture("icrc");
    capture.add(send_one(0), 0xff);
    capture.add(acknowledge(0, 1));
    EXPECT_EQ(capture.check().exit_code, 0);
    EXPECT_EQ(capture.check({"--at", requester_address}).exit_code, 0);
    const auto outcome = capture.check({"--at", responder_address});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "icrc-answered")) << outcome.out;
}

TEST(CheckCommand, run_logs_tell_timers_and_roles_of_a_capture) {
    CableRun run("logs");
    run.tell({});
    OnePlace capture("logs");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    const auto outcome = capture.check({"--log", run.path() + "/client.jsonl", "--log",
                                        run.path() + "/server.jsonl", "--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "Captured at client 192.0.2.1.")) << outcome.out;
    EXPECT_TRUE(has(outcome, "#1  client 192.0.2.1 qp 0x22 ↔ server 192.0.2.2 qp 0x11  path MTU"))
        << outcome.out;
}

TEST(CheckCommand, a_run_s_capture_was_made_at_the_server) {
    CableRun run("wire");
    run.tell({});
    OnePlace capture("wire");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    EXPECT_EQ(capture.check().exit_code, 0);
    std::filesystem::rename(run.cable(), run.path() + "/gone");
    std::filesystem::copy_file(capture.path(), run.path() + "/wire.pcapng");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "Captured at server 192.0.2.2.")) << outcome.out;
}

TEST(CheckCommand, refuses_a_place_that_is_none) {
    OnePlace capture("place");
    capture.add(send_one(0));
    const auto says = [](const support::Outcome& outcome, const std::string& text) {
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    };
    says(capture.check({"--at", "here"}), "--at: 'here' is no IPv4 or IPv6 address.");
    says(capture.check({"--at", "192.0.2.9"}), "is from or to 192.0.2.9.");
    CableRun run("place");
    run.pass(send_one(0));
    says(run.check({"--at", requester_address}), "--at is for a capture of one place");
}

TEST(CheckCommand, says_why_it_cannot_run) {
    EXPECT_EQ(support::run({support::rocecap(), "check", "/nonexistent"}).err,
              "rocecap: cannot open '/nonexistent': No such file or directory.\n");
    const support::TempPath empty("check_empty");
    std::filesystem::create_directories(empty.str());
    EXPECT_EQ(support::run({support::rocecap(), "check", empty.str()}).err,
              "rocecap: " + empty.str() +
                  " is no run directory: it has neither cable.pcapng nor "
                  "wire.pcapng.\n");
    CableRun run("nothing");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "rocecap: '" + run.cable() + "' has no packet of a reliable connection (RC).\n");
}

}  // namespace check_command_test
