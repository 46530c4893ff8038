// Lesson 25's batches on the wire.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson25_checks {

inline constexpr std::uint64_t input_size = 784;
inline constexpr std::uint64_t output_size = 40;
inline constexpr std::uint32_t begin = 0xffff'ffff;

/// A WRITE, with or without immediate data.
struct Request {
    std::uint64_t frame = 0;
    std::uint32_t psn = 0;
    std::uint64_t va = 0, rkey = 0, length = 0;
    bool is_notice = false;
    std::uint32_t immediate = 0;
};

/// Returns the requests to a queue pair of this machine in PSN order, each PSN once. Without
/// retransmissions, this is the capture order. All requests are one packet.
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

/// The WRITEs of a batch in one direction and the final notice. passages() returns them by the
/// notice's immediate data.
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

/// Returns the maximum number of batches with a notice and without a result. Expects that no batch
/// was written to a slot before the result of the slot's previous batch was sent. The capture was
/// made on the server, so its order is the order in which the server sent and received.
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

}  // namespace lesson25_checks
