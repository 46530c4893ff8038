// A program that posts and polls in every way (tests/stress) gets the same results with and without
// rocetrace, and the log has the request of each completion.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/send_queues.hpp"
#include "support/tool.hpp"

namespace stress_test {

using support::Argv;

class Stress : public testing::Test {
  protected:
    void SetUp() override {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    support::Outcome run(const Argv& before, unsigned seed, unsigned rounds) const {
        Argv argv = before;
        argv.insert(argv.end(), {(support::build_dir() / "tests/stress").string(),
                                 std::to_string(seed), std::to_string(rounds), own_});
        return support::exec("server", argv, std::chrono::minutes(10));
    }

    // "17 send 5 3": queue pair, queue, wr_id and number of the request, of each completion.
    std::vector<std::string> known_to_the_program() const {
        std::vector<std::string> lines;
        std::ifstream file(own_);
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
        std::ranges::sort(lines);
        return lines;
    }
    std::vector<std::string> logged() const {
        std::vector<std::string> lines;
        for (const auto& event : support::events_of(log_)) {
            EXPECT_NE(event.name, "dropped") << runlog::to_json(event);
            EXPECT_FALSE(event.number("forgotten")) << runlog::to_json(event);
            if (event.name == "wc")
                lines.push_back(fmt::format(
                    "{} {} {} {}", event.number("qpn").value_or(0), event.text("queue"),
                    event.number("wr_id").value_or(0),
                    event.number("request") ? std::to_string(*event.number("request")) : "none"));
        }
        std::ranges::sort(lines);
        return lines;
    }

    void expect_the_same(unsigned seed, unsigned rounds) const {
        const auto untraced = run({}, seed, rounds);
        EXPECT_EQ(untraced.exit_code, 0) << untraced.all();
        EXPECT_EQ(untraced.out.find("unexpected"), std::string::npos) << untraced.out;
        const auto traced =
            run({(support::build_dir() / "rocetrace").string(), "-o", log_, "--"}, seed, rounds);
        EXPECT_EQ(untraced.all(), traced.all());
        const auto known = known_to_the_program();
        EXPECT_FALSE(known.empty());
        EXPECT_EQ(known, logged());
        fmt::print("TEST_SEED={}: {} completions\n", seed, known.size());
    }

    std::string own_ = (support::build_dir() / "guests/stress.completions").string();
    std::string log_ = (support::build_dir() / "guests/stress.jsonl").string();
};

TEST_F(Stress, a_program_does_not_notice_that_it_is_traced) {
    expect_the_same(1, 2);
}

// TEST_SEED=N repeats one of the earlier runs.
TEST_F(Stress, nor_does_one_that_does_other_things_for_ten_minutes) {
    constexpr unsigned rounds = 50;  // on a busy machine, several minutes
    if (const char* asked = std::getenv("TEST_SEED"); asked != nullptr) {
        expect_the_same(static_cast<unsigned>(std::stoul(asked)), rounds);
        return;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    while (std::chrono::steady_clock::now() < end && !HasFailure())
        expect_the_same(std::random_device{}(), rounds);
}

}  // namespace stress_test
