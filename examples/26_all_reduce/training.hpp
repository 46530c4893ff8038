// Lesson 26: the training, which is the same on each rank.
#pragma once

#if !__has_include(<gloo/transport/ibverbs/device.h>)
#error "Lesson 26 needs Gloo, Meta's library of collectives: lab/install-packages gloo"
#endif

#include <chrono>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/ibverbs/device.h>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "examples/common/memory.hpp"
#include "model.hpp"
#include "rdma/device.hpp"
#include "rendezvous.hpp"
#include "runlog/log.hpp"

namespace lesson26 {

struct Job {
    int rank = 0, ranks = 0;
    std::uint64_t steps = 0;
    std::chrono::milliseconds timeout{};  // of Gloo: for a peer that does not respond
    std::chrono::milliseconds late{};     // how long this rank computes in step 2
};

/// Gloo takes the store as a std::shared_ptr, before 2025 as a reference.
template <typename Context>
void connect_full_mesh(Context& context, const std::shared_ptr<gloo::rendezvous::Store>& store,
                       std::shared_ptr<gloo::transport::Device>& device) {
    if constexpr (requires { context.connectFullMesh(store, device); })
        context.connectFullMesh(store, device);
    else
        context.connectFullMesh(*store, device);
}

/// Makes a queue pair to each other rank. `local`: the address that the others reach; its device and GID are used.
inline std::shared_ptr<gloo::rendezvous::Context> connect(
    const Job& job, const std::shared_ptr<gloo::rendezvous::Store>& store,
    const util::Address& local) {
    const rdma::DevicePort port = rdma::open_device_of(local);
    std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::ibverbs::CreateDevice({.name = ibv_get_device_name(port.context->device),
                                                .port = port.gid.port,
                                                .index = static_cast<int>(port.gid.index)});
    auto context = std::make_shared<gloo::rendezvous::Context>(job.rank, job.ranks);
    context->setTimeout(job.timeout);
    connect_full_mesh(*context, store, device);
    return context;
}

/// Its run() returns when the sum is there, and some of its WRITEs may not be acknowledged yet. Its
/// destructor deregisters their memory, but the queue pair may have to send them again; some versions of
/// Gloo abort the program there. So it may be destroyed only after wait_until_acknowledged().
class AllReduce : public gloo::AllreduceRingChunked<double> {
  public:
    using AllreduceRingChunked::AllreduceRingChunked;
    /// `runs`: how often run() was called. Throws what Gloo throws if a peer does not respond.
    void wait_until_acknowledged(std::uint64_t runs) {
        const std::size_t chunks = chunks_ - 2, credits = 2 * chunks_ - 5;  // of one run
        for (const auto& inbox : sendDataBuf_)
            for (std::size_t i = 0; i < runs * chunks; ++i)
                inbox->waitSend();
        for (std::size_t i = 0; i < runs * credits; ++i)
            sendNotificationBuf_->waitSend();
    }
};

/// Throws util::Error if the result is not that of one program alone, and what Gloo throws.
inline void train(const Job& job, const std::shared_ptr<gloo::rendezvous::Context>& context,
                  runlog::Log& log) {
    const Data data;
    Vector weights(features), sums(numbers), losses;

    // 1. Gloo registers the memory of the collective once, and tells its neighbours the rkeys: each
    // all_reduce uses the same.
    auto all_reduce =
        std::make_unique<AllReduce>(context, std::vector<double*>{sums.data()}, numbers);
    const std::size_t chunks = 2 * static_cast<std::size_t>(job.ranks);
    log.event("joined", {{"rank", job.rank},
                         {"ranks", job.ranks},
                         {"count", numbers},
                         {"chunks", chunks},
                         {"bytes", (numbers + chunks - 1) / chunks * sizeof(double)}});

    // 2. Each rank computes the gradient of its own samples. all_reduce replaces it with the sum of all.
    try {
        for (std::uint64_t step = 1; step <= job.steps; ++step) {
            if (step == 2)
                std::this_thread::sleep_for(job.late);
            const Vector own = data.gradient(weights, job.rank, job.ranks);
            std::copy(own.begin(), own.end(), sums.begin());
            log.event("collective", {{"iteration", step}});
            all_reduce->run();
            log.event("collective_end", {{"iteration", step}});
            losses.push_back(descend(weights, sums));
            log.event("learned", {{"step", step}, {"loss", fmt::format("{:.6f}", losses.back())}});
        }
        all_reduce->wait_until_acknowledged(job.steps);
    } catch (...) {
        (void)all_reduce.release();  // a lost peer acknowledges nothing
        throw;
    }

    // 3. The same as one program computes with all samples, but for rounding: it sums in another order.
    constexpr double rounding = 1e-9;
    const Vector alone = losses_alone(data, job.steps);
    for (std::size_t i = 0; i < losses.size(); ++i)
        if (std::abs(losses[i] - alone[i]) > rounding)
            throw util::Error(fmt::format("step {}: the loss is {}, but one program alone gets {}.",
                                          i + 1, losses[i], alone[i]));
    log.event("memory", common::describe_memory(std::as_bytes(std::span(weights))));
    log.event(
        "check",
        {{"verdict", "good"},
         {"what", fmt::format("{} steps: the losses are those of one program alone", job.steps)}});
}

}  // namespace lesson26
