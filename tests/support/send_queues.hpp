// The send queues of a log of rocetrace: what was posted, and what became of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/lab.hpp"

namespace support {

struct SendQueue {
    std::string host;
    std::uint64_t qpn = 0;
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;  // an unsignalled request completes with the next signalled one

    bool operator==(const SendQueue&) const = default;
};

/// Of each queue pair that the log makes, in this order. Expects of each completion that its
/// request was posted, with its wr_id; that the requests it passes over were not signalled; and
/// that rocetrace counted the same when the queue pair was destroyed.
std::vector<SendQueue> send_queues_of(const std::vector<runlog::Event>& log,
                                      const std::string& host);

/// Expects that no event of the logs is missing and that `rocetrace --summary` has the same: for
/// each queue pair, posted = completed + outstanding. The queues of both logs.
std::vector<SendQueue> expect_each_request_accounted(const LabRun& run);

}  // namespace support
