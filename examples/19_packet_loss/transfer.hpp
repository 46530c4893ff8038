// Lesson 19, part 1: WRITEs over a link that may lose packets. How many packets were sent, how many
// were needed, and did the bytes arrive intact?
#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "connection.hpp"
#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "protocol.hpp"
#include "rdma/completion.hpp"
#include "rdma/describe.hpp"
#include "rdma/names.hpp"

namespace lesson19 {

struct Settings {
    common::Chunks bytes{.size = 1 << 20, .chunk = 64 << 10};
    std::uint64_t depth = 4;
    std::uint64_t path_mtu = 4096;
    std::uint64_t timeout = 16;
    std::uint64_t retry_cnt = 6;
};

/// Posts a WRITE of `length` bytes of the memory at offset `at`.
inline void post_write(const common::RcConnection& connection, std::uint64_t wr_id,
                       const ibv_mr& mr, std::uint64_t at, std::uint64_t length) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + at,
                .length = static_cast<std::uint32_t>(length),
                .lkey = mr.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = connection.remote().va + at,
                                   .rkey = connection.remote().rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(connection.qp(), &wr, &bad_wr));
}

/// Performs all WRITEs, at most `depth` outstanding. The wr_id of each is the number of bytes
/// written when it completes.
inline void write_all(const common::RcSide& side, ibv_cq* cq,
                      const common::RcConnection& connection, const ibv_mr& mr,
                      const Settings& settings) {
    const auto [size, chunk] = settings.bytes;
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    std::uint64_t outstanding = 0;
    while (done < size) {
        for (; posted < size && outstanding < settings.depth; ++outstanding) {
            const std::uint64_t length = std::min(chunk, size - posted);
            post_write(connection, posted + length, mr, posted, length);
            posted += length;
        }
        const auto wc = common::next_completion(cq, side.stop, util::deadline_in(side.time));
        if (wc && wc->status != IBV_WC_SUCCESS) {
            side.log.event("qp_state", rdma::query_state(connection.qp()));  // ERR
            throw util::Error(fmt::format(
                "RDMA_WRITE failed: {} ({}), with --retry-cnt {} and --ack-timeout {} ({:.0f} ms "
                "at least). The queue pair is in ERR: a new connection is needed. lab/lab wire and "
                "lab/lab netem print the loss on the link.",
                rdma::name_of(wc->status), ibv_wc_status_str(wc->status), settings.retry_cnt,
                settings.timeout,
                0.004096 * static_cast<double>(std::uint64_t{1} << settings.timeout)));
        }
        if (side.stop.requested())
            throw util::Error("stopped by a signal.");
        done = rdma::expect_success(wc, "RDMA_WRITE").wr_id;
        --outstanding;
    }
}

inline void transfer(const common::RcSide& side, const Settings& settings) {
    // 1. The memory, and a connection with the timeout and retry count from the command line.
    std::vector<std::byte> bytes = common::unlike_bytes(settings.bytes.size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    Ask{Task::Expose, settings.bytes.size}.send(side.channel, side.limit());
    const rdma::Cq cq{CHECK_PTR(
        ibv_create_cq(side.context, static_cast<int>(settings.depth), nullptr, nullptr, 0))};
    const common::RcConnection connection =
        connect(side,
                {.cq = cq.get(),
                 .first_psn = 0xc15000,
                 .max_send_wr = static_cast<std::uint32_t>(settings.depth),
                 .path_mtu = static_cast<unsigned>(settings.path_mtu)},
                settings.timeout, settings.retry_cnt);
    side.barrier();

    // 2. The WRITEs. The program only sees completions; the device's counters show what it sent.
    const common::Counted counted(side.context, side.gid);
    const auto started = util::Clock::now();
    write_all(side, cq.get(), connection, *mr, settings);
    const std::chrono::microseconds took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto needed = settings.bytes.packets(connection.path_mtu());
    const auto sent = counted.since("sent_pkts");
    side.barrier();

    // 3. What the server's memory contains, and what its device counted.
    const auto seen = common::ReceiverReport::receive(side.channel, side.limit());
    const bool is_intact = seen.crc == common::crc_of(bytes);
    const double mib = static_cast<double>(bytes.size()) / (1 << 20);
    const double seconds = static_cast<double>(std::max<std::int64_t>(took.count(), 1)) / 1e6;
    side.log.event("transfer", {{"len", bytes.size()},
                                {"packets", needed},
                                {"sent", sent},
                                {"again", sent > needed ? sent - needed : 0},
                                {"naks", counted.since("rcvd_seq_err")},
                                {"retries", counted.since("completer_retry_err")},
                                {"out_of_sequence", seen.out_of_sequence},
                                {"duplicates", seen.duplicates},
                                {"elapsed_us", took.count()},
                                {"mib_per_s", fmt::format("{:.2f}", mib / seconds)},
                                {"crc32", seen.crc},
                                {"bytes", is_intact ? "intact" : "DAMAGED"}});
    if (!is_intact)
        throw util::Error("the server's bytes differ from the bytes sent.");
}

}  // namespace lesson19
