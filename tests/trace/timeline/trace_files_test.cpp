#include "trace/timeline/trace_files.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
#include "support/temp_path.hpp"
#include "tools/rocecap/capture_file.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/error.hpp"

namespace trace_files_test {

using Map = std::map<std::string, std::string>;
using timeline::trace_files;

class TraceFilesTest : public testing::Test {
  protected:
    TraceFilesTest() {
        std::filesystem::create_directories(temp_.str() + "/other");
        capture_.add(rocecap_test::frame_of(0x0a));
    }

    std::string log(const std::string& name, const std::vector<std::string>& events) const {
        std::string path = temp_.str() + "/" + name;
        std::ofstream file(path);
        for (const std::string& event : events)
            file << R"({"t_ns":1,"event":"device")" << event << "}\n";
        return path;
    }

    support::TempPath temp_{"trace_files"};
    rocecap_test::CaptureFile capture_{"trace_files_capture"};
};

TEST_F(TraceFilesTest, roles_and_addresses_come_from_the_events) {
    const auto files =
        trace_files(capture_.path(),
                    {log("a.jsonl", {R"(,"role":"app","gid":"::ffff:192.0.2.7")"}),
                     log("b.jsonl", {R"(,"role":"db","gid":"2001:db8::1")", R"(,"role":"x")"})});
    EXPECT_FALSE(files.is_run_dir);
    EXPECT_EQ(files.capture, capture_.path());
    EXPECT_EQ(files.info.roles, (std::vector<std::string>{"app", "db", "x"}));
    EXPECT_EQ(files.info.addresses, (Map{{"app", "192.0.2.7"}, {"db", "2001:db8::1"}}));
    EXPECT_TRUE(files.warnings.empty());
}

TEST_F(TraceFilesTest, events_without_a_role_are_the_file_s) {
    timeline::TraceInput input(trace_files(capture_.path(), {log("node1.jsonl", {""})}));
    EXPECT_EQ(input.files().info.roles, std::vector<std::string>{"node1"});
    EXPECT_EQ(input.next_event()->role, "node1");
}

TEST_F(TraceFilesTest, the_same_role_in_several_logs_is_told_apart) {
    const std::string same = R"(,"role":"app")";
    timeline::TraceInput input(
        trace_files(capture_.path(),
                    {log("a.jsonl", {same}), log("app.jsonl", {same}),
                     log("b.jsonl", {same, R"(,"role":"alone")"}), log("other/a.jsonl", {same})}));
    const std::vector<std::string> names = input.files().info.roles;
    EXPECT_EQ(names, (std::vector<std::string>{"a", "app", "app@b", "alone", "a-2"}));
    std::vector<std::string> roles;
    while (const auto event = input.next_event())
        roles.push_back(event->role);
    EXPECT_EQ(roles, names);
}

// The first events are read for the roles in them, and not again.
TEST_F(TraceFilesTest, a_growing_log_gives_each_event_once) {
    const std::string path = log("a.jsonl", {R"(,"role":"app")", R"(,"role":"app")"});
    timeline::TraceInput input(trace_files(capture_.path(), {path}));
    const auto count = [&] {
        int events = 0;
        while (input.next_event())
            ++events;
        return events;
    };
    EXPECT_EQ(count(), 2);
    EXPECT_EQ(count(), 0);
    std::ofstream(path, std::ios::app) << R"({"t_ns":3,"event":"note","role":"app"})"
                                       << "\nno event\n";
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(input.skipped_lines(), 1U);
}

TEST_F(TraceFilesTest, a_log_without_events_is_none) {
    std::ofstream(temp_.str() + "/text") << "not\nJSON\n";
    EXPECT_THROW(trace_files(capture_.path(), {temp_.str() + "/text"}), util::Error);
    std::ofstream(temp_.str() + "/empty").flush();
    EXPECT_EQ(trace_files(capture_.path(), {temp_.str() + "/empty"}).warnings.size(), 1U);
}

}  // namespace trace_files_test
