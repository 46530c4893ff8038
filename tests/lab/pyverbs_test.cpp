// rdma-core's tests of its Python bindings, on the server's Soft-RoCE device: they have the same
// results with and without tracing, and each completion belongs to a posted request. Both queue
// pairs are on one host, so no packet can be captured.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/send_queues.hpp"
#include "support/tool.hpp"

namespace pyverbs_test {

namespace fs = std::filesystem;
using support::Argv;

constexpr const char* installed = "/usr/share/doc/rdma-core/tests";

// The modules of rdma-core with tests that Soft-RoCE in a guest supports. All tests of the other
// modules are skipped there.
constexpr std::array modules{"test_addr", "test_atomic", "test_cq",   "test_cq_events",
                             "test_cqex", "test_device", "test_fork", "test_mr",
                             "test_pd",   "test_qp",     "test_qpex", "test_relaxed_ordering"};

class Pyverbs : public testing::Test {
  protected:
    void SetUp() override {
        if (!fs::exists(installed))
            GTEST_SKIP() << installed << " is missing (package rdma-core, with its documentation)";
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        fs::remove_all(folder_);
        fs::create_directories(folder_.parent_path());
        fs::copy(installed, folder_, fs::copy_options::recursive);
        for (const auto& file : fs::directory_iterator(folder_)) {
            if (file.path().extension() == ".gz") {
                ASSERT_EQ(support::run({"gunzip", file.path().string()}).exit_code, 0);
            }
        }
    }

    // Returns the result of each test: "ok", "skipped", "FAIL" or "ERROR".
    std::map<std::string, std::string> run(const Argv& before, const Argv& names) const {
        Argv argv = before;
        // A warning of Python 3.13 would come between a test's name and its result.
        argv.insert(argv.end(),
                    {"env", "PYTHONWARNINGS=ignore", "python3", (folder_ / "run_tests.py").string(),
                     "--dev", "rxe0", "--gid", "1", "-v"});
        argv.insert(argv.end(), names.begin(), names.end());
        const auto outcome = support::exec("server", argv, std::chrono::minutes(5));
        EXPECT_FALSE(outcome.timed_out) << outcome.all();
        std::map<std::string, std::string> results;
        std::istringstream lines(outcome.err);
        std::string name;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("test_"))
                name = line.substr(0, line.find(')') + 1);
            const auto at = line.rfind("... ");
            if (at == std::string::npos || name.empty())
                continue;
            results[name] = line.substr(at + 4, line.find(' ', at + 4) - at - 4);
        }
        EXPECT_FALSE(results.empty()) << outcome.all();
        return results;
    }

    fs::path folder_ = support::build_dir() / "guests/pyverbs/tests";
    std::string log_ = (support::build_dir() / "guests/pyverbs.jsonl").string();
};

// Returns a random half of the modules. TEST_SEED=N selects the half of an earlier run.
Argv some_modules() {
    const char* asked = std::getenv("TEST_SEED");
    const auto seed =
        asked == nullptr ? std::random_device{}() : static_cast<unsigned>(std::stoul(asked));
    fmt::print("TEST_SEED={}\n", seed);
    std::mt19937 random(seed);
    Argv names;
    std::ranges::sample(modules, std::back_inserter(names), modules.size() / 2, random);
    for (std::string& name : names)
        name.insert(0, "tests.");
    return names;
}

// Expects that each completion belongs to a posted request. Completions of receives from a shared
// receive queue are exempt: rocetrace does not number these receives.
void expect_each_completion_matched(const std::vector<runlog::Event>& log) {
    std::set<std::uint64_t> with_srq;
    std::size_t completions = 0;
    for (const auto& event : log) {
        const auto qpn = event.number("qpn").value_or(0);
        if (event.name == "qp" && event.number("srq"))
            with_srq.insert(qpn);
        else if (event.name == "qp")
            with_srq.erase(qpn);
        if (event.name == "wc") {
            EXPECT_TRUE(event.number("request") ||
                        (event.text("queue") == "recv" && with_srq.contains(qpn)))
                << runlog::to_json(event);
            ++completions;
        }
        EXPECT_NE(event.name, "dropped") << runlog::to_json(event);
    }
    const auto queues = support::send_queues_of(log, "server");
    std::uint64_t posted = 0;
    for (const auto& queue : queues)
        posted += queue.posted;
    fmt::print("{} queue pairs, {} requests posted, {} completions\n", queues.size(), posted,
               completions);
}

TEST_F(Pyverbs, has_the_same_results_traced_and_untraced) {
    const Argv names = some_modules();
    const auto untraced = run({}, names);
    const auto traced =
        run({(support::build_dir() / "rocetrace").string(), "-o", log_, "--role", "server", "--"},
            names);
    for (const auto& [test, result] : untraced) {
        const auto same = traced.find(test);
        EXPECT_EQ(same == traced.end() ? "none" : same->second, result) << test;
    }
    EXPECT_EQ(traced.size(), untraced.size());
    const auto passed =
        std::ranges::count_if(traced, [](const auto& test) { return test.second == "ok"; });
    EXPECT_GT(passed, 0);
    fmt::print("{} tests, {} passed\n", traced.size(), passed);
    expect_each_completion_matched(support::events_of(log_));
}

}  // namespace pyverbs_test
