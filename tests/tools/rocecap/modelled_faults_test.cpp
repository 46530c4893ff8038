// Modelled runs under rules of the link emulator, which says what became of each packet: what explain
// says of the capture at one place, of both sides of the link, and of the run with the emulator's log.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace modelled_faults_test {

using nlohmann::json;
using Rules = std::vector<std::string>;

class ModelledRun {
  public:
    ModelledRun(const std::string& sample, unsigned ack_timeout, const Rules& rules,
                unsigned retry_cnt = 7)
        : folder_("modelled_faults") {
        std::vector<std::string> command{support::rocecap(),
                                         "simulate",
                                         "captures/samples/" + sample,
                                         "-o",
                                         folder_.str(),
                                         "--ack-timeout",
                                         std::to_string(ack_timeout),
                                         "--retry-cnt",
                                         std::to_string(retry_cnt)};
        command.insert(command.end(), rules.begin(), rules.end());
        const auto run = support::run(command);
        EXPECT_EQ(run.exit_code, 0) << run.all();
    }

    /// `capture`: "wire.pcapng", at the server; "link.pcapng", both sides of the link; "": the run.
    json explained(const std::string& capture) const { return result("explain", capture); }
    json checked(const std::string& capture) const { return result("check", capture); }

    /// What check and flows have of the connections at the server that were recorded in order: "<to>
    /// <queue pair>: <retransmitted or late> retransmitted, <n> copied".
    std::map<std::string, std::string> repeated_of_check() const {
        std::map<std::string, std::string> all;
        const json report = checked("wire.pcapng");
        for (const json& one : report["connections"])
            for (const auto& [direction, to, qpn] : {std::tuple("forward", "to", "to_qpn"),
                                                     std::tuple("backward", "from", "from_qpn")}) {
                const json& half = one[direction];
                if (one[qpn].is_null() || half["out_of_order"] != 0)
                    continue;
                all[fmt::format("{} {}", one[to].get<std::string>(), one[qpn].get<unsigned>())] =
                    fmt::format("{} retransmitted, {} copied", half["repeated"].get<unsigned>(),
                                half["copied"].get<unsigned>());
            }
        return all;
    }
    std::map<std::string, std::string> repeated_of_flows() const {
        std::map<std::string, std::string> all;
        std::istringstream lines(output("flows", "wire.pcapng"));
        for (std::string line; std::getline(lines, line);) {
            const json one = json::parse(line);
            if (!one.contains("directions") || one["transport"] != "RC")
                continue;
            for (const json& half : one["directions"]) {
                const json& requests = half["requests"];
                if (requests["packets"] == 0)
                    continue;
                all[fmt::format("{} {}", half["dst"].get<std::string>(),
                                half["destqp"].get<unsigned>())] =
                    fmt::format("{} retransmitted, {} copied",
                                requests["retransmitted"].get<unsigned>() +
                                    requests["late"].get<unsigned>(),
                                requests["copied"].get<unsigned>());
            }
        }
        return all;
    }

  private:
    std::string output(const char* command, const std::string& capture) const {
        const auto run =
            support::run({support::rocecap(), command, "--json", folder_.str() + '/' + capture});
        EXPECT_LE(run.exit_code, 1) << run.all();
        return run.out;
    }
    json result(const char* command, const std::string& capture) const {
        return json::parse(output(command, capture));
    }

    support::TempPath folder_;
};

// "loss certain, fatal"; all of them, the most probable one first.
std::string causes(const json& explanation) {
    std::vector<std::string> all;
    for (const json& one : explanation["causes"]) {
        std::string told = fmt::format("{} {}{}", one["code"].get<std::string>(),
                                       one["certainty"].get<std::string>(),
                                       one["fatal"].get<bool>() ? ", fatal" : "");
        if (std::ranges::find(all, told) == all.end())
            all.push_back(std::move(told));
    }
    return fmt::format("{}", fmt::join(all, "; "));
}

struct Told {
    const char* sample;
    unsigned ack_timeout;
    Rules rules;
    const char *at_server, *at_both_ends, *of_run;
    unsigned retry_cnt = 7;
};

class ModelledFault : public testing::TestWithParam<Told> {};

TEST_P(ModelledFault, has_its_cause) {
    const Told& told = GetParam();
    const ModelledRun run(told.sample, told.ack_timeout, told.rules, told.retry_cnt);
    EXPECT_EQ(causes(run.explained("wire.pcapng")), told.at_server);
    EXPECT_EQ(causes(run.explained("link.pcapng")), told.at_both_ends);
    EXPECT_EQ(causes(run.explained("")), told.of_run);
}

INSTANTIATE_TEST_SUITE_P(
    All, ModelledFault,
    testing::Values(
        // A response, and the copy of a request that nobody misses.
        Told{"01_cm_write_read",
             14,
             {"drop packets 4 to 5"},
             "needless-retransmissions possible",
             "loss certain",
             "loss likely"},
        // The ends of messages never get through: the responder has nothing to respond to.
        Told{"22_bulk_vs_tcp",
             8,
             {"limit to 50Mbit/s queue 5 packets"},
             "loss likely, fatal; reordering likely",
             "loss certain, fatal",
             "loss certain, fatal; reordering likely"},
        // The original comes 30 ms later, behind the retransmission.
        Told{"23_parameter_server",
             12,
             {"delay 30ms every 15th packet from client"},
             "reordering likely",
             "reordering certain",
             "reordering certain"},
        // The packet becomes one of another sequence of PSNs.
        Told{"19_packet_loss",
             12,
             {"set bth.psn to 5 every 13th packet from client"},
             "loss likely",
             "corruption certain",
             "loss certain"},
        // The first packet of a queue pair.
        Told{"24_rendezvous",
             16,
             {"drop 3% of packets seed 34"},
             "loss likely",
             "loss certain",
             "loss certain"},
        // Both copies of a packet arrive with a wrong ICRC.
        Told{"23_parameter_server",
             8,
             {"corrupt the 9th packet from server", "corrupt byte 20 10% of packets seed 26"},
             "corruption certain",
             "corruption certain",
             "corruption certain"},
        // All packets but the first: the requester gives up, and the responder had nothing to respond to.
        Told{"01_cm_write_read",
             14,
             {"cut for 1s at the 2nd packet from client"},
             "",
             "loss certain, fatal",
             "loss likely, fatal"},
        Told{"20_one_packet",
             14,
             {"mark every 3rd packet from client"},
             "congestion certain",
             "congestion certain",
             "congestion certain"},
        // An acknowledgement, which the next one makes needless.
        Told{"24_rendezvous", 0, {"drop the 5th packet from client"}, "", "", ""},
        // The end of the last message, which nobody sends again: the last packet of the capture.
        Told{"20_one_packet",
             14,
             {"drop the 9th packet from client"},
             "",
             "",
             "loss likely, fatal",
             0},
        Told{"20_one_packet",
             0,
             {"drop the 9th packet from client"},
             "",
             "",
             "loss likely, fatal"}));

// Rules as users write them, in any combination.
Rules random_rules(std::mt19937& random) {
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    const auto one_of = [&](const auto& all) {
        return all[below(static_cast<std::uint32_t>(all.size()))];
    };
    constexpr std::array actions{"drop",         "duplicate",    "duplicate after 3ms",
                                 "delay 5ms",    "delay 30ms",   "delay 100us",
                                 "reorder by 1", "reorder by 3", "corrupt"};
    constexpr std::array ends{"", " from client", " from server"};
    Rules rules;
    for (std::uint32_t count = 1 + below(2); count != 0; --count) {
        const std::uint32_t n = 4 + below(17);  // 4th to 20th
        const std::array which{fmt::format("packets {} to {}", n, n + below(6)),
                               fmt::format("every {}th packet", n),
                               fmt::format("{}% of packets seed {}", 1 + below(25), n)};
        rules.push_back(fmt::format("{} {}{}", one_of(actions), one_of(which), one_of(ends)));
    }
    return rules;
}

// What check counts on both sides of the link: "lost", "reordered", "doubled", "corrupted", "repeated".
std::map<std::string, std::uint64_t> counts(const json& report) {
    std::map<std::string, std::uint64_t> sums;
    for (const json& connection : report["connections"])
        for (const char* direction : {"forward", "backward"})
            for (const char* what : {"lost", "reordered", "doubled", "corrupted", "repeated"})
                sums[what] += connection[direction][what].get<std::uint64_t>();
    return sums;
}

using Repeated = std::map<std::string, std::string>;

// Those of the second that are in both, if the first has them otherwise.
Repeated differing(const Repeated& from, const Repeated& all) {
    Repeated found;
    for (const auto& [where, counts] : all)
        if (const auto other = from.find(where); other != from.end() && other->second != counts)
            found[where] = fmt::format("{}, not {}", counts, other->second);
    return found;
}

class ModelledFaults : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ModelledFaults, are_what_check_has_and_never_left_out) {
    constexpr std::array samples{
        "01_cm_write_read",    "08_secure_multi_client", "13_atomics",    "19_packet_loss",
        "23_parameter_server", "25_inference_batching",  "26_all_reduce", "27_read"};
    std::mt19937 random(GetParam());
    const char* sample = samples[random() % samples.size()];
    const Rules rules = random_rules(random);
    const ModelledRun run(sample, random() % 2 == 0 ? 12 : 14, rules);
    SCOPED_TRACE(fmt::format("{}: {}", sample, fmt::join(rules, "; ")));
    // The path's faults are those of the emulator. What it doubled may also be late.
    auto truth = counts(run.checked("link.pcapng"));
    const json both = run.explained("link.pcapng");
    const std::map<std::string, std::uint64_t> needed{
        {"loss", truth["lost"]},
        {"path-broken", truth["lost"]},
        {"reordering", truth["reordered"] + truth["doubled"]},
        {"corruption", truth["corrupted"]}};
    for (const json& cause : both["causes"]) {
        const auto found = needed.find(cause["code"].get<std::string>());
        EXPECT_TRUE(found == needed.end() || found->second != 0) << cause["text"];
        EXPECT_NE(cause["code"], "deviation") << cause["text"];
    }
    // What both count of the same capture.
    const Repeated of_check = run.repeated_of_check();
    EXPECT_FALSE(of_check.empty());
    EXPECT_EQ(differing(run.repeated_of_flows(), of_check), Repeated{});
    // What was sent again has a cause, or is listed without one.
    for (const char* capture : {"wire.pcapng", "link.pcapng"}) {
        const json explanation = run.explained(capture);
        EXPECT_TRUE(counts(run.checked(capture))["repeated"] == 0 ||
                    !explanation["causes"].empty() || !explanation["retransmissions"].empty())
            << capture;
    }
}

// TEST_MODELLED_RUNS: another number of them.
std::uint32_t runs() {
    const char* asked = std::getenv("TEST_MODELLED_RUNS");
    return asked == nullptr ? 24 : static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelledFaults, testing::Range(std::uint32_t{0}, runs()));

}  // namespace modelled_faults_test
