// rocecap decode and report on several CPUs beside rocecap on one: the output, the errors and the exit
// code are the same.
#include <filesystem>
#include <fstream>
#include <sched.h>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/capture_file.hpp"

namespace parallel_printer_test {

namespace fs = std::filesystem;

// A list of CPUs for taskset: the first `most` ones that this process may use.
std::string cpus(int most) {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    std::string list;
    for (int cpu = 0; cpu < CPU_SETSIZE && most > 0; ++cpu)
        if (CPU_ISSET(cpu, &usable)) {
            list += (list.empty() ? "" : ",") + std::to_string(cpu);
            --most;
        }
    return list;
}

class ParallelPrinter : public testing::Test {
  protected:
    void SetUp() override {
        if (cpus(2) == cpus(1))
            GTEST_SKIP() << "this process may use one CPU only";
    }

    // All reference captures, several times, so that threads start: every kind of packet,
    // comments, names of interfaces. A pcapng file may have several sections.
    std::string samples() const {
        std::ofstream file(capture_.str(), std::ios::binary);
        for (int i = 0; i < 2; ++i)
            for (const auto& entry : fs::recursive_directory_iterator("captures/samples"))
                if (entry.path().extension() == ".pcapng")
                    file << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        return capture_.str();
    }
    std::string synthetic(int packets = 20'000) const {
        const auto made = support::run({(support::build_dir() / "bench/make_capture").string(),
                                        std::to_string(packets), capture_.str()});
        EXPECT_EQ(made.exit_code, 0) << made.all();
        return capture_.str();
    }

    // `command`: for bash, which has rocecap as $ROCECAP.
    static support::Outcome run(const std::string& command, int most_cpus) {
        return support::run({"taskset", "-c", cpus(most_cpus), "bash", "-c", command},
                            {"ROCECAP=" + support::rocecap()});
    }
    static support::Outcome expect_same(const std::string& command) {
        SCOPED_TRACE(command);
        auto alone = run(command, 1);
        const auto together = run(command, 4);
        EXPECT_EQ(together.exit_code, alone.exit_code);
        EXPECT_TRUE(together.out == alone.out);
        EXPECT_EQ(together.err, alone.err);
        return alone;
    }

    support::TempPath capture_{"parallel.pcapng"};
};

TEST_F(ParallelPrinter, prints_what_one_thread_prints) {
    const std::string path = samples();
    for (const char* options :
         {"", "--color always", "--json", "--csv --header --fields frame,interface_name,comment",
          "--where 'aeth.type == NAK or bth.psn in 0x10..0x2000'", "--where cm --json"}) {
        const auto outcome = expect_same("$ROCECAP decode " + path + ' ' + options);
        EXPECT_GT(outcome.out.size(), 1000U);
    }
}

TEST_F(ParallelPrinter, prints_a_long_capture) {
    const std::string path = synthetic();
    const auto outcome = expect_same("$ROCECAP decode " + path);
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 20'000);
    expect_same("$ROCECAP decode --json - < " + path);
    expect_same("cat " + path + " | $ROCECAP decode -");
    expect_same("gzip < " + path + " | $ROCECAP decode -");
}

// The lines of a report page are made by several threads.
TEST_F(ParallelPrinter, a_report_is_that_of_one_thread) {
    for (const std::string& path : {samples(), synthetic()}) {
        const auto outcome = expect_same("$ROCECAP report -o - " + path);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_GT(outcome.out.size(), 1'000'000U);
    }
    expect_same("$ROCECAP report -o /dev/full " + capture_.str());
}

// Longer addresses widen the columns of all later lines; malformed packets set the exit code.
TEST_F(ParallelPrinter, what_one_packet_changes_applies_to_all_later_ones) {
    rocecap_test::CaptureFile file("parallel_widths.pcapng");
    const auto opcode = *wire::find_opcode(0x0a);
    const auto frame = [&](wire_test::Network network) {
        return wire::encode(wire_test::sample_packet(opcode, network, 64));
    };
    auto bad_icrc = frame(wire_test::Network::Ipv4);
    bad_icrc.back() ^= std::byte{1};
    auto malformed = frame(wire_test::Network::Ipv4);
    malformed[42] = std::byte{0x1f};
    for (int i = 0; i < 6000; ++i)
        file.add(i % 2500 == 2400  ? frame(wire_test::Network::Ipv6)
                 : i % 1000 == 999 ? malformed
                 : i % 100 == 99   ? bad_icrc
                                   : frame(wire_test::Network::Ipv4));
    EXPECT_EQ(expect_same("$ROCECAP decode " + file.path()).exit_code, 1);
}

TEST_F(ParallelPrinter, count_ends_it_in_front_of_later_errors) {
    const std::string path = synthetic();
    fs::resize_file(path, fs::file_size(path) - 1);
    for (const char* count : {"1000", "1001", "5000", "19999"})
        EXPECT_EQ(expect_same("$ROCECAP decode -c " + std::string(count) + ' ' + path).exit_code,
                  0);
    expect_same("$ROCECAP decode -c 3 --where 'frame > 7000' " + path);
    EXPECT_EQ(expect_same("$ROCECAP decode -c 20000 " + path).exit_code, 2);
    EXPECT_EQ(expect_same("$ROCECAP decode " + path).exit_code, 2);
}

TEST_F(ParallelPrinter, an_error_in_the_middle_follows_the_packets_before_it) {
    const std::string path = samples();
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(fs::file_size(path) / 2))
        .write("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
    const auto outcome = expect_same("$ROCECAP decode " + path + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_GT(std::ranges::count(outcome.out, '\n'), 1000);
}

TEST_F(ParallelPrinter, a_closed_pipe_ends_it) {
    const std::string path = synthetic();
    for (const char* lines : {"1", "3000", "19000"})
        expect_same("$ROCECAP decode " + path + " | head -n " + lines + "; echo ${PIPESTATUS[0]}");
}

TEST_F(ParallelPrinter, a_full_disk_keeps_whole_lines) {
    const std::string path = synthetic();
    const support::TempPath out("parallel.txt");
    const auto outcome = expect_same("ulimit -f 1000; $ROCECAP decode " + path + " > " + out.str() +
                                     "; echo $?; cat " + out.str() + "; rm " + out.str());
    EXPECT_TRUE(outcome.out.starts_with("2\n"));
    EXPECT_TRUE(outcome.out.ends_with('\n'));
    EXPECT_GT(outcome.out.size(), 500'000U);
    expect_same("$ROCECAP decode " + path + " > /dev/full");
}

}  // namespace parallel_printer_test
