// The reference runs in captures/samples: each is complete, and all readers of this project and
// tshark can read it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/connection_agreement.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"
#include "support/verdict_agreement.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path samples = "captures/samples";

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<fs::path> folders() {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(samples))
        if (entry.is_directory())
            all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
}

std::vector<fs::path> captures() {
    std::vector<fs::path> all;
    for (const fs::path& folder : folders())
        if (fs::exists(folder / "annotated.pcapng"))
            all.push_back(folder / "annotated.pcapng");
    return all;
}

std::vector<std::string> comments(const fs::path& capture) {
    const auto outcome = support::run(
        {"tshark", "-n", "-r", capture.string(), "-T", "fields", "-e", "frame.comment"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(line);
    return all;
}

TEST(Samples, every_lesson_has_one_and_the_list_names_it) {
    const std::string list = text_of(samples / "README.md");
    for (const auto& entry : fs::directory_iterator("examples")) {
        const std::string step = entry.path().filename().string();
        if (step == "common")
            continue;
        EXPECT_NE(list.find(fmt::format("[{0}]({0})", step)), std::string::npos) << step;
        EXPECT_TRUE(fs::exists(samples / step / "timeline.txt")) << step;
        EXPECT_TRUE(fs::exists(samples / step / "client.log")) << step;
    }
    EXPECT_GE(captures().size(), 8U);
}

TEST(Samples, are_runs_for_every_command) {
    for (const fs::path& capture : captures()) {
        const std::string run = capture.parent_path().string();
        for (const char* command : {"decode", "flows", "verify", "check", "explain", "timeline",
                                    "psns", "predict", "report", "annotate"}) {
            support::Argv argv{support::rocecap(), command, run};
            if (command == std::string("report") || command == std::string("annotate"))
                argv.insert(argv.end(), {"-o", "/dev/null"});
            if (command == std::string("predict"))
                argv.emplace_back("--all");
            const auto outcome = support::run(argv);
            EXPECT_LE(outcome.exit_code, 1) << command << ' ' << run << '\n' << outcome.err;
        }
    }
}

TEST(Samples, have_the_calls_beside_the_packets) {
    for (const fs::path& folder : folders()) {
        EXPECT_TRUE(fs::exists(folder / "run.json")) << folder;
        EXPECT_TRUE(fs::exists(folder / "client.jsonl")) << folder;
        if (!fs::exists(folder / "annotated.pcapng"))
            continue;
        const auto outcome = support::run({support::rocecap(), "timeline", folder.string()});
        EXPECT_EQ(outcome.out.find("without a run log"), std::string::npos) << folder;
    }
}

TEST(Samples, are_small) {
    for (const fs::path& capture : captures())
        EXPECT_LT(fs::file_size(capture), 400'000U) << capture;
}

TEST(Samples, decode_without_a_malformed_packet_and_with_good_icrcs) {
    for (const fs::path& capture : captures())
        for (const char* command : {"decode", "verify"}) {
            const auto outcome = support::run({support::rocecap(), command, capture.string()});
            EXPECT_EQ(outcome.exit_code, 0) << capture << outcome.all().substr(0, 2000);
        }
}

TEST(Samples, have_connections_that_all_commands_agree_on) {
    std::size_t connections = 0;
    for (const fs::path& capture : captures())
        connections += support::expect_connections_agree(capture.string());
    EXPECT_GT(connections, 50U);
}

// With both logs, with one, and without any.
TEST(Samples, have_verdicts_that_no_other_command_contradicts) {
    for (const fs::path& capture : captures()) {
        const fs::path run = capture.parent_path();
        support::expect_verdicts_agree({run.string()});
        support::expect_verdicts_agree({capture.string()});
        if (run.filename().string().starts_with("27"))
            continue;  // the queue pairs are the kernel's, and in no log
        for (const char* log : {"client.jsonl", "server.jsonl"})
            support::expect_verdicts_agree({capture.string(), "--log", (run / log).string()});
    }
}

TEST(Samples, name_the_cause_of_each_packet_that_the_timeline_gives_one) {
    for (const fs::path& capture : captures()) {
        const auto all = comments(capture);
        const auto with_cause =
            std::ranges::count_if(all, [](const std::string& text) { return !text.empty(); });
        const std::string timeline = text_of(capture.parent_path() / "timeline.txt");
        std::smatch counts;
        ASSERT_TRUE(std::regex_search(
            timeline, counts,
            std::regex("([0-9]+) packets; of [0-9]+ on connected queue pairs(?: and [0-9]+ "
                       "datagrams)?, ([0-9]+) belong to a work request; of [0-9]+ others, ([0-9]+) "
                       "set up a connection")))
            << capture;
        EXPECT_EQ(std::to_string(all.size()), counts[1]) << capture;
        EXPECT_EQ(with_cause, std::stol(counts[2]) + std::stol(counts[3])) << capture;
    }
}

}  // namespace
