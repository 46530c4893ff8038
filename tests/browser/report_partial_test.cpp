// Pages of runs that lack a capture or logs, and of captures alone.
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/report_fixture.hpp"

namespace {

using browser_test::contains;
using browser_test::Report;
using browser_test::ReportedRun;

TEST_F(Report, shows_a_run_without_a_capture) {
    ReportedRun logs_only(20);
    std::filesystem::remove(logs_only.path() + "/wire.pcapng");
    logs_only.report();
    const auto opened = open(logs_only);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_TRUE(contains(text_of(page, "#facts"), "the run was not captured"));
    EXPECT_GT(shown(page), 0u);
}

TEST_F(Report, shows_a_capture_alone) {
    const ReportedRun capture(20);
    capture.report_capture();
    const auto opened = open(capture);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(text_of(page, "h1"), "wire.pcapng");
    EXPECT_TRUE(contains(text_of(page, "#facts"), "On the server's side"));
    EXPECT_GT(shown(page), 0u);
    EXPECT_EQ(page.evaluate("rows.every(row => row.isPacket && row.side < 2)"), true);
    EXPECT_EQ(page.evaluate("rows.some(row => row.side === 0) && rows.some(row => row.side === 1)"),
              true);
}

TEST_F(Report, shows_the_comments_of_an_annotated_capture_as_causes) {
    const ReportedRun capture(20);
    const std::string annotated = capture.path() + "/annotated.pcapng";
    for (const support::Argv& argv :
         {support::Argv{support::rocecap(), "annotate", capture.path(), "-o", annotated},
          support::Argv{support::rocecap(), "report", annotated, "-o", capture.file()}}) {
        const auto outcome = support::run(argv);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    const auto opened = open(capture);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(page.evaluate("rows.some(row => /^client wr \\d+ RDMA_/.test(row.cause))"), true);
    EXPECT_EQ(page.evaluate("rows.some(row => row.cause.startsWith('answers client wr '))"), true);
    EXPECT_FALSE(contains(text_of(page, "#facts"), "Packets with a cause"));
}

// Both logs have the name of the program as their role, instead of "server" and "client".
TEST_F(Report, puts_the_events_of_a_log_on_its_host_s_side) {
    const ReportedRun capture(20);
    for (const char* role : {"server", "client"}) {
        std::ifstream in(fmt::format("{}/{}.jsonl", capture.path(), role));
        std::ofstream out(fmt::format("{}/node_{}.jsonl", capture.path(), role));
        const std::string named = fmt::format("\"role\":\"{}\"", role);
        for (std::string line; std::getline(in, line);)
            out << line.replace(line.find(named), named.size(), "\"role\":\"ib_write_bw\"") << '\n';
    }
    capture.report_capture({"--log", capture.path() + "/node_server.jsonl", "--log",
                            capture.path() + "/node_client.jsonl"});
    const auto opened = open(capture);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_TRUE(contains(text_of(page, "#facts"), "node_client, "));
    EXPECT_EQ(page.evaluate("rows.filter(row => !row.isPacket && row.side === 1)"
                            ".every(row => row.text.startsWith('node_server: '))"),
              true);
    EXPECT_EQ(page.evaluate("writerOf(rows.find(row => !row.isPacket && row.side === 0))"),
              "node_client");
    EXPECT_EQ(page.evaluate("run.requests.length > 0 && run.requests.every(one => one.side === 0)"),
              true);
    EXPECT_EQ(page.evaluate("rows.some(row => row.cause?.startsWith('node_client wr '))"), true);
}

TEST_F(Report, shows_a_run_of_which_there_is_nothing_yet) {
    ReportedRun begun(20);
    for (const char* file : {"/wire.pcapng", "/client.jsonl", "/server.jsonl"})
        std::filesystem::remove(begun.path() + file);
    begun.report();
    const auto opened = open(begun);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(shown(page), 0u);
}

TEST_F(Report, gives_the_link_rows_of_its_own) {
    const ReportedRun run(20);
    const auto events = [&](auto& page) {
        return page.evaluate("rows.filter(row => row.group === 'server').length");
    };
    run.report();
    const auto without = events(*open(run));
    run.log("link",
            R"({"t_ns":1,"role":"link","event":"drop","rule":1,"from":"server","frame":3})");
    run.report();
    const auto opened = open(run);
    auto& page = *opened;
    EXPECT_EQ(events(page), without);
    EXPECT_EQ(text_of(page, "[data-kind=link]"), "link's events 1");
    EXPECT_FALSE(contains(text_of(page, "#server-log"), "link: drop"));
    EXPECT_EQ(page.evaluate("getComputedStyle(document.querySelector('.by-link')).color === "
                            "getComputedStyle(document.querySelector('#rows')).color"),
              false);
    EXPECT_EQ(page.evaluate("document.querySelector('.by-link').classList.contains('bad')"), false);
}

TEST_F(Report, shows_and_hides_the_steps_of_the_drivers) {
    const ReportedRun run(20);
    run.log("client-driver",
            R"({"t_ns":1,"role":"client","event":"driver","step":"ack_timer","qpn":17})");
    run.report();
    const auto opened = open(run);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(text_of(page, "[data-kind=driver]"), "drivers' steps 1");
    const auto before = shown(page);
    page.evaluate("document.querySelector('[data-kind=driver]').click()");
    EXPECT_EQ(shown(page) + 1, before);
}

}  // namespace
