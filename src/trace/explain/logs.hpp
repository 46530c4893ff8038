// Contents of the run logs for the rules: queue pairs with their attributes, requests and errors,
// memory regions, and failed calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runlog/event.hpp"
#include "trace/explain/cause.hpp"
#include "trace/flow/host.hpp"
#include "trace/logged/collectives.hpp"
#include "trace/logged/objects.hpp"
#include "wire/psn.hpp"

namespace explain {

namespace key = runlog::key;

/// A request in a send queue.
struct Post {
    std::int64_t t_ns = 0;
    std::uint64_t wr_id = 0;
    std::uint64_t length = 0;  ///< bytes
    std::uint64_t remote_va = 0;
    std::optional<std::uint32_t> rkey;
    std::optional<wire::Psn> psn_first, psn_last;  ///< nullopt: the log hides them
    std::uint32_t dest_qpn = 0;                    ///< of datagrams
    std::optional<std::uint32_t> q_key;            ///< of datagrams
    bool is_signaled = true;
    bool is_done = false;      ///< a completion has covered it
    std::int64_t done_ns = 0;  ///< the time of that completion
    std::string opcode;        ///< "RDMA_WRITE"
    runlog::Sges sges;  ///< the first entries; none if the data are inline or the request is done

    /// False for a local operation, and for the place of an event that is not in the log.
    bool has_packets() const {
        return !opcode.empty() && opcode != "LOCAL_INV" && opcode != "BIND_MW";
    }
    /// Whether it completed sooner than so many nanoseconds after it was posted.
    bool took_less_than(std::int64_t ns) const { return is_done && done_ns - t_ns < ns; }
    /// Whether it consumes a receive of the responder.
    bool takes_receive() const { return opcode.starts_with("SEND") || opcode.ends_with("_IMM"); }
    bool is_read_or_atomic() const { return opcode == "RDMA_READ" || opcode.starts_with("ATOMIC"); }
    std::string text() const;
};

struct Completion {
    std::int64_t t_ns = 0;
    std::uint64_t wr_id = 0;
    std::string status;  ///< "REM_ACCESS_ERR"
    bool is_receive = false;
    std::optional<std::uint64_t> request;  ///< number of the request on its queue
    std::optional<Post> post;              ///< the request itself, if it failed on the send queue
    runlog::Sges sges;                     ///< if it failed: the first entries of its request

    std::string text() const;
};

struct LoggedQueuePair : logged::QueuePair {
    std::vector<Post> posts;
    std::vector<std::uint64_t> receive_lengths;  ///< by number, bytes
    std::vector<Completion> errors;              ///< without those of flushed requests
    /// Of datagrams: the hosts of their address handles, with the first request to each.
    struct Destination {
        flow::Host host;
        std::size_t first = 0;  ///< an index of `posts`
    };
    std::vector<Destination> destinations;
    std::optional<Completion> flushed;        ///< the first send request, if nothing failed before
    std::vector<std::int64_t> receive_times;  ///< of its receives, nanoseconds since 1970
    std::optional<std::int64_t> first_receive_ns;  ///< the first one was posted
    std::uint64_t received = 0;                    ///< receives that completed without an error
    std::uint64_t sends_done = 0;
    std::int64_t last_done_ns = 0;  ///< the last completion of its send queue; 0: none
    std::uint64_t outstanding = 0;  ///< of `posts`: without a completion

    /// Takes an event of this queue pair that QueuePair has learned.
    void take(const runlog::Event& event);

    void shift(std::int64_t by);

    std::string called() const;  ///< "client's queue pair 0x000012"

  private:
    void post(const runlog::Event& event);
    void complete(const runlog::Event& event);
    runlog::Sges next_receive();

    std::deque<runlog::Sges> receives_;  // outstanding
};

/// From the first to the last time, in nanoseconds since 1970.
struct Period {
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();

    void add(std::int64_t t_ns) {
        begin_ns = std::min(begin_ns, t_ns);
        end_ns = std::max(end_ns, t_ns);
    }
    /// Whether `from_ns` and the time after it are in the period.
    bool has(std::int64_t from_ns, std::int64_t length_ns) const {
        return begin_ns <= from_ns && end_ns >= from_ns + length_ns;
    }
};

using logged::Collective;
using logged::Region;
using logged::Told;

class Logs {
  public:
    /// Takes the events of each log in order.
    void learn(const runlog::Event& event);
    /// Sets the address of a role's host, if no `device` event has it.
    void place(const std::string& role, const flow::Host& host) { hosts_.emplace(host, role); }

    /// Adds `by` nanoseconds to all times of the role: its clock differs from the capture's.
    void shift(const std::string& role, std::int64_t by);

    /// Sets the exit status of a role's program.
    void ended(const std::string& role, std::uint64_t status) { statuses_[role] = status; }

    /// The role whose log has this host's queue pairs; empty: no log has them.
    std::string role_at(const flow::Host& host) const;
    bool knows(const flow::Host& host) const { return hosts_.contains(host); }
    /// Returns whether the logs of the role are complete.
    bool is_whole(const std::string& role) const {
        return is_gapless(role) && !late_.contains(role);
    }
    /// Returns whether no event was dropped; the beginning of the logs may be missing.
    bool is_gapless(const std::string& role) const { return !torn_.contains(role); }

    const std::vector<LoggedQueuePair>& queue_pairs() const { return pairs_.all(); }
    /// False also if such events were left out (rocetrace --only).
    bool has_queue_pairs(const std::string& role) const { return pairs_.has_role(role); }
    /// Returns the role's queue pairs with that number, oldest first.
    std::vector<const LoggedQueuePair*> find(const std::string& role, std::uint32_t qpn) const {
        return pairs_.numbered(role, qpn);
    }
    /// See QueuePairs.
    std::vector<const LoggedQueuePair*> connected_to(std::uint32_t dest_qpn,
                                                     const LoggedQueuePair& near) const {
        return pairs_.connected_to(dest_qpn, near);
    }
    /// Returns the timer of the role's driver (rocexray) after which this queue pair sent this PSN; of several
    /// the one nearest to `t_ns`. nullptr: none is logged.
    const runlog::Event* timer_before(const std::string& role, std::uint32_t qpn, wire::Psn psn,
                                      std::int64_t t_ns) const;
    /// Returns the queue pair that had the event's number when it was logged; nullptr: unknown.
    const LoggedQueuePair* pair_at(const runlog::Event& event) const;
    const std::vector<Region>& regions() const { return regions_.all(); }
    const std::vector<Told>& told() const { return told_; }
    /// Events `failed`, `async`, `cm_event`, `error`, `process_end`, and calls of rdma_connect, also those
    /// that have not returned.
    const std::vector<runlog::Event>& notices() const { return notices_; }
    /// The first event of librdmacm of this type ("UNREACHABLE"), of any role; nullptr: none.
    const runlog::Event* cm_event(std::string_view type) const;
    const std::vector<Collective>& collectives() const { return collectives_.all(); }
    /// Returns whether a program of the role did not come to its own end: a signal or _exit(2) ended it, or
    /// it gave up (exit status other than 0).
    bool was_ended(const std::string& role) const;
    /// By role, only those that were set.
    const std::map<std::string, std::uint64_t>& statuses() const { return statuses_; }
    const logged::Devices& devices() const { return pairs_.devices(); }
    /// By role: the times of its events.
    const std::map<std::string, Period>& periods() const { return periods_; }
    /// The time of a role's last event; 0: it has none.
    std::int64_t end_of(const std::string& role) const {
        const auto found = periods_.find(role);
        return found == periods_.end() ? 0 : found->second.end_ns;
    }
    struct CompletionQueue {
        std::uint64_t entries = 0;             ///< 0: unknown
        std::optional<std::int64_t> armed_ns;  ///< the last ibv_req_notify_cq
        std::optional<std::int64_t> event_ns;  ///< the last event on its channel
        bool is_solicited_only = false;        ///< as it was armed last
    };
    /// A role's completion queue.
    CompletionQueue queue(const std::string& role, std::uint64_t cq) const;

    /// Bytes of the longest receive posted to a role's shared receive queue; nullopt: none is in the log.
    std::optional<std::uint64_t> longest_receive_of(const std::string& role,
                                                    std::uint64_t srq) const;

    const std::map<flow::Host, std::string>& hosts() const { return hosts_; }
    /// For sentences: the role, or the address if no role is known.
    std::string name_of(const flow::Host& host, flow::Network network) const;

  private:
    void learn_queue(const runlog::Event& event);
    void learn_destination(const runlog::Event& event, LoggedQueuePair& pair) const;
    void learn_driver(const runlog::Event& event);
    runlog::Event with_state(runlog::Event event) const;

    logged::QueuePairs<LoggedQueuePair> pairs_;
    logged::Regions regions_;
    std::vector<Told> told_;
    std::vector<runlog::Event> notices_;
    logged::Collectives collectives_;
    // By queue pair, in order: timers that expired, and the first packet sent after each.
    std::map<logged::Key, std::vector<std::pair<runlog::Event, std::optional<wire::Psn>>>> timers_;
    std::map<logged::Key, CompletionQueue> cqs_;
    std::map<logged::Key, flow::Host> handles_;              // address handles
    std::map<logged::Key, std::uint64_t> longest_receives_;  // by shared receive queue
    std::map<std::string, Period> periods_;                  // by role
    logged::Beginnings beginnings_;
    // Roles whose logs lack dropped events, and their beginning.
    std::set<std::string> torn_, late_;
    std::map<std::string, std::uint64_t> statuses_;
    std::map<flow::Host, std::string> hosts_;
};

/// For sentences: "the client", "the server"; other names are unchanged.
std::string spoken(const std::string& name);

Evidence evidence(const runlog::Event& event);
Evidence evidence(const LoggedQueuePair& pair, const Completion& completion);
Evidence evidence(const LoggedQueuePair& pair, const Post& post);
/// A value that holds for the whole log.
Evidence value(const std::string& role, std::string text);

}  // namespace explain
