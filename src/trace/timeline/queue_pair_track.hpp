// The states that each queue pair of a run went through, from the run logs (docs/run-log.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runlog/event.hpp"

namespace timeline {

struct QueuePairState {
    std::int64_t t_ns = 0;  ///< the role's clock, nanoseconds since 1970
    /// "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"; "created": by ibv_create_qp or
    /// rdma_create_qp, in RESET or INIT; "destroyed".
    std::string state;
    /// A short phrase, may be empty: "send PSN 0x710bf4, receive PSN 0x3cb819, path MTU 4096, to QP
    /// 0x000016", "RTS refused: EINVAL, RTS needs RTR first", "wr 1: REM_ACCESS_ERR".
    std::string detail;
    /// Not in the log, but implied by it: if a request of an RC queue pair completes with an error
    /// of its own, the queue pair has gone to ERR (IBTA volume 1, 10.3.1; SQE is a state of the
    /// other types).
    bool is_inferred = false;
};

struct QueuePairTrack {
    std::string role;  ///< "client", "server"
    std::string end;   ///< lesson 05's name for it, "a" or "b"; otherwise empty
    /// 24 bits. 0 if the log never shows the QPN of the end.
    std::uint32_t qpn = 0;
    std::string type;                       ///< "RC"; empty if the log has no `qp` event for it
    std::optional<std::uint32_t> dest_qpn;  ///< the last one in the log
    /// In the order of the log. One state twice in a row is two entries if the second differs in
    /// more than PSNs, which change with every packet: another peer or path MTU, or a refused
    /// transition.
    std::vector<QueuePairState> states;
};

class QueuePairTracks {
  public:
    /// Takes the events of each log in order. `qp` begins a track, even if its number already has
    /// one. `qp_state`, `qp_attr` and `transition` continue it, as do a `wc` with an error and lesson
    /// 08's `client`: when a client has left, its queue pair is gone.
    ///
    /// A `transition` names an end, not a QPN. If the transition's first state is that of exactly
    /// one queue pair without an end, the end is that queue pair. Otherwise it is the next new QPN
    /// that a query shows in the state of the last transition. Its dest_qpn is then the QPN of the
    /// same program's other end.
    void learn(const runlog::Event& event);

    /// In order of creation; grows while learn() is called.
    const std::vector<QueuePairTrack>& all() const { return all_; }

  private:
    using Number = std::pair<std::string, std::uint64_t>;  // role, and QPN or client number

    void make(const runlog::Event& event);
    void query(const runlog::Event& event);
    void transition(const runlog::Event& event);
    void client(const runlog::Event& event);
    void completion(const runlog::Event& event);

    std::size_t add(const runlog::Event& event, std::uint32_t qpn);
    std::size_t track_of(const runlog::Event& event, std::uint32_t qpn);
    std::size_t track_of_end(const runlog::Event& event);
    void set_peer(std::size_t index, const runlog::Event& event);
    void set_qpn(std::size_t index, std::uint32_t qpn);
    void enter(std::size_t index, QueuePairState state);
    bool is_in(std::size_t index, std::string_view state) const;
    bool may_be_in(std::size_t index, std::string_view state) const;

    std::vector<QueuePairTrack> all_;
    std::vector<std::string> lasting_;  // by track: what the queries of its state have in common
    std::map<Number, std::size_t> by_qpn_;     // the current track of the number
    std::map<Number, std::size_t> by_client_;  // for lesson 08
    std::map<std::pair<std::string, std::string>, std::size_t> by_end_;  // by role and end
    std::map<std::string, std::size_t> last_transition_;                 // by role
};

}  // namespace timeline
