// The send queues of a log of rocetrace: posted and completed requests.
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

/// Returns the send queues of all queue pairs in the log, in order of creation. Expects that the
/// request of each completion was posted with this wr_id, that the requests it skips were not
/// signalled, and that rocetrace counted the same when the queue pair was destroyed.
std::vector<SendQueue> send_queues_of(const std::vector<runlog::Event>& log,
                                      const std::string& host);

/// Expects that the logs lost no event and that `rocetrace --summary` has the same numbers: for
/// each queue pair, posted = completed + outstanding. Returns the queues of both logs.
std::vector<SendQueue> expect_each_request_accounted(const LabRun& run);

}  // namespace support
