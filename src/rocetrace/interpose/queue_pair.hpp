// What the library knows of a queue pair: the PSN of its next request, and its outstanding
// requests.
#pragma once

#include <atomic>
#include <cstdint>

#include <infiniband/verbs.h>

#include "rocetrace/interpose/lock.hpp"
#include "rocetrace/interpose/outstanding.hpp"
#include "rocetrace/tracelog/record.hpp"

namespace interpose {

struct Context;

struct TracedQueuePair {
    Lock lock;  // held across a post, so that the order of records is the order of PSNs
    // Held from wr_start to wr_complete, in which the provider may hold a lock of its own, and by
    // any other post to the send queue. Taken before `lock`, and not by a poll.
    Lock batch_lock;
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

    Outstanding sends;
    Outstanding receives;

    // Only for a queue pair with the extended interface.
    ibv_qp_ex real{};                     // the provider's functions
    tracelog::PostSend* batch = nullptr;  // from wr_start to wr_complete
    std::uint32_t batch_room = 0;
    std::uint32_t batch_size = 0;
    std::atomic<const void*> batch_owner{nullptr};  // the thread that holds batch_lock

    TracedQueuePair* next_free = nullptr;
    TracedQueuePair* next_made = nullptr;  // of all

    /// The PSNs of the next request. False if it takes none, or if they are unknown.
    bool take_psns(ibv_wr_opcode opcode, std::uint64_t length, std::uint32_t& first,
                   std::uint32_t& last);
    /// Applies a successful ibv_modify_qp().
    void modified(const ibv_qp_attr& attr, int mask);
};

/// Held by a post to the send queue: not while another thread builds a batch.
class SendGuard {
  public:
    SendGuard(TracedQueuePair& pair, const void* thread)
        : batch_(pair.batch == nullptr || pair.batch_owner.load() == thread ? nullptr
                                                                            : &pair.batch_lock),
          lock_(pair.lock) {
        if (batch_ != nullptr)
            batch_->lock();
        lock_.lock();
    }
    ~SendGuard() {
        lock_.unlock();
        if (batch_ != nullptr)
            batch_->unlock();
    }
    SendGuard(const SendGuard&) = delete;
    SendGuard& operator=(const SendGuard&) = delete;
    SendGuard(SendGuard&&) = delete;
    SendGuard& operator=(SendGuard&&) = delete;

  private:
    Lock* batch_;
    Lock& lock_;
};

/// The state of a new queue pair. nullptr if there is no memory.
TracedQueuePair* make_queue_pair(std::uint32_t max_send_wr, std::uint32_t max_recv_wr,
                                 bool extended);
/// Keeps the object for the next queue pair, without a number: a poll in another thread may still
/// read it.
void retire_queue_pair(TracedQueuePair* pair);
/// For the child of a fork.
void reset_queue_pair_locks();

}  // namespace interpose
