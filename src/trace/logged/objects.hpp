// Objects that run logs describe: queue pairs with the attributes of their events, memory regions
// and bound memory windows. docs/run-log.md has the events and their fields.
//
// Times are nanoseconds since 1970, by the clock of the role. pd, srq and CQs are handles.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "trace/logged/devices.hpp"
#include "wire/psn.hpp"

namespace logged {

/// A role, and a number that is unique in its log.
using Key = std::pair<std::string, std::uint64_t>;

/// nullopt if the field is missing or not a number: the log hides it.
std::optional<wire::Psn> psn(const runlog::Event& event, const runlog::Number32Key& key);

/// Whether a `wc` completes a receive. Logs of lessons have only the opcode, which is not valid
/// after an error.
bool is_receive(const runlog::Event& wc);

/// From the events `qp`, `qp_state` or `qp_attr`, and `destroyed`.
struct QueuePair {
    std::string role;  ///< "client", "server"
    std::uint32_t qpn = 0;
    std::string type;  ///< "RC"; empty: unknown
    std::optional<std::uint64_t> pd, srq, send_cq, recv_cq;
    std::uint64_t max_send_wr = 0, max_recv_wr = 0;  ///< 0: unknown
    std::optional<std::uint64_t> max_send_sge, max_recv_sge, max_inline_data;

    std::string state;  ///< "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"
    /// ready: in RTR. failed: first in ERR or RESET after that.
    std::optional<std::int64_t> made_ns, ready_ns, failed_ns, destroyed_ns;

    // As last set: in RESET, the attributes of the last connection.
    std::optional<std::uint32_t> dest_qpn;
    /// Of the first packets, set at RTS and RTR; nullopt if the log hides them.
    std::optional<wire::Psn> sq_psn, rq_psn;
    bool hides_psns = false;
    std::uint64_t path_mtu = 0;  ///< bytes; 0: unknown
    std::optional<std::uint64_t> timeout, retry_cnt, rnr_retry, min_rnr_timer;  ///< codes
    std::optional<std::uint64_t> max_rd_atomic, max_dest_rd_atomic;
    std::optional<std::uint32_t> q_key;
    std::string gid, dest_gid;  ///< "::ffff:192.0.2.1"
    std::string access;         ///< "remote_write remote_read"

    bool is_datagram() const { return type == "UD"; }
    /// 4.096 us * 2^timeout (IBTA volume 1, 9.7.6.1.3); nullopt: without limit, or unknown.
    std::optional<std::int64_t> ack_timeout_ns() const;

    static bool is_state(const runlog::Event& event) {
        return event.is_one_of({"qp_state", "qp_attr"});
    }
    /// Takes an event with this queue pair's number.
    void learn(const runlog::Event& event, const Devices& devices);
    /// Adds `by` nanoseconds to all times.
    void shift(std::int64_t by);

  private:
    void change(const runlog::Event& event, const Devices& devices);

    bool has_posted_ = false;  // since RESET
};

/// All queue pairs of the logs. A user with more facts derives from QueuePair.
template <std::derived_from<QueuePair> Pair = QueuePair>
class QueuePairs {
  public:
    /// Takes the events of each log in order. Returns the current queue pair with the event's
    /// number, until the next call; nullptr: none. `qp` makes one, and so do `qp_state`, `qp_attr`
    /// and `psn` if the log does not have it or has its end.
    Pair* learn(const runlog::Event& event) {
        devices_.learn(event);
        const auto qpn = event[key::qpn];
        if (!qpn)
            return nullptr;
        const Key own{event.role, *qpn};
        auto found = numbered_.find(own);
        const bool is_there = found != numbered_.end() && !all_[found->second.back()].destroyed_ns;
        if (event.is("qp") || (!is_there && (QueuePair::is_state(event) || event.is("psn")))) {
            found = numbered_.try_emplace(own).first;
            found->second.push_back(all_.size());
            Pair& made = all_.emplace_back();
            made.role = event.role;
            made.qpn = *qpn;
        }
        if (found == numbered_.end())
            return nullptr;
        const std::size_t index = found->second.back();
        Pair& pair = all_[index];
        const auto before = pair.dest_qpn;
        pair.learn(event, devices_);
        if (pair.dest_qpn != before)
            move(index, before);
        return &pair;
    }

    /// Returns the current queue pair with that number; nullptr: none.
    const Pair* find(const std::string& role, std::uint32_t qpn) const {
        const auto found = numbered_.find({role, qpn});
        return found == numbered_.end() ? nullptr : &all_[found->second.back()];
    }

    /// Returns the role's queue pairs with that number, oldest first.
    std::vector<const Pair*> numbered(const std::string& role, std::uint32_t qpn) const {
        std::vector<const Pair*> pairs;
        if (const auto found = numbered_.find({role, qpn}); found != numbered_.end())
            for (const std::size_t index : found->second)
                pairs.push_back(&all_[index]);
        return pairs;
    }

    /// Returns the queue pairs whose peer has this number, oldest first; of many, some hundred that
    /// were made next to `near`.
    std::vector<const Pair*> connected_to(std::uint32_t dest_qpn, const Pair& near) const {
        constexpr int most = 256;  // on each side
        std::vector<const Pair*> pairs;
        const auto found = by_peer_.find(dest_qpn);
        if (found == by_peer_.end())
            return pairs;
        const std::set<std::size_t>& indices = found->second;
        const auto middle = indices.lower_bound(static_cast<std::size_t>(&near - all_.data()));
        auto first = middle, end = middle;
        for (int i = 0; i < most && first != indices.begin(); ++i)
            --first;
        for (int i = 0; i < most && end != indices.end(); ++i)
            ++end;
        for (; first != end; ++first)
            pairs.push_back(&all_[*first]);
        return pairs;
    }

    bool has_role(const std::string& role) const {
        const auto found = numbered_.lower_bound({role, 0});
        return found != numbered_.end() && found->first.first == role;
    }

    /// Returns the queue pair at the other end of the connection; nullptr: none. Prefers the
    /// server's, because several clients may have the same number, and then another role's.
    const Pair* peer_of(const Pair& pair) const {
        const auto rank = [&](const Pair& other) {
            return other.role == pair.role ? 1 : other.role == "server" ? 3 : 2;
        };
        const int highest = pair.role == "server" ? 2 : 3;
        const Pair* best = nullptr;
        const auto found = by_peer_.find(pair.qpn);
        if (found == by_peer_.end())
            return nullptr;
        for (const std::size_t index : found->second) {
            const Pair& other = all_[index];
            if (other.qpn == pair.dest_qpn && (best == nullptr || rank(other) > rank(*best)))
                best = &other;
            if (best != nullptr && rank(*best) == highest)
                break;
        }
        return best;
    }

    /// Adds `by` nanoseconds to all times of the role.
    void shift(const std::string& role, std::int64_t by) {
        for (Pair& pair : all_)
            if (pair.role == role)
                pair.shift(by);
    }

    /// In order of creation.
    const std::vector<Pair>& all() const { return all_; }
    const Devices& devices() const { return devices_; }

  private:
    // Files a queue pair under its peer, which changed.
    void move(std::size_t index, std::optional<std::uint32_t> before) {
        const Pair& pair = all_[index];
        if (before)
            by_peer_[*before].erase(index);
        if (pair.dest_qpn)
            by_peer_[*pair.dest_qpn].insert(index);
    }

    std::vector<Pair> all_;
    std::map<std::uint32_t, std::set<std::size_t>> by_peer_;
    std::map<Key, std::vector<std::size_t>> numbered_;  // the current one is the last
    Devices devices_;
};

/// From an event `mr` or `bind_mw`.
struct Region {
    std::string role;  ///< of its owner
    std::uint64_t va = 0;
    std::uint64_t length = 0;  ///< bytes
    std::uint32_t lkey = 0;    ///< 0: a window
    std::uint32_t rkey = 0;    ///< 0 if the device assigned none: no remote rights
    std::string access;        ///< "local_write remote_write"
    std::optional<std::uint64_t> pd;
    std::int64_t registered_ns = 0;
    std::optional<std::int64_t> gone_ns;  ///< deregistered, invalidated or bound anew

    static Region of(const runlog::Event& event);
    bool has(std::uint64_t first, std::uint64_t size) const {
        return first >= va && first - va <= length && size <= length - (first - va);
    }
    bool allows(std::string_view right) const { return access.find(right) != std::string::npos; }
    std::string text() const;
    /// The same with the lkey.
    std::string local_text() const;
};

/// A peer's memory as announced to a program.
struct Told {
    std::string role;  ///< the program's
    std::uint64_t va = 0, length = 0;
    std::uint32_t rkey = 0;

    /// From an event `exchange`; nullopt: it announces no memory.
    static std::optional<Told> of(const runlog::Event& event);
};

class Regions {
  public:
    /// Takes the events of each log in order.
    void learn(const runlog::Event& event);
    /// Adds `by` nanoseconds to all times of the role.
    void shift(const std::string& role, std::int64_t by);
    const std::vector<Region>& all() const { return all_; }

  private:
    using Indices = std::vector<std::size_t>;

    void end(Indices& regions, std::int64_t t_ns);

    std::vector<Region> all_;
    // Those that have not ended, and some that have.
    std::map<std::tuple<std::string, std::uint32_t, std::uint64_t>, Indices>
        by_memory_;  // role, lkey, va
    std::map<std::pair<std::uint32_t, std::string>, Indices> by_rkey_,
        windows_;  // windows: rkey / 256
};

/// Whether each log begins where its program does.
class Beginnings {
  public:
    /// Takes the events of each log in order. Returns whether the event is about an object that no
    /// event made, and no `process` event begins the log: the log's begin is missing.
    bool is_missing_before(const runlog::Event& event);

  private:
    enum class Kind { Process, Pd, QueuePair };
    using Made = std::pair<Key, Kind>;

    std::set<Made> made_;
};

}  // namespace logged
