// A queue pair that is connected to itself: it posts and polls, prints the results, and writes each
// completion with the request that it belongs to, as this program knows it, to a file.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "rdma/device.hpp"
#include "rdma/handles.hpp"
#include "util/check.hpp"

namespace stress {

inline constexpr int error_before = 77;  // errno before each post
inline constexpr int most_completions = 4096;

struct Device {
    Device() : context(rdma::open_device(rdma::device_names().at(0))) {}

    rdma::Context context;
    ibv_gid gid = rdma::gid_at(context.get(), 1, 1).raw;
    rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(context.get()))};
    std::vector<std::byte> bytes = std::vector<std::byte>(8192);
    rdma::Mr memory =
        rdma::register_memory(pd.get(), bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
};

struct Request {
    std::uint64_t wr_id;
    std::uint64_t number;
    bool is_signaled;
};

/// What completes next, by this program's own account.
class Account {
  public:
    explicit Account(std::FILE* file) : file_(file) {}

    void posted(std::uint64_t wr_id, bool is_signaled) {
        requests_.push_back({wr_id, next_++, is_signaled});
        awaited_ += static_cast<std::size_t>(is_signaled);
    }
    std::size_t awaited() const { return awaited_; }
    /// Several threads may poll, so that one completion overtakes another with a different wr_id.
    bool completed(const ibv_wc& wc, const char* queue) {
        const std::lock_guard guard(mutex_);
        for (Request& request : requests_) {
            if (!request.is_signaled || request.wr_id != wc.wr_id)
                continue;
            fmt::print(file_, "{} {} {} {}\n", wc.qp_num, queue, wc.wr_id, request.number);
            request.is_signaled = false;
            --awaited_;
            while (!requests_.empty() && !requests_.front().is_signaled)
                requests_.pop_front();
            return true;
        }
        return false;
    }
    void reset() {
        requests_.clear();
        next_ = awaited_ = 0;
    }

  private:
    std::FILE* file_;
    std::mutex mutex_;
    std::deque<Request> requests_;
    std::uint64_t next_ = 0;
    std::size_t awaited_ = 0;
};

class Pair {
  public:
    Pair(Device& device, std::FILE* file, bool is_extended)
        : device_(device), sends_(file), receives_(file) {
        ibv_qp_init_attr_ex attr{};
        attr.send_cq = send_cq_.get();
        attr.recv_cq = recv_cq_.get();
        attr.cap = {31, 31, 1, 1, 16};
        attr.qp_type = IBV_QPT_RC;
        attr.pd = device.pd.get();
        attr.comp_mask = IBV_QP_INIT_ATTR_PD;
        if (is_extended) {
            attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
        }
        qp_.reset(CHECK_PTR(ibv_create_qp_ex(device.context.get(), &attr)));
        depth_ = attr.cap.max_send_wr;
        extended_ = is_extended ? ibv_qp_to_qp_ex(qp_.get()) : nullptr;
        connect();
    }

    void connect() {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = 1;
        attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
        modify(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
        attr.qp_state = IBV_QPS_RTR;
        attr.path_mtu = IBV_MTU_1024;
        attr.dest_qp_num = qp_->qp_num;
        attr.rq_psn = attr.sq_psn = 0xfffff0;
        attr.min_rnr_timer = 1;
        attr.ah_attr = {{device_.gid, 0, 1, 64, 0}, 0, 0, 0, 0, 1, 1};
        modify(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
        attr.qp_state = IBV_QPS_RTS;
        attr.timeout = 14;
        attr.retry_cnt = attr.rnr_retry = 7;  // a SEND waits for its receive without end
        modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    }
    void to(ibv_qp_state state) {
        ibv_qp_attr attr{};
        attr.qp_state = state;
        modify(attr, IBV_QP_STATE);
    }
    void reset() {
        to(IBV_QPS_RESET);
        sends_.reset();
        receives_.reset();
        taken_ = 0;
    }

    /// SENDs, of which each `signal_every`th and the last one that fits are signaled. `invalid`: the
    /// index of one that the provider refuses.
    void post_sends(std::size_t count, std::uint64_t ids, std::size_t signal_every,
                    std::size_t invalid = SIZE_MAX) {
        std::vector<ibv_send_wr> list(count);
        ibv_sge sge{address(), 16, device_.memory->lkey};
        const std::size_t fit = std::min({count, invalid, depth_ - taken_});
        for (std::size_t i = 0; i < count; ++i) {
            list[i].wr_id = (taken_ + i) % ids;
            list[i].opcode = IBV_WR_SEND;
            list[i].sg_list = &sge;
            list[i].num_sge = i == invalid ? 9 : 1;
            list[i].next = i + 1 < count ? &list[i + 1] : nullptr;
            if (i % signal_every == 0 || i + 1 == fit)
                list[i].send_flags = IBV_SEND_SIGNALED;
        }
        ibv_send_wr* bad = nullptr;
        errno = error_before;
        const int rc = ibv_post_send(qp_.get(), list.data(), &bad);
        const std::size_t taken =
            rc == 0 ? count : static_cast<std::size_t>(std::distance(list.data(), bad));
        fmt::print("sends {} rc {} errno {} taken {}\n", count, rc, errno, taken);
        for (std::size_t i = 0; i < taken; ++i)
            sends_.posted(list[i].wr_id, list[i].send_flags != 0);
        taken_ += taken;
    }

    /// A batch of the extended interface; while it is built, `between` runs.
    template <typename Between>
    void batch(std::size_t count, bool aborts, Between between) {
        ibv_wr_start(extended_);
        for (std::size_t i = 0; i < count; ++i) {
            extended_->wr_id = 1000 + i;
            extended_->wr_flags = IBV_SEND_SIGNALED;
            ibv_wr_send(extended_);
            ibv_wr_set_sge(extended_, device_.memory->lkey, address(), 16);
        }
        between();
        int rc = 0;
        if (aborts)
            ibv_wr_abort(extended_);
        else
            rc = ibv_wr_complete(extended_);
        fmt::print("batch {} aborts {} rc {}\n", count, aborts, rc);
        if (aborts || rc != 0)
            return;
        for (std::size_t i = 0; i < count; ++i)
            sends_.posted(1000 + i, true);
        taken_ += count;
    }

    void post_receives(std::size_t count, std::uint64_t ids) {
        std::vector<ibv_recv_wr> list(count);
        ibv_sge sge{address() + 4096, 64, device_.memory->lkey};
        for (std::size_t i = 0; i < count; ++i)
            list[i] = {i % ids, i + 1 < count ? &list[i + 1] : nullptr, &sge, 1};
        ibv_recv_wr* bad = nullptr;
        errno = error_before;
        const int rc = ibv_post_recv(qp_.get(), list.data(), &bad);
        const std::size_t taken =
            rc == 0 ? count : static_cast<std::size_t>(std::distance(list.data(), bad));
        fmt::print("receives {} rc {} errno {} taken {}\n", count, rc, errno, taken);
        for (std::size_t i = 0; i < taken; ++i)
            receives_.posted(list[i].wr_id, true);
    }

    /// WRITEs, each posted until there is room for it. None is polled meanwhile.
    void post_writes(std::size_t count, std::uint64_t ids) {
        ibv_sge sge{address(), 16, device_.memory->lkey};
        for (std::size_t i = 0; i < count; ++i) {
            ibv_send_wr wr{};
            wr.wr_id = i % ids;
            wr.opcode = IBV_WR_RDMA_WRITE;
            wr.send_flags = IBV_SEND_SIGNALED;
            wr.sg_list = &sge;
            wr.num_sge = 1;
            wr.wr.rdma = {address() + 4096, device_.memory->rkey};
            ibv_send_wr* bad = nullptr;
            int rc = 0;
            while ((rc = ibv_post_send(qp_.get(), &wr, &bad)) == ENOMEM)
                std::this_thread::yield();
            if (rc != 0)
                fmt::print("write {} rc {}\n", i, rc);
            sends_.posted(wr.wr_id, true);
        }
        fmt::print("writes {}\n", count);
    }

    /// Posts a receive for each SEND, and polls in `pollers` threads until all have completed.
    void finish(std::size_t pollers, int each) {
        if (taken_ != 0)
            post_receives(taken_, taken_);
        const std::size_t sends = sends_.awaited();
        std::atomic<std::size_t> left{sends + taken_};
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < pollers; ++i)
            threads.emplace_back([&] { poll(left, each); });
        poll(left, each);
        for (std::thread& thread : threads)
            thread.join();
        fmt::print("completed {} sends {} receives, left {} {}\n", sends, taken_, sends_.awaited(),
                   receives_.awaited());
        taken_ = 0;
    }
    /// Without waiting for any.
    void poll_once() {
        std::atomic<std::size_t> left{0};
        poll(left, 1);
    }

    ibv_cq* send_cq() const { return send_cq_.get(); }
    std::size_t depth() const { return depth_; }
    int destroy() { return ibv_destroy_qp(qp_.release()); }

  private:
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(device_.bytes.data()); }
    void modify(ibv_qp_attr& attr, int mask) { CHECK_RC(ibv_modify_qp(qp_.get(), &attr, mask)); }

    void poll(std::atomic<std::size_t>& left, int each) {
        std::array<ibv_wc, 16> wc{};
        do {
            for (ibv_cq* cq : {send_cq_.get(), recv_cq_.get()}) {
                const bool is_send = cq == send_cq_.get();
                const int count = ibv_poll_cq(cq, each, wc.data());
                for (int i = 0; i < count; ++i) {
                    const ibv_wc& one = wc.at(static_cast<std::size_t>(i));
                    if (one.status != IBV_WC_SUCCESS ||
                        !(is_send ? sends_ : receives_).completed(one, is_send ? "send" : "recv"))
                        fmt::print("unexpected: wr {} status {}\n", one.wr_id,
                                   static_cast<int>(one.status));
                    --left;
                }
                if (count == 0)
                    std::this_thread::yield();
            }
        } while (left > 0 && left < SIZE_MAX / 2);
    }

    Device& device_;
    rdma::Cq send_cq_{
        CHECK_PTR(ibv_create_cq(device_.context.get(), most_completions, nullptr, nullptr, 0))};
    rdma::Cq recv_cq_{
        CHECK_PTR(ibv_create_cq(device_.context.get(), most_completions, nullptr, nullptr, 0))};
    rdma::Qp qp_;
    ibv_qp_ex* extended_ = nullptr;
    std::size_t depth_ = 0;
    std::size_t taken_ = 0;  // SENDs that wait for their receives
    Account sends_;
    Account receives_;
};

}  // namespace stress
