// A capture in several files: where files end and begin, and that no packet is lost between them.
#include "capture/rotating_writer.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace {

using namespace std::chrono_literals;
using capture::numbered;
using capture::Rotation;
using capture::Time;

namespace fs = std::filesystem;

TEST(Numbered, puts_five_digits_before_the_extension) {
    EXPECT_EQ(numbered("run.pcapng", 1), "run_00001.pcapng");
    EXPECT_EQ(numbered("a.b/run", 99999), "a.b/run_99999");
    EXPECT_EQ(numbered("/tmp/run.x.pcapng", 100000), "/tmp/run.x_100000.pcapng");
}

class RotatingWriter : public testing::Test {
  protected:
    void SetUp() override { fs::create_directory(folder_.str()); }

    capture::RotatingWriter writer(const Rotation& rotation) {
        capture::PcapngInterface interface;
        interface.name = "eth0";
        return capture::RotatingWriter({.path = path_,
                                        .rotation = rotation,
                                        .interface = interface,
                                        .begin = begin,
                                        .counters = [this] { return counters_; },
                                        .opened = [this](capture::Sink&) { ++opened_; }});
    }
    // Adds a packet that takes 132 bytes in the file and contains its number.
    void add(capture::RotatingWriter& writer, Time time) {
        std::array<std::byte, 100> bytes{};
        bytes[0] = static_cast<std::byte>(counters_.received++);
        writer.packet({.time = begin + time, .bytes = bytes, .original_length = bytes.size()});
    }
    static std::vector<int> packets_in(const std::string& path) {
        std::vector<int> numbers;
        capture::FileSource file(path);
        while (const auto frame = file.next())
            numbers.push_back(static_cast<int>(frame->bytes[0]));
        return numbers;
    }
    std::string file(std::uint64_t number) const { return numbered(path_, number); }
    std::uint64_t files() const {
        return static_cast<std::uint64_t>(std::distance(fs::directory_iterator(folder_.str()), {}));
    }
    void expect_all_packets_in_order(std::uint64_t from_file, int from_packet) const {
        std::vector<int> all;
        for (std::uint64_t number = from_file; fs::exists(file(number)); ++number) {
            const auto some = packets_in(file(number));
            EXPECT_FALSE(some.empty()) << number;
            all.insert(all.end(), some.begin(), some.end());
        }
        std::vector<int> expected;
        for (int i = from_packet; i < static_cast<int>(counters_.received); ++i)
            expected.push_back(i);
        EXPECT_EQ(all, expected);
    }

    static constexpr Time begin = 1'700'000'000s;
    support::TempPath folder_{"rotating"};
    std::string path_ = folder_.str() + "/run.pcapng";
    capture::LiveCounters counters_{};
    int opened_ = 0;
};

TEST_F(RotatingWriter, without_rotation_there_is_one_file_of_the_given_name) {
    auto out = writer({});
    for (int i = 0; i < 100; ++i)
        add(out, i * 1h);
    out.close(begin + 100h);
    EXPECT_EQ(files(), 1U);
    EXPECT_EQ(packets_in(path_).size(), 100U);
}

TEST_F(RotatingWriter, a_file_that_has_grown_to_the_size_is_followed_by_the_next) {
    auto out = writer({.bytes = 2000});
    for (int i = 0; i < 200; ++i)
        add(out, i * 1ms);
    out.close(begin + 1s);
    EXPECT_EQ(files(), 14U);
    EXPECT_EQ(opened_, 14);
    for (std::uint64_t number = 1; number < files(); ++number) {
        EXPECT_GE(fs::file_size(file(number)), 2000U) << number;
        EXPECT_LT(fs::file_size(file(number)), 2000U + 132U + 100U) << number << ": and statistics";
    }
    expect_all_packets_in_order(1, 0);
}

TEST_F(RotatingWriter, the_time_is_the_packets_own) {
    auto out = writer({.time = 10s});
    for (const auto time : {0ms, 9'999ms, 10'000ms, 19'999ms, 60'000ms, 69'999ms})
        add(out, time);
    out.close(begin + 200s);
    EXPECT_EQ(packets_in(file(1)), (std::vector{0, 1}));
    EXPECT_EQ(packets_in(file(2)), (std::vector{2, 3}));
    EXPECT_EQ(packets_in(file(3)), (std::vector{4, 5})) << "no empty file for the time between";
    EXPECT_EQ(files(), 3U);
}

TEST_F(RotatingWriter, a_first_packet_that_comes_late_needs_no_second_file) {
    auto out = writer({.time = 1s});
    add(out, 1h);
    out.close(begin + 2h);
    EXPECT_EQ(files(), 1U);
}

TEST_F(RotatingWriter, only_the_last_files_are_kept) {
    auto out = writer({.time = 1s, .keep = 3});
    for (int i = 0; i < 10; ++i) {
        add(out, i * 1s);
        EXPECT_LE(files(), 3U) << i;
    }
    out.close(begin + 10s);
    EXPECT_EQ(files(), 3U);
    expect_all_packets_in_order(8, 7);
}

TEST_F(RotatingWriter, a_file_that_was_taken_away_is_not_missed) {
    auto out = writer({.time = 1s, .keep = 1});
    add(out, 0s);
    fs::remove(file(1));
    EXPECT_NO_THROW(add(out, 1s));
    out.close(begin + 2s);
    EXPECT_EQ(packets_in(file(2)), std::vector{1});
}

TEST_F(RotatingWriter, an_older_file_of_the_same_name_is_replaced_even_a_linked_one) {
    const std::string precious = folder_.str() + "/precious";
    std::ofstream(precious) << "kept";
    fs::create_symlink(precious, file(1));
    auto out = writer({.time = 1s});
    out.close(begin);
    EXPECT_FALSE(fs::is_symlink(file(1)));
    EXPECT_EQ(fs::file_size(precious), 4U);
}

TEST_F(RotatingWriter, a_next_file_that_cannot_be_made_leaves_a_whole_last_one) {
    auto out = writer({.time = 1s});
    add(out, 0s);
    fs::create_directory(file(2));
    EXPECT_THROW(add(out, 1s), util::Error);
    out.close(begin + 2s);
    EXPECT_EQ(packets_in(file(1)), std::vector{0});
    const auto info = support::run({"capinfos", file(1)});
    EXPECT_NE(info.out.find("Number of stat entries = 1"), std::string::npos) << info.all();
}

TEST_F(RotatingWriter, each_file_has_statistics_of_its_own_time) {
    auto out = writer({.time = 10s});
    add(out, 0s);
    add(out, 1s);
    counters_.dropped_by_kernel = 5;
    add(out, 10s);
    counters_.dropped_by_kernel = 7;
    out.close(begin + 12s);
    const auto expect_counts = [&](std::uint64_t number, const char* written, const char* dropped) {
        const auto text = support::run(
            {"tshark", "-r", file(number), "-V", "-X", "read_format:MIME Files Format"});
        for (const std::string& count : {std::string("Delivered to the User = ") + written,
                                         std::string("Packets Dropped by OS = ") + dropped})
            EXPECT_NE(text.out.find(count + "\n"), std::string::npos) << count << " in\n"
                                                                      << text.all();
    };
    expect_counts(1, "2", "5");
    expect_counts(2, "1", "2");
}

}  // namespace
