// Checks of lesson 13's runs: the logs, the packets and the memory agree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/atomic_packets.hpp"

namespace support {

// Expects that each request in the log is on the wire, with the predicted PSN and the same values,
// and that its response contains the value that the program found.
inline void expect_log_is_wire(const LabRun& run) {
    const auto packets = atomic_packets(run);
    auto requests = by_psn(packets, false);
    auto answers = by_psn(packets, true);
    std::map<std::uint64_t, std::uint64_t> peer, next_psn;
    for (const auto& state : LabRun::ready_to_send(run.client)) {
        peer[state.number("qpn").value()] = state.number("dest_qpn").value();
        next_psn[state.number("qpn").value()] = state.number("sq_psn").value();
    }
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> found;  // by QPN and wr_id
    for (const auto& event : LabRun::all(run.client, "atomic"))
        found[{event.number("qpn").value(), event.number("wr_id").value()}] =
            event.number("original").value();

    for (const auto& post : LabRun::all(run.client, "post_send")) {
        const std::string what = runlog::to_text(post);
        const auto qpn = post.number("qpn").value();
        const auto psn = post.number("psn_first").value();
        EXPECT_EQ(post.number("psn_last"), psn) << what;
        EXPECT_EQ(next_psn[qpn], psn) << what;
        next_psn[qpn] = (psn + 1) & 0xffffff;
        const auto request = requests.extract({peer[qpn], psn});
        ASSERT_FALSE(request.empty()) << what;
        for (const AtomicPacket& packet : request.mapped()) {
            const bool is_add = post.number("add").has_value();
            EXPECT_EQ(packet.va, post.number("remote_va")) << what;
            EXPECT_EQ(packet.rkey, post.number("rkey")) << what;
            EXPECT_EQ(packet.swap, post.number(is_add ? "add" : "swap")) << what;
            EXPECT_EQ(is_add ? std::nullopt : std::optional(packet.compare), post.number("compare"))
                << what;
        }
        const auto answer = answers.extract({qpn, psn});
        const auto told = found.find({qpn, post.number("wr_id").value()});
        ASSERT_EQ(answer.empty(), told == found.end()) << what;
        for (const AtomicPacket& packet :
             answer.empty() ? std::vector<AtomicPacket>() : answer.mapped())
            EXPECT_EQ(packet.original, told->second) << what;
    }
    EXPECT_TRUE(requests.empty()) << requests.size() << " requests are in no log";
    EXPECT_TRUE(answers.empty()) << answers.size() << " answers are to no request";
}

// Expects that the responses to FETCH_ADDs of 1 contain each value once, from 0 on.
inline void expect_each_number_once(const LabRun& run, std::size_t count) {
    const ByPsn answers = by_psn(atomic_packets(run), true);
    std::vector<std::uint64_t> found;
    for (const auto& post : LabRun::all(run.client, "post_send")) {
        const auto answer =
            answers.find({post.number("qpn").value(), post.number("psn_first").value()});
        if (post.number("add") == 1U && answer != answers.end())
            found.push_back(answer->second.front().original);
    }
    std::ranges::sort(found);
    std::vector<std::uint64_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(found, expected);
}

inline void expect_words(const LabRun& run, std::uint64_t counter, std::uint64_t maximum) {
    for (const auto* log : {&run.server, &run.client}) {
        const auto words = LabRun::all(*log, "words");
        ASSERT_EQ(words.size(), 1U);
        EXPECT_EQ(words[0].number("counter"), counter);
        EXPECT_EQ(words[0].number("maximum"), maximum);
    }
}

}  // namespace support
