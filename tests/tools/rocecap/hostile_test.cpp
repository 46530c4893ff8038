// Captures whose packets are right one by one but follow no protocol: each command takes time
// proportional to their number.
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace hostile_test {

// User CPU time of the children that have ended, in seconds.
double children_s() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

class Hostile : public testing::TestWithParam<const char*> {
  protected:
    // A capture of this many packets.
    static std::string make(std::uint64_t packets, const support::TempPath& path) {
        const auto made = support::run({(support::build_dir() / "bench/make_capture").string(),
                                        std::to_string(packets), path.str(), GetParam()});
        EXPECT_EQ(made.exit_code, 0) << made.all();
        return path.str();
    }

    static double seconds(const support::Argv& command, const std::string& capture) {
        support::Argv argv = command;
        argv.push_back(capture);
        const double before = children_s();
        const auto outcome = support::rocecap(argv);
        EXPECT_FALSE(outcome.timed_out) << argv.at(0);
        EXPECT_LE(outcome.exit_code, 1) << outcome.err;
        return children_s() - before;
    }
};

// The capture as the link emulator records it: each frame before and after the link.
std::string record(const std::string& capture, const support::TempPath& path) {
    capture::PcapngWriter writer(capture::Sink::create(path.str()), {});
    writer.add_interface({.name = "before"});
    writer.add_interface({.name = "after"});
    capture::FileSource source(capture);
    while (auto frame = source.next()) {
        writer.packet(0, *frame);
        frame->time += std::chrono::nanoseconds(100);
        writer.packet(1, *frame);
    }
    writer.close();
    return path.str();
}

// Four times as many packets: 4 times the time if it is linear, 16 times if it is quadratic.
TEST_P(Hostile, four_times_the_packets_take_about_four_times_as_long) {
    constexpr std::uint64_t packets = 10'000;
    const support::TempPath few("hostile_few.pcap"), many("hostile_many.pcap"),
        page("hostile.html"), few_twice("hostile_few.pcapng"), many_twice("hostile_many.pcapng");
    const std::string capture = make(packets, few), larger = make(4 * packets, many);
    const std::string link = record(capture, few_twice), larger_link = record(larger, many_twice);
    EXPECT_LE(seconds({"check"}, larger_link), 8 * seconds({"check"}, link) + 0.2);
    for (const support::Argv& command :
         {support::Argv{"flows"}, support::Argv{"check", "--at", "192.0.2.2"},
          support::Argv{"explain"}, support::Argv{"timeline"}, support::Argv{"psns"},
          support::Argv{"report", "-o", page.str()}}) {
        SCOPED_TRACE(command.front());
        const double once = seconds(command, capture);
        EXPECT_LE(seconds(command, larger), 8 * once + 0.2);
    }
}

// The packets alone take 65 MB in each of the two.
TEST(Memory, of_check_and_explain_is_bounded_by_connections) {
    const support::TempPath capture("usual.pcap");
    const auto made = support::run(
        {(support::build_dir() / "bench/make_capture").string(), "300000", capture.str()});
    ASSERT_EQ(made.exit_code, 0) << made.all();
    constexpr const char* limited = "ulimit -v $3; exec \"$0\" \"$2\" \"$1\"";  // KiB
    const auto check =
        support::run({"bash", "-c", limited, support::rocecap(), capture.str(), "check", "100000"});
    EXPECT_EQ(check.exit_code, 0) << check.err;
    EXPECT_NE(check.out.find("No deviation from the specification"), std::string::npos);
    const auto explain = support::run(
        {"bash", "-c", limited, support::rocecap(), capture.str(), "explain", "130000"});
    EXPECT_EQ(explain.exit_code, 0) << explain.err;
    EXPECT_NE(explain.out.find("1. congestion"), std::string::npos) << explain.out;
    // Both sides of the link, 600,000 frames.
    const support::TempPath both("usual.pcapng");
    const auto link = support::run({"bash", "-c", limited, support::rocecap(),
                                    record(capture.str(), both), "check", "160000"});
    EXPECT_LE(link.exit_code, 1) << link.err;
    EXPECT_NE(link.out.find("as specified"), std::string::npos) << link.out;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Hostile,
                         testing::Values("naks", "descending", "random", "queue-pairs", "reads",
                                         "acks"));

}  // namespace hostile_test
