// Step 18's batches as the wire has them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace step18_checks {

inline constexpr std::uint64_t input_size = 784;
inline constexpr std::uint64_t output_size = 40;
inline constexpr std::uint32_t begin = 0xffff'ffff;

/// A WRITE, with immediate data or without.
struct Request {
    std::uint64_t frame = 0;
    std::uint32_t psn = 0;
    std::uint64_t va = 0, rkey = 0, length = 0;
    bool is_notice = false;
    std::uint32_t immediate = 0;
};

/// The requests to a queue pair of that machine, in the order of their PSNs (the capture's order is
/// that one unless packets are sent again: each PSN once). All are of one packet.
inline std::vector<Request> requests_to(const support::LabRun& run, const std::string& address,
                                        std::uint64_t qpn) {
    std::vector<Request> requests;
    std::set<std::string> seen;
    for (const auto& row :
         support::rows(run, "bth.psn,frame,reth.va,reth.r_key,reth.dmalen,bth.opcode,immdt",
                       fmt::format("ip.dst == {} and bth.destqp == {} and reth", address, qpn))) {
        if (!seen.insert(row[0]).second)
            continue;
        const auto number = [&](std::size_t i) { return std::stoull(row.at(i), nullptr, 0); };
        const bool is_notice = number(5) == 11;  // RC RDMA WRITE Only with Immediate
        EXPECT_TRUE(is_notice || number(5) == 10) << row[5];
        requests.push_back({number(1), static_cast<std::uint32_t>(number(0)), number(2), number(3),
                            number(4), is_notice,
                            is_notice ? static_cast<std::uint32_t>(number(6)) : 0});
        if (requests.size() > 1) {
            EXPECT_EQ(requests.back().psn, ((requests.end() - 2)->psn + 1) & 0xffffff);
        }
    }
    return requests;
}

/// What went one way for a batch: WRITEs and then the notice, by the notice's immediate data.
struct Passage {
    std::vector<Request> writes;
    Request notice;
};

inline std::map<std::uint32_t, Passage> passages(const std::vector<Request>& requests) {
    std::map<std::uint32_t, Passage> all;
    std::vector<Request> writes;
    for (const Request& request : requests)
        if (request.is_notice) {
            EXPECT_TRUE(all.emplace(request.immediate, Passage{std::move(writes), request}).second)
                << "batch " << request.immediate << " twice";
            writes.clear();
        } else {
            writes.push_back(request);
        }
    EXPECT_TRUE(writes.empty()) << "WRITEs without a notice";
    return all;
}

/// The batches that had a notice and no result, at most; and expects that none was written to a
/// slot before the result of the one before in it had left. The capture is the server's: what
/// stands in it before a packet had left or come before.
inline std::size_t most_outstanding(const std::map<std::uint32_t, Passage>& to_server,
                                    const std::map<std::uint32_t, Passage>& to_client,
                                    std::uint32_t depth) {
    std::map<std::uint64_t, int> steps;  // by frame
    for (const auto& [id, batch] : to_server) {
        steps[batch.notice.frame] = 1;
        steps[to_client.at(id).notice.frame] = -1;
        EXPECT_LT(batch.notice.frame, to_client.at(id).notice.frame);
        if (id >= depth) {
            EXPECT_GT(batch.writes.front().frame, to_client.at(id - depth).notice.frame)
                << "batch " << id << " overwrites one that has not been answered";
        }
    }
    int outstanding = 0;
    int most = 0;
    for (const auto& [frame, step] : steps)
        most = std::max(most, outstanding += step);
    return static_cast<std::size_t>(most);
}

}  // namespace step18_checks
