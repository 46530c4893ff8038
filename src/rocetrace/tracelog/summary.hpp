// Summary of each queue pair in a run log, without a capture: requests posted, completed and
// outstanding, errors with the requests that caused them, the depth of receive queues, and memory
// with those that registered and used it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rocetrace/tracelog/series.hpp"
#include "runlog/event.hpp"
#include "trace/logged/objects.hpp"

namespace tracelog {

namespace key = runlog::key;

class Summary {
  public:
    /// Adds the memory in an event. Call it for all events of all logs before the first add().
    void add_memory(const runlog::Event& event);
    /// Adds an event. The events of each log must be in their order.
    void add(const runlog::Event& event);

    /// The summary as text: a paragraph per queue pair, then memory, errors and losses. Lines end
    /// with a line feed. Text from the logs is escaped by util::printable().
    std::string text() const;

  private:
    static constexpr std::size_t most_listed = 10;

    struct Request {
        std::uint64_t wr_id = 0;
        std::string opcode;
        std::uint64_t len = 0;  // bytes
        std::int64_t t_ns = 0;
        std::string psns;
    };
    struct Error {
        std::int64_t t_ns = 0;
        std::uint64_t wr_id = 0;
        std::string status;
        std::string queue;
        std::optional<Request> request;
        std::optional<std::uint64_t> receive_len;  // of the failed receive, bytes
        std::uint64_t flushed = 0;                 // requests that were flushed after it
    };
    /// The number of posted, unused receives over time.
    struct Depth {
        std::uint64_t posted = 0;
        std::uint64_t used = 0;
        std::uint64_t discarded = 0;  // by RESET
        std::uint64_t most = 0;
        std::uint64_t least = 0;    // since the first message arrived
        std::int64_t empty_ns = 0;  // time without a receive, nanoseconds
        std::optional<std::int64_t> empty_since;
        bool has_received = false;
        Series over_time{Series::Keeps::least};

        std::uint64_t left() const { return posted - used - discarded; }
        void post(std::int64_t t_ns);
        void use(std::int64_t t_ns, bool by_message);
    };
    struct PairSummary : logged::QueuePair {
        std::vector<Request> requests;            // outstanding, from number `first`
        std::uint64_t first = 0;                  // the number of requests.front()
        std::uint64_t posted = 0, completed = 0;  // since the last RESET
        std::uint64_t posted_before = 0, completed_before = 0, discarded = 0;
        std::uint64_t bytes = 0;
        std::uint64_t most_outstanding = 0;
        Series over_time{Series::Keeps::most};  // outstanding requests
        Depth receives;
        std::vector<std::uint64_t> receive_lens;  // by request number, bytes
        std::vector<Error> errors;
        std::uint64_t flushed = 0;    // completions with WR_FLUSH_ERR
        std::uint64_t forgotten = 0;  // by the library, before their completions

        std::uint64_t outstanding() const { return posted - completed; }
    };

    void take(PairSummary& pair, const runlog::Event& event);
    static void reset(PairSummary& pair, std::int64_t t_ns);
    void post_send(PairSummary& pair, const runlog::Event& event);
    void complete(PairSummary& pair, const runlog::Event& event);
    static void fail(PairSummary& pair, const runlog::Event& event);
    void use_memory(const runlog::Event& event);
    std::string text_of(const PairSummary& pair) const;
    std::string text_of_memory() const;

    logged::QueuePairs<PairSummary> pairs_;
    std::map<logged::Key, Depth> srqs_;
    logged::Regions regions_;
    // By region: requests of "QP 0x000011 of client".
    std::map<std::size_t, std::map<std::string, std::uint64_t>> uses_;
    std::vector<runlog::Event> failures_;  // the first most_listed
    std::uint64_t failed_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace tracelog
