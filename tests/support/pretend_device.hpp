// A simulated device context in this process: it counts posted requests, and the test sets the
// completions. For tests of the interposing library without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/merge.hpp"
#include "runlog/event.hpp"
#include "support/event_fit.hpp"

namespace support {

/// The rings that all threads of a test process write to.
class PretendTrace {
  public:
    static constexpr std::uint64_t capacity = 1U << 21U;

    PretendTrace() {
        constexpr std::uint32_t rings = 32;
        constexpr std::size_t ring_bytes = capacity + tracelog::ring_header_bytes;
        memory_.resize((tracelog::RegionHeader::bytes + rings * ring_bytes) / sizeof(Page) + 1);
        region_ = new (memory_.data()) tracelog::RegionHeader{};
        region_->magic = tracelog::RegionHeader::expected_magic;
        region_->ring_bytes = ring_bytes;
        region_->rings = rings;
        interpose::trace_into(region_);
        reader_ = std::make_unique<tracelog::Region>(region_, 1U);
    }

    /// Returns the events logged since the last call.
    std::vector<runlog::Event> events() { return events(INT64_MAX); }

    /// Only those until `until_ns`. Calls in progress keep later ones waiting.
    std::vector<runlog::Event> events(std::int64_t until_ns) {
        std::vector<runlog::Event> all;
        tracelog::Merge merge([&](std::span<const std::byte> record, const auto& writer) {
            auto event = tracelog::decode(record, "test", writer);
            if (!event)
                return false;
            EXPECT_EQ(misfit(*event), "");
            all.push_back(*std::move(event));
            return true;
        });
        merge.take(*reader_, until_ns);
        return all;
    }

    /// Returns only the events with this name.
    std::vector<runlog::Event> events(std::string_view name) {
        auto all = events();
        std::erase_if(all, [&](const runlog::Event& event) { return event.name != name; });
        return all;
    }

    /// Returns the number of records for which there was no room, since the last call.
    std::uint64_t dropped() {
        std::uint64_t sum = 0;
        for (const auto& ring : reader_->rings())
            sum += ring->reader.newly_dropped();
        return sum;
    }

    static PretendTrace& of_this_process() {
        static PretendTrace trace;
        return trace;
    }

  private:
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::vector<Page> memory_;
    tracelog::RegionHeader* region_ = nullptr;
    std::unique_ptr<tracelog::Region> reader_;
};

class PretendDevice {
  public:
    PretendDevice() {
        extended_.sz = sizeof extended_;
        ibv_context& context = extended_.context;
        context.abi_compat = __VERBS_ABI_IS_EXTENDED;
        context.device = &device_;
        context.ops.post_send = post_send;
        context.ops.post_recv = post_recv;
        context.ops.poll_cq = poll_cq;
        devices().push_back(this);
        interpose::adopt(&context);
    }
    ~PretendDevice() {
        for (auto& qp : pairs_)
            interpose::bury(interpose::detach(&qp->base.qp_base));
        interpose::detach(&extended_.context);
        std::erase(devices(), this);
    }
    PretendDevice(const PretendDevice&) = delete;
    PretendDevice& operator=(const PretendDevice&) = delete;
    PretendDevice(PretendDevice&&) = delete;
    PretendDevice& operator=(PretendDevice&&) = delete;

    ibv_context* context() { return &extended_.context; }
    ibv_cq* cq() {
        cq_.context = context();
        return &cq_;
    }

    /// Creates a queue pair in RTS with the next PSN `psn`.
    ibv_qp* qp(ibv_qp_type type = IBV_QPT_RC, std::uint32_t psn = 0, bool extended = false) {
        auto& made = *pairs_.emplace_back(std::make_unique<Pair>());
        ibv_qp& qp = made.base.qp_base;
        qp.context = context();
        qp.send_cq = qp.recv_cq = cq();
        qp.qp_num = ++last_qpn;
        qp.qp_type = type;
        if (extended)
            fill(made.base);
        const ibv_qp_ex before = made.base;
        interpose::adopt(&qp, {false, nullptr, {depth, depth, 1, 1, 0}},
                         extended ? &before : nullptr);
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_RTS;
        attr.path_mtu = IBV_MTU_1024;
        attr.sq_psn = psn;
        interpose::queue_pairs.find(&qp)->modified(attr,
                                                   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_PATH_MTU);
        return &qp;
    }
    static ibv_qp_ex* extended(ibv_qp* qp) { return reinterpret_cast<ibv_qp_ex*>(qp); }

    static constexpr std::uint32_t depth = 64;
    int refuse_after = -1;    // accepts this number of requests of a list
    std::size_t posted = 0;   // accepted requests
    int complete_result = 0;  // return value of wr_complete
    std::deque<ibv_wc> completions;

  private:
    struct Pair {
        ibv_qp_ex base{};
    };

    static std::vector<PretendDevice*>& devices() {
        static std::vector<PretendDevice*> all;
        return all;
    }
    static PretendDevice& of(const ibv_context* context) {
        for (PretendDevice* device : devices())
            if (&device->extended_.context == context)
                return *device;
        std::abort();
    }

    template <typename Wr>
    static int post(PretendDevice& device, Wr* list, Wr** bad) {
        int taken = 0;
        for (; list != nullptr; list = list->next) {
            if (taken++ == device.refuse_after) {
                *bad = list;
                errno = EPERM;  // must reach the program unchanged
                return ENOMEM;
            }
            ++device.posted;
        }
        return 0;
    }
    static int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
        return post(of(qp->context), wr, bad);
    }
    static int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
        return post(of(qp->context), wr, bad);
    }
    static int poll_cq(ibv_cq* cq, int most, ibv_wc* wc) {
        auto& ready = of(cq->context).completions;
        int count = 0;
        for (; count < most && !ready.empty(); ++count, ready.pop_front())
            wc[count] = ready.front();
        return count;
    }
    static void fill(ibv_qp_ex& qp) {
        qp.wr_start = [](ibv_qp_ex*) {};
        qp.wr_abort = [](ibv_qp_ex*) {};
        qp.wr_complete = [](ibv_qp_ex* at) { return of(at->qp_base.context).complete_result; };
        qp.wr_send = [](ibv_qp_ex*) {};
        qp.wr_rdma_read = [](ibv_qp_ex*, std::uint32_t, std::uint64_t) {};
        qp.wr_rdma_write = [](ibv_qp_ex*, std::uint32_t, std::uint64_t) {};
        qp.wr_local_inv = [](ibv_qp_ex*, std::uint32_t) {};
        qp.wr_set_sge = [](ibv_qp_ex*, std::uint32_t, std::uint64_t, std::uint32_t) {};
        qp.wr_set_ud_addr = [](ibv_qp_ex*, ibv_ah*, std::uint32_t, std::uint32_t) {};
        qp.wr_set_inline_data = [](ibv_qp_ex*, void*, std::size_t) {};
    }

    ibv_device device_{};
    verbs_context extended_{};
    ibv_cq cq_{};
    std::vector<std::unique_ptr<Pair>> pairs_;
    static inline std::uint32_t last_qpn = 0x10;
};

}  // namespace support
