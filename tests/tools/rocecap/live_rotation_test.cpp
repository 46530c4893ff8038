// rocecap live with several files: rejected options, and that all files together contain every
// packet.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/rotating_writer.hpp"
#include "tools/rocecap/live_command.hpp"

namespace live_rotation_test {

using namespace std::chrono_literals;
using live_test::live;
using live_test::LiveCommand;
using support::Process;

namespace fs = std::filesystem;

class LiveRotation : public LiveCommand {
  protected:
    void SetUp() override {
        LiveCommand::SetUp();
        fs::create_directory(folder_.str());
        fs::permissions(folder_.str(), fs::perms::all);
    }
    std::string file(std::uint64_t number) const { return capture::numbered(written_, number); }
    std::uint64_t files() const {
        return static_cast<std::uint64_t>(std::distance(fs::directory_iterator(folder_.str()), {}));
    }
    // Sends datagrams whose last ten characters are their number.
    static void send_numbered(int count) {
        for (int i = 0; i < count; ++i) {
            const std::string number = std::to_string(i);
            send(std::string(8000 - number.size(), '0') + number);
        }
    }
    // Appends the numbers at the end of the packets' payloads, as tshark reads them.
    static void append_numbers(const std::string& path, std::vector<int>& numbers) {
        const auto tshark =
            support::run({"tshark", "-r", path, "-T", "fields", "-e", "udp.payload"});
        ASSERT_EQ(tshark.exit_code, 0) << tshark.err;
        std::istringstream lines(tshark.out);
        for (std::string line; std::getline(lines, line);) {
            std::string digits;
            for (std::size_t at = line.size() - 19; at < line.size(); at += 2)
                digits += line[at];  // the digits are "30" to "39" in hexadecimal
            numbers.push_back(std::stoi(digits));
        }
    }

    // The packets' times, in seconds since 1970.
    static std::vector<double> times_in(const std::string& path) {
        const auto tshark =
            support::run({"tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch"});
        EXPECT_EQ(tshark.exit_code, 0) << tshark.err;
        std::istringstream lines(tshark.out);
        return {std::istream_iterator<double>(lines), {}};
    }

    support::TempPath folder_{"live_rotation"};
    std::string written_ = folder_.str() + "/run.pcapng";
};

TEST_F(LiveRotation, all_files_together_have_all_packets_in_order) {
    constexpr int count = 600;
    Process capture(
        live({"-q", "-w", written_, "--rotate-size", "1", "-c", std::to_string(count)}));
    expect_ready(capture);
    send_numbered(count);
    const auto outcome = capture.wait(30s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(files(), 5U) << "of 4.8 MB";
    std::vector<int> numbers;
    for (std::uint64_t number = 1; number <= files(); ++number) {
        append_numbers(file(number), numbers);
        const auto info = support::run({"capinfos", file(number)});
        EXPECT_NE(info.out.find("Number of stat entries = 1"), std::string::npos) << info.all();
    }
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(numbers, expected);
}

TEST_F(LiveRotation, the_oldest_go_and_a_signal_leaves_whole_files) {
    Process capture(live({"-q", "-w", written_, "--rotate-size", "1", "--keep", "2"}));
    expect_ready(capture);
    send_numbered(600);
    capture.signal(SIGTERM);
    const auto outcome = capture.wait(30s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(files(), 2U);
    std::vector<int> numbers;
    append_numbers(file(4), numbers);
    append_numbers(file(5), numbers);
    ASSERT_GT(numbers.size(), 100U);
    EXPECT_EQ(numbers.back(), 599);
    EXPECT_EQ(static_cast<std::size_t>(599 - numbers.front()), numbers.size() - 1);
}

// The second file may exist some packets after the one that began it.
TEST_F(LiveRotation, time_begins_a_new_file_with_the_next_packet) {
    const auto before = std::chrono::system_clock::now().time_since_epoch();
    Process capture(live({"-w", written_, "--rotate-seconds", "1"}));
    expect_ready(capture);
    int sent = 0;
    while (!fs::exists(file(2)) && ++sent < 1000) {
        send(1);
        ASSERT_TRUE(capture.await(fmt::format("{:>5}  ", sent), 10s)) << sent;
    }
    capture.signal(SIGTERM);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const auto first = times_in(file(1)), second = times_in(file(2));
    ASSERT_FALSE(first.empty());
    ASSERT_FALSE(second.empty());
    EXPECT_EQ(first.size() + second.size(), static_cast<std::size_t>(sent));
    EXPECT_LT(first.back() - first.front(), 1);
    EXPECT_GE(second.front() - std::chrono::duration<double>(before).count(), 1);
    EXPECT_GT(second.front(), first.back());
}

}  // namespace live_rotation_test
