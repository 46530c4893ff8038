// Lesson 05: the states of a queue pair, by hand. Both queue pairs are on this host, so that there is
// no second program and no connection manager.
#include <string>

#include "end.hpp"
#include "examples/common/program.hpp"

namespace {

using lesson05::End;
using lesson05::Link;
using lesson05::to;
using lesson05::to_init;
using lesson05::to_rtr;
using lesson05::to_rts;

// Both ends have the same address: their packets do not leave the device.
Link link_to_itself(ibv_context* context) {
    for (const rdma::Gid& gid : rdma::gid_table(context))
        if (gid.type == IBV_GID_TYPE_ROCE_V2 || gid.type == IBV_GID_TYPE_IB)
            return {.gid = gid};
    throw util::Error(
        "the device has no RoCE v2 address. Run 00_hello/devices to find out what is missing.");
}

int run(ibv_context* context, const Link& link, runlog::Log& log, util::StopSignal& stop) {
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(context))};
    End a("a", context, pd.get(), "From a to b. ", log, stop);  // sends
    End b("b", context, pd.get(), "", log, stop);               // receives

    // 1. RESET: a new queue pair has only its number.
    a.dump();
    a.refused(to_rtr(link, b.qpn()), "RTR needs INIT first");
    a.refused(to_rts(link), "RTS needs INIT and RTR first");

    // 2. INIT: bound to a port, with the access rights for the peer's requests. Receives may be
    // posted before anything can arrive.
    a.done(to_init(link));
    b.done(to_init(link));
    a.done(to_init(link));  // again: port and access rights may still change
    a.dump();
    b.post_recv(1, "ibv_post_recv in INIT");
    a.refused(to_rts(link), "RTS needs RTR first");
    auto incomplete = to_rtr(link, b.qpn());
    incomplete.mask &= ~IBV_QP_AV;
    a.refused(incomplete, "RTR needs the peer's address");

    // 3. RTR, ready to receive: knows the peer and the first PSN to expect.
    a.done(to_rtr(link, b.qpn()));
    b.done(to_rtr(link, a.qpn()));
    a.dump();

    // 4. RTS, ready to send: has its own first PSN and timers. The other end responds although it
    // is still in RTR.
    a.done(to_rts(link));
    a.dump();
    a.post_send(1, "ibv_post_send in RTS, to a queue pair in RTR");
    a.expect(IBV_WC_SUCCESS);
    b.expect(IBV_WC_SUCCESS);
    log.event("memory", common::describe_memory(b.memory()));
    a.refused(to_init(link), "the only way back is through RESET");
    b.done(to_rts(link));
    auto changed = to(IBV_QPS_RTS);  // some attributes may change in RTS
    changed.attributes.min_rnr_timer = 1;
    changed.mask |= IBV_QP_MIN_RNR_TIMER;
    b.done(changed);

    // 5. SQD, send queue drain: messages in progress complete; a request that has not begun waits,
    // whether it was posted before SQD or in it.
    b.post_recv(2, "ibv_post_recv at b");
    b.post_recv(3, "ibv_post_recv at b");
    a.done(to(IBV_QPS_SQD));
    a.await_drained();
    a.done(to(IBV_QPS_SQD));
    a.dump();
    a.post_send(2, "ibv_post_send in SQD");
    if (a.completion_within(std::chrono::milliseconds(200)))
        throw util::Error("a request that was posted in SQD was sent before RTS.");
    log.note("no request is sent while the queue is in SQD");
    a.done(to(IBV_QPS_RTS));
    // Soft-RoCE resumes its queue only when the next request rings the doorbell (Linux 6.1,
    // drivers/infiniband/sw/rxe/rxe_qp.c).
    const auto woken = a.completion_within(std::chrono::milliseconds(200));
    if (woken)
        a.judge(woken, IBV_WC_SUCCESS);
    else
        log.note("the request still waits: this device starts only when another request is posted");
    a.post_send(3, "ibv_post_send after SQD");
    if (!woken)
        a.expect(IBV_WC_SUCCESS);
    a.expect(IBV_WC_SUCCESS);
    b.expect(IBV_WC_SUCCESS);
    b.expect(IBV_WC_SUCCESS);

    // 6. ERR: nothing is sent or received; every request completes as flushed.
    a.post_recv(4, "ibv_post_recv at a");
    a.done(to(IBV_QPS_ERR));
    a.dump();
    a.expect(IBV_WC_WR_FLUSH_ERR);
    a.post_send(5, "ibv_post_send in ERR");
    a.expect(IBV_WC_WR_FLUSH_ERR);
    a.refused(to_rts(link), "the only way back is through RESET");

    // 7. RESET again: like new, with other PSNs. The peer must restart, too: it would take the
    // first packet for a duplicate or for one after a gap.
    Link again = link;
    again.psn = (link.psn + 0x1000) & 0xffffff;
    b.done(to(IBV_QPS_ERR));
    for (End* end : {&a, &b}) {
        end->done(to(IBV_QPS_RESET));
        end->done(to_init(again));
    }
    b.post_recv(6, "ibv_post_recv at b");
    a.done(to_rtr(again, b.qpn()));
    b.done(to_rtr(again, a.qpn()));
    a.done(to_rts(again));
    a.dump();
    a.post_send(7, "ibv_post_send after the recovery");
    a.expect(IBV_WC_SUCCESS);
    b.expect(IBV_WC_SUCCESS);
    b.done(to(IBV_QPS_RESET));  // from any state
    b.refused(to(IBV_QPS_ERR), "RESET does not lead to ERR");
    log.note("all transitions were as specified");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "qp_states",
        "Lesson 05: moves a queue pair through all its states, and tries forbidden transitions.");
    std::string device;
    command_line.text("--device", device, "Use this RDMA device (default: the first)");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        const auto names = rdma::device_names();
        if (device.empty() && names.empty())
            throw util::Error(
                "this host has no RDMA device. Run 00_hello/devices to find out what is missing.");
        const rdma::Context context = rdma::open_device(device.empty() ? names[0] : device);
        const Link link = link_to_itself(context.get());
        log.event("device", rdma::describe_device(context.get(), link.gid.port, &link.gid));
        return run(context.get(), link, log, stop);
    });
}
