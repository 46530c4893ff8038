#include "support/verdict_agreement.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/tool.hpp"

namespace support {
namespace {

using nlohmann::json;

std::vector<json> objects(const char* command, const std::vector<std::string>& input) {
    Argv argv{rocecap(), command, "--json"};
    argv.insert(argv.end(), input.begin(), input.end());
    const auto outcome = run(argv);
    EXPECT_LE(outcome.exit_code, 1) << command << '\n' << outcome.err;
    std::vector<json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(json::parse(line));
    return all;
}

// The statuses of the completions in the run's logs, or in those given.
std::set<std::string> completions_in(const std::vector<std::string>& input) {
    std::set<std::string> all;
    std::vector<std::string> logs(input.begin() + 1, input.end());
    for (const char* name : {"/client.jsonl", "/server.jsonl"})
        logs.push_back(input.front() + name);
    for (const std::string& log : logs) {
        std::ifstream file(log);
        for (std::string line; std::getline(file, line);)
            if (const json event = json::parse(line); event["event"] == "wc")
                all.insert(event["status"]);
    }
    return all;
}

class Verdicts {
  public:
    explicit Verdicts(const std::vector<std::string>& input)
        : explained_(objects("explain", input).at(0)),
          flows_(objects("flows", input)),
          verified_(objects("verify", {input.front()}).at(0)),
          completions_(completions_in(input)) {
        std::erase_if(flows_, [](const json& one) { return !one.contains("flow"); });
        for (json& frame : objects("decode", {input.front()})) {
            const std::uint64_t number = frame["frame"];
            frames_[number] = std::move(frame);
        }
        // Check refuses a capture without a reliable connection.
        if (std::ranges::any_of(flows_, [](const json& one) { return one["transport"] == "RC"; }))
            checked_ = objects("check", input).at(0);
    }

    void compare() const {
        expect_checks_findings_are_causes();
        expect_failures_are_signs();
        expect_losses_are_retransmitted();
        expect_link_agrees();
        expect_receivers_were_not_ready();
        EXPECT_TRUE(verified_["icrc"]["bad"] != 0 || !(has("corruption") || has("wrong-icrc")));
        for (const json& cause : explained_["causes"])
            for (const json& one : cause["evidence"])
                if (one.contains("frame"))
                    expect_evidence_is_decoded(one);
    }

  private:
    bool has(std::string_view code) const {
        return std::ranges::any_of(explained_["causes"],
                                   [&](const json& cause) { return cause["code"] == code; });
    }

    std::uint64_t sum(const char* packets, std::initializer_list<const char*> kinds) const {
        std::uint64_t all = 0;
        for (const json& flow : flows_)
            for (const json& direction : flow["directions"])
                for (const char* kind : kinds)
                    if (const json& count = direction[packets][kind]; count.is_number())
                        all += count.get<std::uint64_t>();
        return all;
    }

    // Timers differ from the specification on many devices.
    void expect_checks_findings_are_causes() const {
        const std::set<std::string> of_timers{"timeout-early", "rnr-early", "resend-without-cause",
                                              "retries-exceeded"};
        const json& all = checked_["deviations"];
        const auto found = std::ranges::find_if(
            all, [&](const json& one) { return !of_timers.contains(one["code"]); });
        if (found != all.end()) {
            EXPECT_TRUE(explained_["failed"] || !explained_["causes"].empty()) << *found;
        }
    }

    void expect_failures_are_signs() const {
        const bool has_failed = explained_["failed"];
        for (const std::string& status : completions_)
            EXPECT_TRUE(has_failed || status == "SUCCESS" || status == "WR_FLUSH_ERR") << status;
        for (const json& flow : flows_)
            for (const json& direction : flow["directions"])
                for (const auto& [nak, count] : direction["responses"]["naks"].items())
                    EXPECT_TRUE(has_failed || nak == "PSN Sequence Error") << nak;
        EXPECT_TRUE(has_failed || explained_["signs"].empty());
    }

    void expect_losses_are_retransmitted() const {
        const bool is_disturbed = sum("requests", {"retransmitted", "gaps", "missing"}) +
                                      sum("responses", {"repeated", "gaps", "missing"}) !=
                                  0;
        for (const char* code :
             {"loss", "acks-lost", "reordering", "needless-retransmissions", "timeout-too-short"})
            EXPECT_TRUE(is_disturbed || !has(code)) << code;
    }

    // The link emulator knows whether it lost something: otherwise a host did.
    void expect_link_agrees() const {
        for (const json& one : checked_["connections"]) {
            if (one["to_qpn"].is_null() ||
                (one["forward"]["lost"] == 0 && one["backward"]["lost"] == 0))
                continue;
            const std::string pair = fmt::format("QP {:#08x}", one["to_qpn"].get<std::uint32_t>());
            for (const json& cause : explained_["causes"])
                EXPECT_TRUE(!cause["where"].get<std::string>().ends_with(pair) ||
                            cause["text"].get<std::string>().find("had arrived at the") ==
                                std::string::npos)
                    << one << cause;
        }
    }

    void expect_receivers_were_not_ready() const {
        EXPECT_TRUE(!has("receiver-not-ready") || sum("responses", {"rnr_naks"}) != 0 ||
                    completions_.contains("RNR_RETRY_EXC_ERR"));
    }

    void expect_evidence_is_decoded(const json& one) const {
        const auto frame = frames_.find(one["frame"]);
        ASSERT_NE(frame, frames_.end()) << one;
        const std::string text = one["text"];
        std::smatch psn;
        if (!text.starts_with("CM") &&
            std::regex_search(text, psn, std::regex("PSN 0x([0-9a-f]{6})"))) {
            EXPECT_EQ(frame->second["bth"]["psn"], std::stoul(psn[1], nullptr, 16)) << one;
        }
    }

    json explained_;
    std::vector<json> flows_;
    json checked_{{"deviations", json::array()}, {"connections", json::array()}};
    json verified_;
    std::set<std::string> completions_;
    std::map<std::uint64_t, json> frames_;
};

}  // namespace

void expect_verdicts_agree(const std::vector<std::string>& input) {
    std::string all;
    for (const std::string& one : input)
        all += one + ' ';
    SCOPED_TRACE(all);
    Verdicts(input).compare();
}

}  // namespace support
