// Step 03, the passive side: two-sided communication. A SEND names no memory of the receiver's; it
// takes the receive request that is next in line. Where there is none, the device says "receiver
// not ready", and this program lets that happen on purpose.
#include <string>
#include <vector>

#include "examples/common/cm_server.hpp"
#include "examples/common/memory.hpp"
#include "util/check.hpp"
#include "util/stop_signal.hpp"
#include "verbs/describe.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    std::uint64_t late_ms = 200;
    std::uint64_t rnr_timer = 14;
    std::uint64_t buffer = 4096;
};

constexpr std::uint32_t receives = 4;

// Each request has a piece of the memory for its message.
std::span<std::byte> buffer_of(std::span<std::byte> memory, std::uint64_t wr_id) {
    const std::size_t size = memory.size() / receives;
    return memory.subspan(wr_id % receives * size, size);
}

void post_receive(common::CmSession& session, const ibv_mr& mr, std::span<std::byte> buffer,
                  std::uint64_t wr_id) {
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(buffer.data()),
                  .length = static_cast<std::uint32_t>(buffer.size()),
                  .lkey = mr.lkey};
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    session.post_recv(wr);
}

// 2. How long a RNR NAK tells the sender to wait: a code in 5 bits (IBTA volume 1, table 45). The
// kernel's rdma_cm leaves 0, which is 655 ms.
void set_rnr_timer(ibv_qp* qp, std::uint64_t code, runlog::Log& log) {
    ibv_qp_attr attributes{};
    attributes.min_rnr_timer = static_cast<std::uint8_t>(code);
    util::check_rc(ibv_modify_qp(qp, &attributes, IBV_QP_MIN_RNR_TIMER), "ibv_modify_qp");
    log.note("a sender that comes too early is told to wait: RNR timer code " +
             std::to_string(code));
}

void serve(common::CmSession& session, const Options& options, runlog::Log& log,
           util::StopSignal& stop) {
    std::vector<std::byte> memory(receives * options.buffer);
    const verbs::Mr mr = verbs::register_memory(session.pd(), memory, IBV_ACCESS_LOCAL_WRITE);
    log.event("mr", verbs::describe(*mr, IBV_ACCESS_LOCAL_WRITE));
    session.make_qp({.max_send_wr = 1,
                     .max_recv_wr = receives,
                     .max_send_sge = 1,
                     .max_recv_sge = 1,
                     .max_inline_data = 0});
    // 1. No rkey is handed out: nobody but this program's own receive requests names its memory.
    const auto rnr_retries =
        session.request().empty() ? 7 : std::to_integer<unsigned>(session.request()[0]) & 7U;
    session.accept({}, static_cast<std::uint8_t>(rnr_retries));
    set_rnr_timer(session.qp(), options.rnr_timer, log);
    session.await_established();

    // 3. Be late, as a program that has other work to do.
    log.note("busy for " + std::to_string(options.late_ms) + " ms, with no receive posted");
    const util::Deadline ready = util::deadline_in(std::chrono::milliseconds(options.late_ms));
    static_cast<void>(util::wait_readable(stop.fd(), stop, ready));

    // 4. From here on some receive requests are always there: messages take them in their order.
    for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
        post_receive(session, *mr, buffer_of(memory, wr_id), wr_id);
    while (const auto wc = session.next_completion()) {
        if (wc->status != IBV_WC_SUCCESS)
            continue;  // the client has gone: the requests left over come back flushed
        const auto buffer = buffer_of(memory, wc->wr_id);
        log.event("memory", common::describe_memory(buffer.first(wc->byte_len)));
        post_receive(session, *mr, buffer, wc->wr_id + receives);
    }
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    common::CmServer server(options.server, log, stop);
    server.serve_each([&](common::CmSession& session) { serve(session, options, log, stop); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Step 03, server: receives messages, the first of them late.");
    Options options;
    command_line.add(options.server);
    command_line.number("--late", options.late_ms, 0, 60'000,
                        "Milliseconds before the first receive is posted");
    command_line.number("--rnr-timer", options.rnr_timer, 0, 31,
                        "Code of the time a RNR NAK asks for: 1 is 0.01 ms,\n14 is 1.28 ms, 0 is "
                        "655.36 ms");
    command_line.number("--buffer", options.buffer, 1, 1u << 20, "Bytes of each receive buffer");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
