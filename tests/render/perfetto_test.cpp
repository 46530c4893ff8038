// The trace of a run for the Perfetto UI: what both viewers need to show it, and that nothing of the run
// is missing.
#include "render/perfetto.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support/temp_path.hpp"
#include "wire/text/summary.hpp"

namespace perfetto_test {

namespace fs = std::filesystem;
using util::Json;
using Track = std::pair<int, std::int64_t>;

Track track_of(const Json& row) {
    return {row.at("pid"), row.at("tid")};
}

struct Trace {
    timeline::FinishedRun run;
    Json rows;

    explicit Trace(const std::string& sample) : run(sample) {
        const support::TempPath temporary("trace.json");
        const std::string path = temporary.str();
        {
            capture::Sink sink = capture::Sink::create(path);
            render::Perfetto trace(run, sink, [](const wire::Packet& packet, util::Bytes frame) {
                return wire::packet_summary(packet, util::TextStyle(), frame);
            });
            run.each_row(trace);
            trace.end();
            sink.close();
        }
        std::ifstream file(path);
        rows = Json::parse(file).at("traceEvents");
    }
    std::vector<Json> all(const std::string& phase, const std::string& category = "") const {
        std::vector<Json> found;
        for (const Json& row : rows)
            if (row.at("ph") == phase && (category.empty() || row.value("cat", "") == category))
                found.push_back(row);
        return found;
    }
};

class Perfetto : public testing::TestWithParam<std::string> {
  protected:
    Trace trace_{"captures/samples/" + GetParam()};
};

TEST_P(Perfetto, has_each_packet_and_each_work_request_once) {
    EXPECT_EQ(trace_.all("X", "packet").size(), trace_.run.joins().packets);
    EXPECT_EQ(trace_.all("X", "request").size(), trace_.run.work_requests().size());
    std::size_t joined = 0;
    for (const Json& packet : trace_.all("X", "packet"))
        joined += packet.at("args").contains("request");
    EXPECT_EQ(joined, trace_.run.joins().joined);
    EXPECT_EQ(trace_.all("t").size(), joined) << "an arrow to each";
}

// Slices of one track that overlap would be drawn into each other.
TEST_P(Perfetto, has_no_two_requests_or_packets_of_a_track_at_the_same_time) {
    constexpr double rounding = 0.0011;  // µs: times are doubles
    std::map<Track, std::vector<std::pair<double, double>>> slices;
    for (const char* category : {"packet", "request"})
        for (const Json& row : trace_.all("X", category)) {
            EXPECT_GT(row.at("dur").get<double>(), 0);
            slices[track_of(row)].emplace_back(row.at("ts"), row.at("dur"));
        }
    for (auto& [track, all] : slices) {
        std::ranges::sort(all);
        for (std::size_t i = 1; i < all.size(); ++i)
            EXPECT_LE(all[i - 1].first + all[i - 1].second, all[i].first + rounding)
                << "track " << track.second;
    }
}

TEST_P(Perfetto, has_a_name_for_each_track_and_a_slice_at_both_ends_of_an_arrow) {
    std::set<Track> named;
    std::set<int> processes;
    for (const Json& row : trace_.all("M")) {
        if (row.at("name") == "thread_name")
            named.insert(track_of(row));
        else if (row.at("name") == "process_name")
            processes.insert(row.at("pid").get<int>());
    }
    std::map<Track, std::set<double>> begins;
    for (const Json& row : trace_.rows)
        if (row.at("ph") != "M") {
            EXPECT_TRUE(named.contains(track_of(row))) << row;
            EXPECT_TRUE(processes.contains(row.at("pid").get<int>())) << row;
            if (row.at("ph") == "X")
                begins[track_of(row)].insert(row.at("ts").get<double>());
        }
    std::set<std::uint64_t> begun;
    for (const Json& row : trace_.all("s")) {
        EXPECT_TRUE(begins[track_of(row)].contains(row.at("ts").get<double>())) << row;
        EXPECT_TRUE(begun.insert(row.at("id").get<std::uint64_t>()).second) << row;
    }
    for (const Json& row : trace_.all("t")) {
        EXPECT_TRUE(begins[track_of(row)].contains(row.at("ts").get<double>())) << row;
        EXPECT_TRUE(begun.contains(row.at("id").get<std::uint64_t>())) << row;
    }
}

std::vector<std::string> samples() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator("captures/samples"))
        if (fs::exists(entry.path() / "annotated.pcapng") && fs::exists(entry.path() / "run.json"))
            names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Samples, Perfetto, testing::ValuesIn(samples()),
                         [](const auto& sample) { return sample.param; });

TEST(PerfettoTrace, shows_a_retransmission_and_a_call_with_its_duration) {
    const Trace trace("captures/samples/20_one_packet");
    std::size_t again = 0;
    for (const Json& packet : trace.all("X", "packet"))
        again += packet.at("name").get<std::string>().ends_with("(again)");
    EXPECT_GT(again, 0U);
    double longest = 0;
    for (const Json& call : trace.all("X", "event"))
        longest = std::max(longest, call.at("dur").get<double>());
    EXPECT_GT(longest, 1000) << "some call takes more than a millisecond";
}

TEST(PerfettoTrace, shows_a_request_that_failed) {
    const Trace trace("captures/samples/04_access_denied");
    std::size_t failed = 0;
    for (const Json& request : trace.all("X", "request"))
        failed += request.at("name").get<std::string>().find("REM_ACCESS_ERR") != std::string::npos;
    EXPECT_GT(failed, 0U);
}

}  // namespace perfetto_test
