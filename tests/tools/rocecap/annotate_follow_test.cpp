// Runs rocecap annotate --follow on captures and logs that grow.
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"
#include "util/fd.hpp"

namespace annotate_follow_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using rocecap_test::SyntheticRun;

constexpr std::uint8_t send_only = 0x04;

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A run directory whose run.json is replaced as the lab does it.
void write_run_json(const std::string& directory, bool has_ended) {
    std::ofstream(directory + "/run.json.new")
        << R"({"step":"01",)" << (has_ended ? R"("ended":"now",)" : "")
        << R"("hosts":{"server":{"address":"192.0.2.1"},"client":{"address":"192.0.2.2"}}})";
    fs::rename(directory + "/run.json.new", directory + "/run.json");
}

void log_send(const SyntheticRun& run, std::uint32_t psn) {
    run.log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", psn},
             {"opcode", "SEND"},
             {"len", 64u},
             {"psn_first", psn},
             {"psn_last", psn}});
}

// rocecap annotate --follow -, which reads a FIFO.
class FollowedStream {
  public:
    explicit FollowedStream(const support::Argv& options) {
        mkfifo(fifo_.str().c_str(), 0600);
        writer_ = util::Fd(open(fifo_.str().c_str(), O_RDWR | O_CLOEXEC));
        support::Argv argv{"bash",     "-c",         R"(f=$1; shift; exec "$@" <"$f")",
                           "bash",     fifo_.str(),  support::rocecap(),
                           "annotate", "--follow",   "-",
                           "-o",       output_.str()};
        argv.insert(argv.end(), options.begin(), options.end());
        process_.emplace(argv);
        EXPECT_TRUE(await_output("rocecap annotate")) << "Wireshark waits for the header";
    }

    void put(const std::string& bytes) const {
        EXPECT_EQ(write(writer_.get(), bytes.data(), bytes.size()),
                  static_cast<ssize_t>(bytes.size()));
    }
    bool await_output(const std::string& text) const {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (read(output_.str()).find(text) == std::string::npos) {
            if (std::chrono::steady_clock::now() > deadline)
                return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
    support::Outcome end() {
        writer_.reset();
        return process_->wait(20s);
    }
    support::Outcome end_by(int signal) const {
        process_->signal(signal);
        return process_->wait(20s);
    }
    std::string comments() const {
        return support::run(
                   {"tshark", "-n", "-r", output_.str(), "-T", "fields", "-e", "frame.comment"})
            .out;
    }

  private:
    support::TempPath fifo_{"annotate.fifo"}, output_{"annotated_stream.pcapng"};
    util::Fd writer_;
    mutable std::optional<support::Process> process_;
};

class AnnotateFollow : public testing::Test {
  protected:
    AnnotateFollow() {
        run_.log_states(100u, 7u);
        for (const std::uint32_t psn : {7u, 8u, 9u}) {
            run_.packet(send_only, psn);
            // What the capture grew by.
            run_.keep_capture();
            const std::string all = read(run_.path() + "/wire.pcapng");
            fs::remove(run_.path() + "/wire.pcapng");
            parts_.push_back(all.substr(size_));
            size_ = all.size();
        }
    }
    std::string log(const std::string& role) const { return run_.path() + "/" + role + ".jsonl"; }

    SyntheticRun run_{"annotate_follow"};
    std::vector<std::string> parts_;  // of the capture, with a packet each
    std::size_t size_ = 0;
};

TEST_F(AnnotateFollow, a_packet_is_written_as_soon_as_its_event_is_in_the_log) {
    FollowedStream stream({"--log", log("server"), "--log", log("client")});
    for (std::uint32_t i = 0; i < 3; ++i) {
        stream.put(parts_[i]);
        const auto at = std::chrono::steady_clock::now();
        log_send(run_, 7 + i);
        EXPECT_TRUE(stream.await_output("client wr " + std::to_string(7 + i) + " SEND 64 B")) << i;
        EXPECT_LT(std::chrono::steady_clock::now() - at, 4s) << "it need not wait for its end";
    }
    const auto outcome = stream.end();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find(": 3 packets, 3 with a cause\n"), std::string::npos)
        << outcome.all();
}

TEST_F(AnnotateFollow, an_event_before_its_packet_is_as_good) {
    FollowedStream stream({"--log", log("server"), "--log", log("client")});
    for (const std::uint32_t psn : {7u, 8u, 9u})
        log_send(run_, psn);
    stream.put(parts_[0] + parts_[1] + parts_[2]);
    EXPECT_EQ(stream.end().exit_code, 0);
    EXPECT_EQ(stream.comments(),
              "client wr 7 SEND 64 B, PSN 1 of 1\nclient wr 8 SEND 64 B, PSN 1 of 1\n"
              "client wr 9 SEND 64 B, PSN 1 of 1\n");
}

TEST_F(AnnotateFollow, a_packet_without_an_event_delays_the_capture_for_a_limited_time) {
    FollowedStream stream({"--log", log("server"), "--log", log("client")});
    log_send(run_, 8);
    const auto at = std::chrono::steady_clock::now();
    stream.put(parts_[0] + parts_[1]);
    EXPECT_TRUE(stream.await_output("client wr 8 SEND"));
    EXPECT_GE(std::chrono::steady_clock::now() - at, 4900ms);
    EXPECT_EQ(stream.end().exit_code, 0);
    EXPECT_EQ(stream.comments(), "\nclient wr 8 SEND 64 B, PSN 1 of 1\n");
}

TEST_F(AnnotateFollow, without_logs_packets_do_not_wait) {
    FollowedStream stream({});
    const auto at = std::chrono::steady_clock::now();
    stream.put(parts_[0]);
    EXPECT_TRUE(stream.await_output(parts_[0].substr(parts_[0].size() - 60, 40)));
    EXPECT_LT(std::chrono::steady_clock::now() - at, 4s);
    const auto outcome = stream.end();
    EXPECT_NE(outcome.err.find("1 packets, 0 with a cause: causes come from run logs (--log)"),
              std::string::npos)
        << outcome.all();
}

TEST_F(AnnotateFollow, takes_the_logs_of_runs_that_begin_later) {
    const support::TempPath runs("annotate_runs");
    FollowedStream stream({"--runs", runs.str()});
    stream.put(parts_[0]);  // of no run
    ASSERT_TRUE(stream.await_output(parts_[0].substr(parts_[0].size() - 60, 40)));

    const std::string first = runs.str() + "/20260101T000000Z_01_first";
    fs::create_directories(first);
    write_run_json(first, false);
    log_send(run_, 8);
    for (const char* role : {"server", "client"})
        fs::copy_file(log(role), first + "/" + role + ".jsonl");
    std::this_thread::sleep_for(100ms);  // the lab needs longer from run.json to its first packet
    stream.put(parts_[1]);
    ASSERT_TRUE(stream.await_output("client wr 8 SEND"));
    write_run_json(first, true);

    // The next run: the same queue pair.
    const std::string second = runs.str() + "/20260101T000001Z_01_second";
    fs::create_directories(second);
    write_run_json(second, false);
    log_send(run_, 9);
    for (const char* role : {"server", "client"})
        fs::copy_file(log(role), second + "/" + role + ".jsonl");
    std::this_thread::sleep_for(100ms);
    stream.put(parts_[2]);
    ASSERT_TRUE(stream.await_output("client wr 9 SEND"));
    const auto outcome = stream.end();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find(": 3 packets, 2 with a cause\n"), std::string::npos)
        << outcome.all();
}

TEST_F(AnnotateFollow, a_run_that_had_ended_before_explains_nothing) {
    const support::TempPath runs("annotate_old_run");
    const std::string old = runs.str() + "/20260101T000000Z_01_old";
    fs::create_directories(old);
    log_send(run_, 7);
    for (const char* role : {"server", "client"})
        fs::copy_file(log(role), old + "/" + role + ".jsonl");
    write_run_json(old, true);
    FollowedStream stream({"--runs", runs.str()});
    stream.put(parts_[0]);
    const auto outcome = stream.end();
    EXPECT_NE(outcome.err.find(": 1 packets, 0 with a cause"), std::string::npos) << outcome.all();
}

TEST_F(AnnotateFollow, a_signal_ends_it_with_what_there_is) {
    FollowedStream stream({"--log", log("server"), "--log", log("client")});
    log_send(run_, 7);
    stream.put(parts_[0] + parts_[1]);
    ASSERT_TRUE(stream.await_output("client wr 7 SEND"));
    const auto outcome = stream.end_by(SIGTERM);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(stream.comments(), "client wr 7 SEND 64 B, PSN 1 of 1\n\n");
}

TEST_F(AnnotateFollow, a_run_ends_it) {
    write_run_json(run_.path(), false);
    run_.keep_capture();
    support::Process following({"bash", "-c",
                                R"("$@" | tshark -n -l -r - -T fields -e frame.comment)", "bash",
                                support::rocecap(), "annotate", "--follow", run_.path()});
    for (const std::uint32_t psn : {7u, 8u, 9u})
        log_send(run_, psn);
    write_run_json(run_.path(), true);
    const auto outcome = following.wait(20s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 3) << outcome.all();
    EXPECT_NE(outcome.out.find("client wr 9 SEND 64 B"), std::string::npos) << outcome.all();
}

TEST_F(AnnotateFollow, a_stream_that_ends_inside_a_packet_is_an_error_after_its_packets) {
    FollowedStream stream({});
    stream.put(parts_[0] + parts_[1].substr(0, 20));
    const auto outcome = stream.end();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find("standard input ends inside"), std::string::npos) << outcome.all();
    EXPECT_EQ(stream.comments(), "\n");
}

TEST_F(AnnotateFollow, what_cannot_be_followed_is_named) {
    const auto says = [](const support::Argv& options, const std::string& sentence) {
        support::Argv argv{support::rocecap(), "annotate"};
        argv.insert(argv.end(), options.begin(), options.end());
        const auto outcome = support::run(argv);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.all();
    };
    run_.keep_capture();
    says({"--follow", run_.path() + "/wire.pcapng"}, "is not a run directory: --follow needs");
    says({"--follow", run_.path(), "--runs", "/tmp"}, "--runs is for a capture on standard input");
    says({"--follow", "-", "--runs", "/tmp", "--log", log("client")}, "either --runs or --log");
    says({run_.path(), "--runs", "/tmp"}, "--runs needs --follow");
    says({"--follow", "-"}, "standard input");
}

}  // namespace annotate_follow_test
