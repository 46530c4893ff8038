// One transfer through a bottleneck: its rate, how many packets were sent and how many were needed,
// and the latency of the completions.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/rc_connection.hpp"
#include "protocol.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "window.hpp"

namespace lesson21 {

struct Settings {
    common::Chunks bytes{.size = 256 << 10, .chunk = 4 << 10};
    std::uint64_t path_mtu = 1024;
    std::uint64_t most = 64;  // outstanding chunks
    std::uint64_t traffic_class = 2;
    std::uint64_t ack_timeout = 16;
};

/// Posts the WRITE of the chunk at offset `at`. Its wr_id is the number of bytes written when it
/// completes.
inline std::uint64_t post_write(const common::RcConnection& connection, const ibv_mr& mr,
                                const common::Chunks& bytes, std::uint64_t at) {
    const std::uint64_t length = std::min(bytes.chunk, bytes.size - at);
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + at,
                .length = static_cast<std::uint32_t>(length),
                .lkey = mr.lkey};
    ibv_send_wr wr{.wr_id = at + length,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = connection.remote().va + at,
                                   .rkey = connection.remote().rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(connection.qp(), &wr, &bad_wr));
    return wr.wr_id;
}

/// Posts chunks as the window allows, and returns the completion times after the last one.
inline std::vector<Time> write_all(const common::RcSide& side, ibv_cq* cq,
                                   const common::RcConnection& connection, const ibv_mr& mr,
                                   const Settings& settings, Window& window) {
    std::vector<Time> times;
    std::map<std::uint64_t, util::Clock::time_point> outstanding;  // by wr_id
    for (std::uint64_t posted = 0; posted < settings.bytes.size || !outstanding.empty();) {
        while (posted < settings.bytes.size && window.has_room(outstanding.size())) {
            const auto now = util::Clock::now();
            posted = post_write(connection, mr, settings.bytes, posted);
            outstanding.emplace(posted, now);
        }
        const auto wc = common::next_completion(cq, side.stop, util::deadline_in(side.time));
        if (side.stop.requested())
            throw util::Error("stopped by a signal.");
        const std::uint64_t done = rdma::expect_success(wc, "RDMA_WRITE").wr_id;
        times.push_back(util::Clock::now() - outstanding.extract(done).mapped());
        window.answered(times.back());
    }
    return times;
}

inline void transfer(const common::RcSide& side, const Settings& settings, const std::string& name,
                     Window window) {
    // 1. The memory, and a connection with the given traffic class.
    std::vector<std::byte> bytes = common::unlike_bytes(settings.bytes.size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    Ask{settings.bytes.size}.send(side.channel, side.limit());
    const rdma::Cq cq{CHECK_PTR(
        ibv_create_cq(side.context, static_cast<int>(settings.most), nullptr, nullptr, 0))};
    const common::RcConnection connection(
        side,
        {.cq = cq.get(),
         .first_psn = 0xc20000,
         .max_send_wr = static_cast<std::uint32_t>(settings.most),
         .retry = common::RetryPolicy{.timeout = static_cast<std::uint8_t>(settings.ack_timeout)},
         .path_mtu = static_cast<unsigned>(settings.path_mtu),
         .traffic_class = static_cast<std::uint8_t>(settings.traffic_class)});
    side.barrier();

    // 2. The WRITEs.
    const common::Counted counted(side.context, side.gid);
    const auto started = util::Clock::now();
    std::vector<Time> times = write_all(side, cq.get(), connection, *mr, settings, window);
    const std::chrono::microseconds took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto needed = settings.bytes.packets(connection.path_mtu());
    const auto sent = counted.since("sent_pkts");
    side.barrier();

    // 3. What has arrived, and the measurements of the program and its device.
    const auto seen = common::ReceiverReport::receive(side.channel, side.limit());
    if (seen.crc != common::crc_of(bytes))
        throw util::Error("the server's bytes differ from the bytes sent.");
    std::ranges::sort(times);
    const double mbit_per_s = static_cast<double>(settings.bytes.size) * 8 /
                              static_cast<double>(std::max<std::int64_t>(took.count(), 1));
    side.log.event(
        "bottleneck",
        {{"window", name},
         {"largest", fmt::format("{:.0f}", window.largest())},
         {"mbit_per_s", fmt::format("{:.1f}", mbit_per_s)},
         {"packets", needed},
         {"sent", sent},
         {"naks", counted.since("rcvd_seq_err")},
         {"p50_us",
          std::chrono::duration_cast<std::chrono::microseconds>(times[times.size() / 2]).count()},
         {"longest_us",
          std::chrono::duration_cast<std::chrono::microseconds>(times.back()).count()}});
}

}  // namespace lesson21
