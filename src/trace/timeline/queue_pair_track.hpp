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
    /// "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"; "made": by ibv_create_qp or
    /// rdma_create_qp, which leave it in RESET or INIT; "gone": destroyed.
    std::string state;
    /// A short phrase, may be empty: "send PSN 0x710bf4, receive PSN 0x3cb819, path MTU 4096, to QP
    /// 0x000016", "RTS refused: EINVAL, RTS needs RTR first", "wr 1: REM_ACCESS_ERR".
    std::string detail;
    /// The log does not say it, but it follows from what it says: where a request of an RC queue
    /// pair completes with an error of its own, the queue pair has gone to ERR (IBTA volume 1,
    /// 10.3.1; SQE is a state of the other types).
    bool is_inferred = false;
};

struct QueuePairTrack {
    std::string role;  ///< "client", "server"
    std::string end;   ///< step 05's name for it, "a" or "b"; empty elsewhere
    /// 24 bits. 0 where the log never tells which queue pair the end is.
    std::uint32_t qpn = 0;
    std::string type;                       ///< "RC"; empty where the log has no `qp` event of it
    std::optional<std::uint32_t> dest_qpn;  ///< the last one that the log told
    /// In the order of the log. One state twice in a row is two entries where the second says
    /// something else of the queue pair than its PSNs, which move with every packet: another peer
    /// or path MTU, or a transition that was refused.
    std::vector<QueuePairState> states;
};

class QueuePairTracks {
  public:
    /// Each log's events in their order. `qp` begins a track, also of a number that had one;
    /// `qp_state`, `qp_attr` and `transition` go on with it, as do a `wc` with an error and step
    /// 08's `client`: when a client has left, its queue pair is gone.
    ///
    /// A `transition` names an end and no QPN. The end is the queue pair that the log has shown
    /// without one, where only one of these is in the transition's first state; otherwise the next
    /// new number that a query shows in the state which the last transition led to. Its dest_qpn is
    /// then the number of the same program's other end.
    void learn(const runlog::Event& event);

    /// In the order in which they begin; grows while learn() is called.
    const std::vector<QueuePairTrack>& all() const { return all_; }

  private:
    using Number = std::pair<std::string, std::uint64_t>;  // of a role: a QPN, or a client's number

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
    std::vector<std::string> lasting_;         // of each: what the queries of its state agree on
    std::map<Number, std::size_t> by_qpn_;     // the track that has the number now
    std::map<Number, std::size_t> by_client_;  // step 08's
    std::map<std::pair<std::string, std::string>, std::size_t> by_end_;  // of a role
    std::map<std::string, std::size_t> last_transition_;                 // by role
};

}  // namespace timeline
