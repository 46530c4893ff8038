// What a run log tells of each queue pair, without a capture: requests posted, completed and
// outstanding, errors with the requests that caused them, the depth of receive queues, and who
// registered and used which memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocetrace/tracelog/series.hpp"
#include "runlog/event.hpp"

namespace tracelog {

class Summary {
  public:
    /// The memory that the logs tell of: all events of all logs, before the first add().
    void add_memory(const runlog::Event& event);
    /// The events of all logs, each log's in its order.
    void add(const runlog::Event& event);

    /// For people: a paragraph for each queue pair, then memory, errors and losses. Lines end with
    /// a line feed. What comes from the logs is as util::printable() makes it.
    std::string text() const;

  private:
    static constexpr std::size_t most_listed = 10;

    struct Request {
        std::uint64_t wr_id = 0;
        std::string opcode;
        std::uint64_t len = 0;  // bytes
        std::int64_t t_ns = 0;
        std::string psns;
        bool is_done = false;
    };
    struct Error {
        std::int64_t t_ns = 0;
        std::uint64_t wr_id = 0;
        std::string status;
        std::string queue;
        std::optional<Request> request;
        std::optional<std::uint64_t> receive_len;  // of the receive that failed, bytes
        std::uint64_t flushed = 0;                 // requests that were flushed after it
    };
    /// How many receives were posted and not used, as time went on.
    struct Depth {
        std::uint64_t posted = 0;
        std::uint64_t used = 0;
        std::uint64_t most = 0;
        std::uint64_t least = 0;    // since the first message came
        std::int64_t empty_ns = 0;  // how long none was there, nanoseconds
        std::optional<std::int64_t> empty_since;
        bool has_received = false;
        Series over_time{Series::Keeps::least};

        void post(std::int64_t t_ns);
        void use(std::int64_t t_ns, bool by_message);
    };
    struct QueuePair {
        std::string role, type, state, dest_gid, gid;
        std::uint32_t qpn = 0;
        std::uint32_t dest_qpn = 0;
        std::uint64_t max_send_wr = 0, path_mtu = 0;
        std::optional<std::uint64_t> timeout, retry_cnt, rnr_retry, min_rnr_timer, srq;
        bool is_destroyed = false;
        std::vector<Request> requests;  // not yet completed: from `first`
        std::uint64_t first = 0;        // the number of requests.front()
        std::uint64_t posted = 0, completed = 0, bytes = 0;
        std::uint64_t most_outstanding = 0;
        Series over_time{Series::Keeps::most};  // outstanding requests
        Depth receives;
        std::vector<std::uint64_t> receive_lens;  // by the number of the request, bytes
        std::vector<Error> errors;
        std::uint64_t flushed = 0;  // completions with WR_FLUSH_ERR

        std::uint64_t outstanding() const { return posted - completed; }
    };
    struct Region {
        std::string role;
        std::uint64_t va = 0, len = 0;
        std::uint32_t lkey = 0, rkey = 0;
        std::string access;
        bool is_gone = false;
        std::map<std::string, std::uint64_t> uses;  // "QP 0x000011 of client": requests
    };
    using Key = std::pair<std::string, std::uint64_t>;

    QueuePair* find(const runlog::Event& event);
    void make(const runlog::Event& event);
    void change(const runlog::Event& event);
    void post_send(const runlog::Event& event);
    void post_recv(const runlog::Event& event);
    void complete(const runlog::Event& event);
    void fail(QueuePair& pair, const runlog::Event& event);
    void destroy(const runlog::Event& event);
    void use_memory(const runlog::Event& event);
    std::string text_of(const QueuePair& pair) const;
    const QueuePair* peer_of(const QueuePair& pair) const;
    std::string text_of_memory() const;

    std::vector<QueuePair> pairs_;
    std::map<Key, std::size_t> by_qpn_;  // the one that has the number now
    std::map<Key, Depth> srqs_;
    std::vector<Region> regions_;
    std::map<Key, std::string> gids_;      // by role and index
    std::vector<runlog::Event> failures_;  // the first most_listed
    std::uint64_t failed_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace tracelog
