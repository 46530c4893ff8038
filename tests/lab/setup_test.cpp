// The benchmark of connection setup, with few connections: its results are consistent.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/lab.hpp"

namespace setup_test {

using nlohmann::json;

class SetUp : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        std::filesystem::remove(file);
        outcome = support::run({"bench/setup/run"}, {"SETUP_CONNECTIONS=10", "SETUP_JSON=" + file},
                               std::chrono::minutes(3));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
        std::ifstream in(file);
        result = json::parse(in);
    }

    static const json& method(const std::string& name) {
        return *std::ranges::find(result["methods"], name,
                                  [](const json& it) { return it["name"].get<std::string>(); });
    }

    static inline const std::string file = "build/bench/setup_test.json";
    static inline support::Outcome outcome;
    static inline json result;
};

TEST_F(SetUp, every_method_has_all_its_connections) {
    ASSERT_EQ(result["methods"].size(), 8U);
    for (const json& method : result["methods"])
        EXPECT_EQ(method["samples"].size(), 10U) << method["name"];
    EXPECT_EQ(result["cmtime"].count("connect"), 1U) << result["cmtime"];
}

TEST_F(SetUp, phases_add_up_to_the_total) {
    for (const json& method : result["methods"])
        for (const json& sample : method["samples"]) {
            std::int64_t sum = 0;
            for (const auto& [phase, unused] : method["phases"].items())
                sum += sample[phase].get<std::int64_t>();
            EXPECT_EQ(sum, sample["total"]) << method["name"];
            EXPECT_EQ(sum - sample["first_byte"].get<std::int64_t>(), sample["connected"]);
        }
}

TEST_F(SetUp, a_method_has_the_phases_that_it_should) {
    const std::map<std::string, std::vector<std::string>> none{
        {"cm", {"tls_handshake", "device_open", "states"}},
        {"tcp", {"tls_handshake", "device_open"}},
        {"resumed", {"device_open"}},
        {"kept", {"connect", "tls_handshake", "device_open"}},
        {"tls+open", {}},
    };
    for (const auto& [name, absent] : none)
        for (const json& sample : method(name)["samples"])
            for (const auto& [phase, unused] : method(name)["phases"].items())
                EXPECT_EQ(sample[phase] == 0, std::ranges::count(absent, phase) == 1)
                    << name << ": " << phase;
}

TEST_F(SetUp, sessions_are_resumed_where_they_should_be_and_nowhere_else) {
    EXPECT_FALSE(method("resumed")["first"]["resumed"]) << "there was no session yet";
    for (const json& method : result["methods"]) {
        const bool resumes = method["name"].get<std::string>().starts_with("resumed");
        for (const json& sample : method["samples"])
            EXPECT_EQ(sample["resumed"], resumes) << method["name"];
    }
}

TEST_F(SetUp, the_table_fits_into_a_hundred_columns) {
    std::istringstream lines(outcome.out);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        EXPECT_LE(line.size(), 100U) << line;
    EXPECT_GT(count, 30U) << outcome.out;
}

TEST_F(SetUp, nothing_is_left_running) {
    for (const char* program : {"build/bench/setup/server", "cmtime"}) {
        const auto left = support::exec("server", {"pgrep", "-f", std::string("^") + program});
        EXPECT_EQ(left.exit_code, 1) << left.out;
    }
}

}  // namespace setup_test
