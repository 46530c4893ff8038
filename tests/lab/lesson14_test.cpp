// Lesson 14 in the lab: the cost of registering memory, its limit, and how to avoid it.
#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "lab/lesson14_checks.hpp"
#include "support/step_checks.hpp"

namespace lesson14_test {

const std::string program = "build/examples/14_registration_cost/main";
constexpr std::uint64_t mib = 1 << 20;

std::vector<runlog::Event> run(const support::Argv& more = {}) {
    support::Argv command{program, "--run-log", "-"};
    command.insert(command.end(), more.begin(), more.end());
    const auto outcome = support::exec("client", command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    return events_of(outcome);
}

// Returns the hits of a cache with LRU replacement under a Zipf distribution, calculated
// independently of the lesson's code.
std::uint64_t hits_counted_anew(const runlog::Event& event) {
    const auto buffers = event.number("buffers").value();
    const auto places = event.number("room").value() / event.number("len").value();
    double all = 0;
    for (std::uint64_t i = 1; i <= buffers; ++i)
        all += 1.0 / static_cast<double>(i);
    std::mt19937_64 random(event.number("seed").value());
    std::vector<std::uint64_t> kept;  // the most recently used one is last
    std::uint64_t hits = 0;
    for (std::uint64_t use = event.number("accesses").value(); use > 0; --use) {
        const double wanted = static_cast<double>(random() >> 11) / 9007199254740992.0 * all;
        std::uint64_t buffer = 0;
        double sum = 1.0;
        while (sum <= wanted)
            sum += 1.0 / static_cast<double>(++buffer + 1);
        hits += static_cast<std::uint64_t>(std::erase(kept, buffer));
        kept.push_back(buffer);
        if (kept.size() > places)
            kept.erase(kept.begin());
    }
    return hits;
}

class Lesson14 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        log_of_run = new std::vector<runlog::Event>(run({"--most", "64MiB", "--csv", csv}));
    }
    static void TearDownTestSuite() {
        delete log_of_run;
        std::remove(csv);
    }
    static const runlog::Event& only(std::string_view name) {
        static const runlog::Event none;
        const auto* event = support::LabRun::find(*log_of_run, name);
        EXPECT_NE(event, nullptr) << name;
        return event == nullptr ? none : *event;
    }

    static constexpr auto csv = "build/guests/lesson14.csv";  // guests may write here
    static inline const std::vector<runlog::Event>* log_of_run = nullptr;
};

TEST_F(Lesson14, measures_each_size_with_touched_and_untouched_pages) {
    std::map<std::string, std::map<std::uint64_t, std::uint64_t>> medians;  // memory, size
    for (const auto& event : support::LabRun::all(*log_of_run, "registration")) {
        for (const std::string verb : {"reg", "dereg"}) {
            const auto p50 = event.number(verb + "_p50_ns").value();
            EXPECT_GE(p50, event.number(verb + "_min_ns").value());
            EXPECT_LE(p50, event.number(verb + "_max_ns").value());
            EXPECT_GT(p50, 0u);
        }
        EXPECT_GE(event.number("repeats").value(), 3u);
        EXPECT_EQ(event.number("pages").value() * event.number("page_size").value(),
                  event.number("len").value());
        if (event.number("page_size") == 4096)
            medians[std::string(event.text("memory"))][event.number("len").value()] =
                event.number("reg_p50_ns").value();
    }
    for (const std::string memory : {"untouched", "touched"}) {
        std::vector<std::uint64_t> sizes;
        for (const auto& [size, median] : medians[memory])
            sizes.push_back(size);
        EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4096, 16384, 65536, 262144, mib, 4 * mib,
                                                     16 * mib, 64 * mib}));
        EXPECT_GT(medians[memory][64 * mib], medians[memory][4096]);
    }
    EXPECT_GT(medians["untouched"][64 * mib], medians["touched"][64 * mib]);
}

TEST_F(Lesson14, measures_huge_pages_or_says_that_there_are_none) {
    const auto rows = support::LabRun::all(*log_of_run, "registration");
    const auto huge =
        std::ranges::count_if(rows, [](const auto& e) { return e.number("page_size") != 4096; });
    if (has_note(*log_of_run, "no huge pages here"))
        EXPECT_EQ(huge, 0);
    else
        EXPECT_EQ(huge, 6);  // 4, 16 and 64 MiB, untouched and touched
}

TEST_F(Lesson14, writes_the_same_table_as_csv) {
    std::ifstream file(csv);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line.substr(0, 27), "len,memory,page_size,pages,");
    for (const auto& event : support::LabRun::all(*log_of_run, "registration")) {
        ASSERT_TRUE(std::getline(file, line));
        EXPECT_EQ(line.substr(0, line.find(',')), std::to_string(event.number("len").value()));
        EXPECT_EQ(line.substr(line.rfind(',') + 1),
                  std::to_string(event.number("dereg_max_ns").value()));
    }
    EXPECT_FALSE(std::getline(file, line));
}

TEST_F(Lesson14, the_cache_hits_as_often_as_counted_by_hand) {
    const auto& event = only("mr_cache");
    EXPECT_EQ(event.number("hits"), hits_counted_anew(event));
    EXPECT_EQ(*event.number("hits") + *event.number("misses"), event.number("accesses"));
    EXPECT_LT(event.number("hit_p50_ns").value(), event.number("each_p50_ns").value());
    EXPECT_LT(event.number("hit_p50_ns").value(), event.number("miss_p50_ns").value());
    const auto other = run({"--most", "4096", "--seed", "77", "--accesses", "300", "--room", "1MiB",
                            "--repeats", "1"});
    const auto* again = support::LabRun::find(other, "mr_cache");
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->number("accesses"), 300u);
    EXPECT_EQ(again->number("hits"), hits_counted_anew(*again));
    EXPECT_NE(again->number("hits"), event.number("hits"));
}

TEST_F(Lesson14, a_cache_that_was_not_told_of_munmap_gives_out_the_old_pages) {
    const auto seen = support::LabRun::all(*log_of_run, "remapped");
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].text("cache"), "not told");
    EXPECT_EQ(seen[0].text("memory"), "NOT written");
    EXPECT_EQ(seen[1].text("cache"), "told");
    EXPECT_EQ(seen[1].text("memory"), "written");
    for (const auto& event : seen)
        EXPECT_EQ(event.text("status"), "SUCCESS");
}

TEST_F(Lesson14, meets_the_locked_memory_limit_and_goes_on) {
    const auto& event = only("memlock");
    EXPECT_EQ(*event.number("registered") * *event.number("len"), event.number("limit"));
    EXPECT_EQ(event.text("text"),
              "ibv_reg_mr(65536 bytes) failed: Cannot allocate memory. The locked-memory limit is "
              "256 KiB: raise it with ulimit -l.");
}

TEST_F(Lesson14, a_window_ends_with_its_invalidation) {
    std::map<std::uint64_t, std::string> last;  // type, status of the last WRITE
    for (const auto& event : support::LabRun::all(*log_of_run, "mw"))
        last[event.number("type").value()] = event.text("status");
    for (const std::uint64_t type : {1, 2}) {
        if (has_note(*log_of_run, "no memory windows of type " + std::to_string(type)))
            EXPECT_FALSE(last.contains(type));
        else
            EXPECT_EQ(last[type], "REM_ACCESS_ERR") << type;
    }
    EXPECT_EQ(support::LabRun::all(*log_of_run, "mw_cost").size(), last.contains(1) ? 2u : 0u);
}

TEST_F(Lesson14, its_log_has_each_registration_and_each_window) {
    std::uint64_t measured = 0;
    for (const auto& event : support::LabRun::all(*log_of_run, "registration"))
        measured += event.number("repeats").value();
    const auto& cache = only("mr_cache");
    EXPECT_GE(support::LabRun::all(*log_of_run, "mr").size(),
              measured + cache.number("accesses").value() + cache.number("misses").value());
    if (!has_note(*log_of_run, "no memory windows of type 1")) {
        EXPECT_EQ(support::LabRun::all(*log_of_run, "bind_mw").size(), 2U + 2 * 9);
    }
}

TEST_F(Lesson14, a_part_runs_alone) {
    const auto log = run({"--limit"});
    EXPECT_NE(support::LabRun::find(log, "memlock"), nullptr);
    for (const char* other : {"registration", "mr_cache", "mw", "odp_reg"})
        EXPECT_EQ(support::LabRun::find(log, other), nullptr) << other;
}

TEST_F(Lesson14, on_demand_paging_pins_nothing_and_follows_munmap_or_is_missing) {
    const auto log = run({"--odp"});
    if (has_note(log,
                 "this device has no on-demand paging, which Soft-RoCE has since Linux 6.16")) {
        for (const char* event : {"odp_reg", "odp_write", "odp_unmap", "odp_place"})
            EXPECT_EQ(support::LabRun::find(log, event), nullptr) << event;
        return;
    }
    expect_on_demand_paging(log);
}

TEST_F(Lesson14, an_ordinary_user_measures_as_far_as_the_limit_goes) {
    const auto outcome = support::exec(
        "client", {"setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "prlimit",
                   "--memlock=8388608", program, "--run-log", "-", "--repeats", "1"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const auto log = events_of(outcome);
    EXPECT_TRUE(has_note(log, "the sizes end at 4 MiB: the locked-memory limit is 8 MiB"))
        << outcome.all();
    EXPECT_NE(support::LabRun::find(log, "memlock"), nullptr);
}

TEST_F(Lesson14, says_in_one_sentence_what_it_cannot_do) {
    for (const auto& [arguments, says, code] :
         {std::tuple{support::Argv{"--most", "100"}, "--most: Value 100 not in range", 2},
          std::tuple{support::Argv{"--most", "1x"}, "--most: x unit not recognized", 2},
          std::tuple{support::Argv{"--most", "512GiB"}, "memory are available", 1},
          std::tuple{support::Argv{"--csv", "/nonexistent/x"}, "cannot write '/nonexistent/x'", 1},
          std::tuple{support::Argv{"--device", "none0"}, "no RDMA device 'none0'", 1}}) {
        support::Argv command{program};
        command.insert(command.end(), arguments.begin(), arguments.end());
        support::expect_one_sentence(support::exec("client", command), code, says);
    }
}

TEST_F(Lesson14, ends_when_it_is_told_to) {
    support::Process measuring =
        support::start("client", {program, "--repeats", "1000", "--accesses", "1000000"});
    ASSERT_TRUE(measuring.await("registration", std::chrono::seconds(20)));
    measuring.close_input();
    const auto outcome = measuring.wait(std::chrono::seconds(10));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("stopped by a signal."), std::string::npos) << outcome.all();
}

}  // namespace lesson14_test
