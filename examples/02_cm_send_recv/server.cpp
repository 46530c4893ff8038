// Lesson 02, the server: two-sided communication. A SEND contains no remote address; it consumes the
// next receive in the queue. If there is none, the device responds "receiver not ready". This
// program provokes that.
#include <string>
#include <vector>

#include "examples/common/cm_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"
#include "util/stop_signal.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    std::uint64_t late_ms = 200;
    std::uint64_t rnr_timer = 14;
    std::uint64_t buffer = 4096;
};

constexpr std::uint32_t receives = 4;

// Returns the part of the memory that belongs to this receive.
std::span<std::byte> buffer_of(std::span<std::byte> memory, std::uint64_t wr_id) {
    const std::size_t size = memory.size() / receives;
    return memory.subspan(wr_id % receives * size, size);
}

void post_receive(ibv_qp* qp, const ibv_mr& mr, std::span<std::byte> buffer, std::uint64_t wr_id) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(buffer.data()),
                .length = static_cast<std::uint32_t>(buffer.size()),
                .lkey = mr.lkey};
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

void serve(common::CmSession& session, const Options& options, runlog::Log& log,
           util::StopSignal& stop) {
    // 1. The server sends no rkey: only its own receives refer to its memory.
    std::vector<std::byte> memory(receives * options.buffer);
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(session.pd(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE))};
    session.make_qp({.max_send_wr = 1,
                     .max_recv_wr = receives,
                     .max_send_sge = 1,
                     .max_recv_sge = 1,
                     .max_inline_data = 0});

    // 2. Accept. rnr_retry_count is for the client's device: rdma_connect and rdma_accept each set
    // the other side's.
    rdma_conn_param parameters{};
    const auto capability = rdma::Capability{}.serialize();  // nothing is exposed
    parameters.private_data = capability.data();
    parameters.private_data_len = capability.size();
    parameters.rnr_retry_count =
        session.request().empty() ? 7 : std::to_integer<std::uint8_t>(session.request()[0]) & 7U;
    CHECK_ERRNO(rdma_accept(session.id(), &parameters));

    // 3. The delay that an RNR NAK requests from the sender: a 5-bit code (IBTA volume 1, table
    // 45). The kernel's rdma_cm leaves 0, which is 655 ms.
    ibv_qp_attr attr{};
    attr.min_rnr_timer = static_cast<std::uint8_t>(options.rnr_timer);
    CHECK_RC(ibv_modify_qp(session.qp(), &attr, IBV_QP_MIN_RNR_TIMER));
    log.note("an RNR NAK asks the sender to wait: RNR timer code " +
             std::to_string(options.rnr_timer));
    session.await_established();

    // 4. Be late, like a program that has other work to do.
    log.note("busy for " + std::to_string(options.late_ms) + " ms, with no receive posted");
    const util::Deadline ready = util::deadline_in(std::chrono::milliseconds(options.late_ms));
    static_cast<void>(util::wait_readable(stop.fd(), stop, ready));

    // 5. From now on, receives are always posted. Messages consume them in order.
    for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
        post_receive(session.qp(), *mr, buffer_of(memory, wr_id), wr_id);
    bool is_connected = true;
    while (is_connected) {
        is_connected = session.stays_connected();  // before polling, to get the last completions
        ibv_wc wc{};
        while (ibv_poll_cq(session.cq(), 1, &wc) > 0) {
            if (wc.status != IBV_WC_SUCCESS)
                continue;  // disconnected: the remaining receives complete as flushed
            const auto buffer = buffer_of(memory, wc.wr_id);
            log.event("memory", common::describe_memory(buffer.first(wc.byte_len)));
            post_receive(session.qp(), *mr, buffer, wc.wr_id + receives);
        }
    }
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    common::CmServer server(options.server, log, stop);
    server.serve_each([&](common::CmSession& session) { serve(session, options, log, stop); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 02, server: receives messages; posts its first receive late.");
    Options options;
    command_line.add(options.server);
    command_line.number("--late", options.late_ms, 0, 60'000,
                        "Milliseconds before the first receive is posted");
    command_line.number("--rnr-timer", options.rnr_timer, 0, 31,
                        "RNR timer code, the wait that an RNR NAK asks for:\n1 is 0.01 ms, 14 is "
                        "1.28 ms, 0 is 655.36 ms");
    command_line.number("--buffer", options.buffer, 1, 1u << 20, "Bytes of each receive buffer");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
