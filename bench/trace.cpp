// The cost of rocetrace for each post and each poll, in nanoseconds, with a device that does
// nothing. A second thread reads the rings, as rocetrace does.
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/merge.hpp"

namespace {

constexpr std::uint32_t depth = 128;

struct Device {
    Device() {
        extended.sz = sizeof extended;
        ibv_context& context = extended.context;
        context.abi_compat = __VERBS_ABI_IS_EXTENDED;
        context.ops.post_send = [](ibv_qp*, ibv_send_wr*, ibv_send_wr**) { return 0; };
        context.ops.post_recv = [](ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) { return 0; };
        context.ops.poll_cq = [](ibv_cq* queue, int, ibv_wc* wc) {
            if (queue->cqe == 0)
                return 0;
            *wc = ibv_wc{};
            wc->qp_num = 17;
            return 1;
        };
        cq.context = &context;
        cq.cqe = 1;
        qp.context = &context;
        qp.qp_num = 17;
        qp.qp_type = IBV_QPT_RC;
        qp.send_cq = qp.recv_cq = &cq;
    }
    void trace() {
        interpose::adopt(&extended.context);
        interpose::adopt(&qp, {true, nullptr, {depth, depth, 1, 1, 0}}, nullptr);
        ibv_qp_attr attr{};
        attr.path_mtu = IBV_MTU_4096;
        interpose::queue_pairs.find(&qp)->modified(attr, IBV_QP_SQ_PSN | IBV_QP_PATH_MTU);
    }

    verbs_context extended{};
    ibv_cq cq{};
    ibv_qp qp{};
};

// The rings, and the thread that reads them.
class Reader {
  public:
    Reader() : region_(header()), reader_(region_, 1), thread_([this] { read(); }) {
        interpose::trace_into(region_);
    }
    ~Reader() {
        stop_ = true;
        thread_.join();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    Reader(Reader&&) = delete;
    Reader& operator=(Reader&&) = delete;

    std::uint64_t taken() const { return taken_; }

  private:
    static constexpr std::uint32_t rings = 4;
    static constexpr std::uint64_t ring_bytes = (16U << 20U) + tracelog::ring_header_bytes;

    tracelog::RegionHeader* header() {
        memory_.resize(tracelog::RegionHeader::bytes + rings * ring_bytes + 4096);
        void* at = memory_.data();
        std::size_t room = memory_.size();
        std::align(4096, 4096, at, room);
        auto* made = new (at) tracelog::RegionHeader{};
        made->ring_bytes = ring_bytes;
        made->rings = rings;
        return made;
    }
    void read() {
        tracelog::Merge merge([this](std::span<const std::byte>, const auto&) {
            ++taken_;
            return true;
        });
        while (!stop_) {
            merge.take(reader_, INT64_MAX);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    std::vector<std::byte> memory_;
    tracelog::RegionHeader* region_;
    tracelog::Region reader_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> taken_{0};
    std::thread thread_;
};

void post_send(benchmark::State& state, bool traced) {
    Device device;
    std::unique_ptr<Reader> reader;
    if (traced) {
        reader = std::make_unique<Reader>();
        device.trace();
    }
    ibv_sge sge{0, 64, 0};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    ibv_send_wr* bad = nullptr;
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(ibv_post_send(&device.qp, &wr, &bad));
    }
}

void post_recv(benchmark::State& state, bool traced) {
    Device device;
    std::unique_ptr<Reader> reader;
    if (traced) {
        reader = std::make_unique<Reader>();
        device.trace();
    }
    ibv_recv_wr wr{};
    ibv_recv_wr* bad = nullptr;
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(ibv_post_recv(&device.qp, &wr, &bad));
    }
}

// A post and its completion.
void post_and_poll(benchmark::State& state, bool traced) {
    Device device;
    std::unique_ptr<Reader> reader;
    if (traced) {
        reader = std::make_unique<Reader>();
        device.trace();
    }
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    ibv_wc wc{};
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(ibv_post_send(&device.qp, &wr, &bad));
        benchmark::DoNotOptimize(ibv_poll_cq(&device.cq, 1, &wc));
    }
}

void poll_empty(benchmark::State& state, bool traced) {
    Device device;
    device.cq.cqe = 0;
    std::unique_ptr<Reader> reader;
    if (traced) {
        reader = std::make_unique<Reader>();
        device.trace();
    }
    ibv_wc wc{};
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(ibv_poll_cq(&device.cq, 1, &wc));
    }
}

void clock_alone(benchmark::State& state) {
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(interpose::now());
    }
}

BENCHMARK(clock_alone);
BENCHMARK_CAPTURE(post_send, untraced, false);
BENCHMARK_CAPTURE(post_send, traced, true);
BENCHMARK_CAPTURE(post_recv, untraced, false);
BENCHMARK_CAPTURE(post_recv, traced, true);
BENCHMARK_CAPTURE(post_and_poll, untraced, false);
BENCHMARK_CAPTURE(post_and_poll, traced, true);
BENCHMARK_CAPTURE(poll_empty, untraced, false);
BENCHMARK_CAPTURE(poll_empty, traced, true);

}  // namespace

BENCHMARK_MAIN();
