// Step 05: a queue pair's life, state by state, by hand. Two queue pairs of this host talk to each
// other, so that no second program and no connection manager is in the way.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "transitions.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"

namespace {

using step05::Link;

constexpr std::chrono::milliseconds patience{5000};

// Both ends have the same address: packets between them do not leave the device.
Link link_to_itself(ibv_context* context) {
    for (const verbs::Gid& gid : verbs::gid_table(context))
        if (gid.type == IBV_GID_TYPE_ROCE_V2 || gid.type == IBV_GID_TYPE_IB)
            return {.gid = gid};
    throw util::Error("the device has no RoCE v2 address. 00_devices says what is missing.");
}

verbs::Qp make_qp(ibv_pd* pd, ibv_cq* cq) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq;
    attributes.recv_cq = cq;
    attributes.cap = {.max_send_wr = 4,
                      .max_recv_wr = 4,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    return verbs::Qp{util::check_ptr(ibv_create_qp(pd, &attributes), "ibv_create_qp")};
}

// One of the two ends: "a" sends, "b" receives.
struct End {
    std::vector<std::byte> memory;
    verbs::Mr mr;
    verbs::CompletionQueue completions;
    verbs::Qp qp;

    End(ibv_context* context, ibv_pd* pd, std::string_view text)
        : memory(common::pattern(64, text)),
          mr(verbs::register_memory(pd, memory, IBV_ACCESS_LOCAL_WRITE)),
          completions(context, 8),
          qp(make_qp(pd, completions.cq.get())) {}

    ibv_sge piece() const {
        return {.addr = reinterpret_cast<std::uintptr_t>(memory.data()),
                .length = static_cast<std::uint32_t>(memory.size()),
                .lkey = mr->lkey};
    }
    int post_recv(std::uint64_t wr_id) const {
        ibv_sge sge = piece();
        ibv_recv_wr wr{.wr_id = wr_id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
        ibv_recv_wr* refused = nullptr;
        return ibv_post_recv(qp.get(), &wr, &refused);
    }
    int post_send(std::uint64_t wr_id) const {
        ibv_sge sge = piece();
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_send_wr* refused = nullptr;
        return ibv_post_send(qp.get(), &wr, &refused);
    }
};

class Lesson {
  public:
    Lesson(ibv_context* context, const Link& link, runlog::Log& log, util::StopSignal& stop)
        : link_(link),
          log_(log),
          stop_(stop),
          pd_(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd")),
          a_(context, pd_.get(), "From a to b. "),
          b_(context, pd_.get(), "") {}

    void run() {
        reset();
        init();
        ready_to_receive();
        ready_to_send();
        drain();
        error();
        recover();
        log_.note("every transition went as the specification says");
    }

  private:
    // 1. RESET: a new queue pair has nothing but its number.
    void reset() {
        dump(a_);
        refused(a_, step05::to_rtr(link_, b_.qp->qp_num), "RTR needs INIT first");
        refused(a_, step05::to_rts(link_), "RTS needs INIT and RTR first");
    }

    // 2. INIT: bound to a port, with the rights that a peer's requests have. Receive requests may
    // be posted, for nothing can arrive yet.
    void init() {
        for (End* end : {&a_, &b_})
            done(*end, step05::to_init(link_));
        done(a_, step05::to_init(link_));  // again: port and rights may still be changed
        dump(a_);
        said("ibv_post_recv in INIT", b_.post_recv(1));
        refused(a_, step05::to_rts(link_), "RTS needs RTR first");
        auto incomplete = step05::to_rtr(link_, b_.qp->qp_num);
        incomplete.mask &= ~IBV_QP_AV;
        refused(a_, incomplete, "RTR needs the peer's address");
    }

    // 3. RTR, ready to receive: knows the peer and the PSN of its first packet.
    void ready_to_receive() {
        done(a_, step05::to_rtr(link_, b_.qp->qp_num));
        done(b_, step05::to_rtr(link_, a_.qp->qp_num));
        dump(a_);
    }

    // 4. RTS, ready to send: has a PSN of its own and timers. The other end answers although it is
    // still in RTR.
    void ready_to_send() {
        done(a_, step05::to_rts(link_));
        dump(a_);
        said("ibv_post_send in RTS, to a queue pair in RTR", a_.post_send(1));
        expect(a_, IBV_WC_SUCCESS);
        expect(b_, IBV_WC_SUCCESS);
        log_.event("memory", common::describe_memory(b_.memory));
        refused(a_, step05::to_init(link_), "there is no way back but through RESET");
        done(b_, step05::to_rts(link_));
        auto changed = step05::to(IBV_QPS_RTS);  // some attributes may be changed while it works
        changed.attributes.min_rnr_timer = 1;
        changed.mask |= IBV_QP_MIN_RNR_TIMER;
        done(b_, changed);
    }

    // 5. SQD, send queue drained: what was posted is finished, what is posted now waits.
    void drain() {
        for (const std::uint64_t wr_id : {2, 3})
            said("ibv_post_recv at b", b_.post_recv(wr_id));
        done(a_, step05::to(IBV_QPS_SQD));
        await_drained(a_);
        done(a_, step05::to(IBV_QPS_SQD));
        dump(a_);
        said("ibv_post_send in SQD", a_.post_send(2));
        if (completion_soon(a_))
            throw util::Error("a request that was posted in SQD was sent before RTS.");
        log_.note("nothing leaves while the queue is drained");
        done(a_, step05::to(IBV_QPS_RTS));
        // Soft-RoCE goes on with its queue only when the next request rings the doorbell (Linux
        // 6.1, drivers/infiniband/sw/rxe/rxe_qp.c).
        const auto woken = completion_soon(a_);
        if (woken)
            judge(a_, *woken, IBV_WC_SUCCESS);
        else
            log_.note("the request still waits: this device has to be woken by another one");
        said("ibv_post_send after SQD", a_.post_send(3));
        if (!woken)
            expect(a_, IBV_WC_SUCCESS);
        expect(a_, IBV_WC_SUCCESS);
        expect(b_, IBV_WC_SUCCESS);
        expect(b_, IBV_WC_SUCCESS);
    }

    // 6. ERR: nothing is sent or received; every request comes back flushed.
    void error() {
        said("ibv_post_recv at a", a_.post_recv(4));
        done(a_, step05::to(IBV_QPS_ERR));
        dump(a_);
        expect(a_, IBV_WC_WR_FLUSH_ERR);
        said("ibv_post_send in ERR", a_.post_send(5));
        expect(a_, IBV_WC_WR_FLUSH_ERR);
        refused(a_, step05::to_rts(link_), "there is no way back but through RESET");
    }

    // 7. RESET again: as new, with other PSNs. The peer has to begin anew, too: it would take the
    // first packet for one that was repeated, or for one too many.
    void recover() {
        Link again = link_;
        again.psn = (link_.psn + 0x1000) & 0xffffff;
        done(b_, step05::to(IBV_QPS_ERR));
        for (End* end : {&a_, &b_}) {
            done(*end, step05::to(IBV_QPS_RESET));
            done(*end, step05::to_init(again));
        }
        said("ibv_post_recv at b", b_.post_recv(6));
        done(a_, step05::to_rtr(again, b_.qp->qp_num));
        done(b_, step05::to_rtr(again, a_.qp->qp_num));
        done(a_, step05::to_rts(again));
        dump(a_);
        said("ibv_post_send after the recovery", a_.post_send(7));
        expect(a_, IBV_WC_SUCCESS);
        expect(b_, IBV_WC_SUCCESS);
        done(b_, step05::to(IBV_QPS_RESET));  // from any state
        refused(b_, step05::to(IBV_QPS_ERR), "a queue pair in RESET has nothing to break");
    }

    std::optional<ibv_wc> completion_soon(End& end) {
        return end.completions.next(stop_, util::deadline_in(std::chrono::milliseconds(200)));
    }

    std::string_view name(const End& end) const { return &end == &a_ ? "a" : "b"; }

    void dump(const End& end) { log_.event("qp_attr", step05::describe(end.qp.get())); }

    void done(End& end, const step05::Transition& transition) {
        if (const int error = attempt(end, transition, ""); error != 0)
            util::throw_system_error(error, "ibv_modify_qp");
    }
    void refused(End& end, const step05::Transition& transition, std::string_view why) {
        if (attempt(end, transition, why) == 0)
            throw util::Error(fmt::format("the device allowed what it must refuse: {}.", why));
    }

    // Until what was posted before is finished, SQD allows nothing but ERR. The event for that is
    // IBV_EVENT_SQ_DRAINED; the attribute says the same to who asks.
    void await_drained(const End& end) {
        const util::Deadline deadline = util::deadline_in(patience);
        while (step05::query(end.qp.get()).sq_draining != 0)
            if (stop_.requested() || util::is_past(deadline))
                throw util::Error("the send queue was not drained in time.");
    }

    // The device, or the kernel before it, says what it thinks of a transition by its return value.
    int attempt(End& end, step05::Transition transition, std::string_view why) {
        const auto from = verbs::name_of(step05::query(end.qp.get()).qp_state);
        const int error = ibv_modify_qp(end.qp.get(), &transition.attributes, transition.mask);
        runlog::Fields fields{{"end", name(end)},
                              {"from", from},
                              {"to", verbs::name_of(transition.attributes.qp_state)},
                              {"result", error == 0 ? "done" : strerrorname_np(error)}};
        if (!why.empty())
            fields.emplace_back("why", why);
        log_.event("transition", std::move(fields));
        return error;
    }

    void said(std::string_view what, int error) {
        if (error != 0)
            util::throw_system_error(error, what);
        log_.note(fmt::format("{}: accepted", what));
    }

    void expect(End& end, ibv_wc_status wanted) {
        const auto wc = end.completions.next(stop_, util::deadline_in(patience));
        if (!wc)
            throw util::Error(fmt::format("no completion came at {} in five seconds.", name(end)));
        judge(end, *wc, wanted);
    }
    void judge(const End& end, const ibv_wc& wc, ibv_wc_status wanted) {
        log_.event("wc", verbs::describe(wc));
        if (wc.status != wanted)
            throw util::Error(fmt::format("the completion at {} is {}, where {} was to be seen.",
                                          name(end), verbs::name_of(wc.status),
                                          verbs::name_of(wanted)));
    }

    Link link_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    verbs::Pd pd_;
    End a_;
    End b_;
};

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("qp_states",
                                     "Step 05: takes a queue pair through all its states, by hand, "
                                     "and tries what is forbidden.");
    std::string device;
    command_line.text("--device", device, "Use this RDMA device (default: the first)");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        const auto names = verbs::device_names();
        if (device.empty() && names.empty())
            throw util::Error("this host has no RDMA device. 00_devices says what is missing.");
        const verbs::Context context = verbs::open_device(device.empty() ? names[0] : device);
        const Link link = link_to_itself(context.get());
        log.event("device", verbs::describe_device(context.get(), link.gid.port, &link.gid));
        Lesson(context.get(), link, log, stop).run();
        return 0;
    });
}
