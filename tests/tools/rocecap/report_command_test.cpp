// Runs rocecap report. tests/browser tests the contents of its page.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

#include "support/file_size_limit.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"

namespace report_command_test {

using rocecap_test::SyntheticRun;

support::Outcome report(const support::Argv& arguments) {
    support::Argv argv{support::rocecap(), "report"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return support::run(argv);
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Two packets of one WRITE.
void fill(SyntheticRun& run) {
    run.log_states(0x200u, 0x100u);
    run.log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", 1u},
             {"opcode", "RDMA_WRITE"},
             {"len", 64u},
             {"psn_first", 0x100u},
             {"psn_last", 0x100u}});
    run.packet(0x0a, 0x100);
    run.packet(0x11, 0x100, true);
    run.keep_capture();
}

std::string usable_cpu() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    EXPECT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    int first = 0;
    while (!CPU_ISSET(first, &cpus))
        ++first;
    return std::to_string(first);
}

// With several CPUs, chunks are deflated on other threads.
TEST(ReportCommand, writes_the_same_page_on_one_cpu_and_on_several) {
    SyntheticRun run("report_cpus");
    fill(run);
    for (std::uint32_t psn = 0x101; psn < 0x101 + 3000; ++psn)
        run.packet(0x0a, psn);
    const std::string one = run.path() + "/one.html", several = run.path() + "/several.html";
    const auto first = support::run(
        {"taskset", "-c", usable_cpu(), support::rocecap(), "report", "-o", one, run.path()});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    ASSERT_EQ(report({"-o", several, run.path()}).exit_code, 0);
    EXPECT_GT(std::filesystem::file_size(one), 50'000U);
    EXPECT_EQ(read(one), read(several));
}

TEST(ReportCommand, puts_the_page_into_the_run) {
    SyntheticRun run("report_page");
    fill(run);
    const auto outcome = report({run.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, run.path() + "/report.html: 2 packets, 5 events\n");
    const std::string page = read(run.path() + "/report.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_EQ(page.find("{{"), std::string::npos);
    // The page loads nothing from elsewhere.
    for (const char* word : {"http:", "https:", "src=", "@import", "url("})
        EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(ReportCommand, a_page_that_cannot_be_written_leaves_the_one_that_was_there) {
    SyntheticRun run("report_full");
    fill(run);
    const std::string page = run.path() + "/report.html";
    std::ofstream(page) << "older";
    const auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(run.path()), {});
    };
    const auto before = files();
    {
        const support::FileSizeLimit limit(5000);
        const auto outcome = report({run.path()});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(outcome.err, "rocecap: cannot write to '" + page + "': File too large.\n");
    }
    EXPECT_EQ(read(page), "older");
    EXPECT_EQ(files(), before);
    std::filesystem::remove(page);
    EXPECT_EQ(report({run.path()}).exit_code, 0);
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(page).permissions(), perms::owner_read | perms::owner_write);
}

TEST(ReportCommand, writes_where_it_is_told_and_to_standard_output) {
    SyntheticRun run("report_output");
    fill(run);
    const std::string file = run.path() + "/elsewhere.html";
    ASSERT_EQ(report({run.path(), "-o", file}).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(run.path() + "/report.html"));
    EXPECT_EQ(report({run.path(), "-o", "-"}).out, read(file));
}

TEST(ReportCommand, says_how_much_it_leaves_out) {
    SyntheticRun run("report_limit");
    fill(run);
    const auto outcome = report({run.path(), "--packets", "1"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("more are omitted (--packets includes more)"), std::string::npos)
        << outcome.err;
}

TEST(ReportCommand, keeps_the_old_page_where_it_cannot_read_the_run) {
    SyntheticRun run("report_broken");
    fill(run);
    ASSERT_EQ(report({run.path()}).exit_code, 0);
    const std::string before = read(run.path() + "/report.html");
    std::ofstream(run.path() + "/run.json") << "not JSON";
    const auto outcome = report({run.path()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "rocecap: " + run.path() + "/run.json is not readable JSON.\n");
    EXPECT_EQ(read(run.path() + "/report.html"), before);
}

TEST(ReportCommand, refuses_what_is_no_run_no_place_and_no_number) {
    SyntheticRun run("report_refused");
    fill(run);
    EXPECT_EQ(report({"/nowhere"}).err,
              "rocecap: cannot open '/nowhere': No such file or directory.\n");
    EXPECT_EQ(report({run.path(), "-o", "/nowhere/page.html"}).exit_code, 2);
    const auto outcome = report({run.path(), "--packets", "0"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("--packets"), std::string::npos) << outcome.err;
}

}  // namespace report_command_test
