#include "support/lesson24_checks.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace support {

std::vector<RankEnd> ends_of(const runlog::Event& record, const std::string& which) {
    std::vector<RankEnd> ends;
    std::istringstream parts{std::string(record.text(which))};
    for (std::string part; std::getline(parts, part, ',');) {
        std::istringstream words(part);
        std::string qpn, psn;
        words >> qpn >> psn;
        ends.push_back({std::stoull(qpn, nullptr, 0), std::stoull(psn, nullptr, 0)});
    }
    return ends;
}

void expect_barriers_held(const std::vector<std::vector<runlog::Event>>& logs, std::size_t ranks,
                          std::size_t barriers) {
    std::map<std::string, std::map<std::uint64_t, std::string>> tickets;  // by barrier and rank
    for (const auto& log : logs)
        for (const auto& enter : LabRun::all(log, "enter"))
            tickets[std::string(enter.text("barrier"))][enter.number("rank").value()] =
                fmt::format("{:#010x}", enter.number("ticket").value());
    EXPECT_EQ(tickets.size(), barriers);
    std::map<std::string, std::size_t> left;
    std::set<std::string> all_tickets;
    for (const auto& log : logs)
        for (const auto& leave : LabRun::all(log, "leave")) {
            const std::string barrier(leave.text("barrier"));
            std::string expected;
            for (const auto& [rank, ticket] : tickets[barrier])
                expected += (expected.empty() ? "" : " ") + ticket;
            EXPECT_EQ(leave.text("tickets"), expected) << barrier;
            ++left[barrier];
        }
    for (const auto& [barrier, of_ranks] : tickets) {
        EXPECT_EQ(of_ranks.size(), ranks) << barrier;
        EXPECT_EQ(left[barrier], ranks) << barrier;
        for (const auto& [rank, ticket] : of_ranks)
            EXPECT_TRUE(all_tickets.insert(ticket).second) << ticket << " is not new";
    }
}

std::string pid_of_rank(const std::string& output, unsigned rank) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(output, found,
                                  std::regex(fmt::format("rank {} on [^,]*, pid ([0-9]+):", rank))))
        << output;
    return found.size() > 1 ? found[1].str() : "0";
}

}  // namespace support
