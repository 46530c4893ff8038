// What the library knows of a queue pair: the PSN of its next request, and its outstanding
// requests.
#pragma once

#include <atomic>
#include <cstdint>

#include <infiniband/verbs.h>

#include "rocetrace/interpose/lock.hpp"
#include "rocetrace/tracelog/record.hpp"

namespace interpose {

struct Context;

/// A ring of outstanding requests; `head` and `tail` count all that were ever posted and completed.
template <typename Entry>
struct Outstanding {
    Entry* entries = nullptr;
    std::uint32_t mask = 0;
    std::uint32_t head = 0;
    std::uint32_t tail = 0;

    /// Makes room for at least `depth` requests.
    bool make_room(std::uint32_t depth);
    void free_room();
    void clear() { head = tail = 0; }

    /// If more are posted than the queue can hold, the oldest are overwritten.
    void push(const Entry& entry) {
        entries[head++ & mask] = entry;
        if (head - tail > mask + 1)
            tail = head - mask - 1;
    }
};

struct SentRequest {
    std::uint64_t wr_id;
    bool is_signaled;
};

struct PostedReceive {
    std::uint64_t wr_id;
};

struct QueuePair {
    Lock lock;  // held across a post, so that the order of records is the order of PSNs
    Context* context = nullptr;
    ibv_qp* qp = nullptr;
    std::uint32_t qpn = 0;
    ibv_qp_type type = IBV_QPT_RC;
    bool signals_all = false;
    bool has_srq = false;
    std::uint64_t send_cq = 0;  // addresses, only for comparison
    std::uint64_t recv_cq = 0;

    ibv_qp_state state = IBV_QPS_RESET;
    unsigned path_mtu = 0;  // bytes; 0 before RTR
    std::uint32_t next_psn = 0;
    bool knows_psn = false;
    std::int64_t last_ns = 0;  // of its last record: later ones have later times
    int known = 0;             // mask of `attributes`: ibv_qp_attr_mask
    ibv_qp_attr attributes{};

    Outstanding<SentRequest> sends;
    Outstanding<PostedReceive> receives;

    // Only for a queue pair with the extended interface.
    ibv_qp_ex real{};                     // the provider's functions
    tracelog::PostSend* batch = nullptr;  // from wr_start to wr_complete
    std::uint32_t batch_room = 0;
    std::uint32_t batch_size = 0;

    std::atomic<const void*> batch_owner{nullptr};  // thread between the two, which holds the lock

    QueuePair* next_free = nullptr;

    /// The PSNs of the next request. False if it takes none, or if they are unknown.
    bool take_psns(ibv_wr_opcode opcode, std::uint64_t length, std::uint32_t& first,
                   std::uint32_t& last);
    /// Applies a successful ibv_modify_qp().
    void modified(const ibv_qp_attr& attr, int mask);
    /// The number of the completed request; -1 if there is none.
    std::int64_t complete_send(std::uint64_t wr_id, bool succeeded);
    std::int64_t complete_receive(std::uint64_t wr_id);
};

/// Holds the queue pair's lock, unless the thread has it already: between wr_start and wr_complete
/// a program may poll.
class PairGuard {
  public:
    PairGuard(QueuePair& pair, const void* thread)
        : lock_(pair.batch_owner.load(std::memory_order_relaxed) == thread ? nullptr : &pair.lock) {
        if (lock_ != nullptr)
            lock_->lock();
    }
    ~PairGuard() {
        if (lock_ != nullptr)
            lock_->unlock();
    }
    PairGuard(const PairGuard&) = delete;
    PairGuard& operator=(const PairGuard&) = delete;
    PairGuard(PairGuard&&) = delete;
    PairGuard& operator=(PairGuard&&) = delete;

  private:
    Lock* lock_;
};

/// The state of a new queue pair. nullptr if there is no memory.
QueuePair* make_queue_pair(std::uint32_t max_send_wr, std::uint32_t max_recv_wr, bool extended);
/// Keeps the object for the next queue pair, without a number: a poll in another thread may still
/// read it.
void retire_queue_pair(QueuePair* pair);

}  // namespace interpose
