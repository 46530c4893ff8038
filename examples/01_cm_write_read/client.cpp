// Lesson 01, the client: connects with rdma_cm, WRITEs into the server's memory, READs the same
// bytes back and compares them.
#include <algorithm>
#include <string>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/completion.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

using std::chrono::milliseconds;

// rdma_cm calls are asynchronous: an event reports the result. Returns null after the time limit or
// a signal.
rdma::CmEvent next_event(rdma_cm_id* id, util::StopSignal& stop, milliseconds time) {
    rdma_cm_event* event = nullptr;
    if (util::wait_readable(id->channel->fd, stop, util::deadline_in(time)) == util::Ready::input)
        CHECK_ERRNO(rdma_get_cm_event(id->channel, &event));
    return rdma::CmEvent{event};  // its destructor calls rdma_ack_cm_event
}

// Posts a work request and waits for its completion.
void transfer(ibv_qp* qp, std::uint64_t wr_id, ibv_wr_opcode opcode, const ibv_mr& local,
              const rdma::Capability& remote, util::StopSignal& stop, milliseconds time) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));

    // Long transfers get more time: one second for each MiB.
    const auto end = util::deadline_in(time + std::chrono::seconds(sge.length >> 20U));
    ibv_wc wc{};
    int completed = 0;
    while (completed == 0 && common::nap(stop, end))
        completed = ibv_poll_cq(qp->send_cq, 1, &wc);
    rdma::expect_success(completed > 0 ? std::optional(wc) : std::nullopt, rdma::name_of(opcode));
}

int run(const common::ClientOptions& options, std::size_t length, const std::string& text,
        runlog::Log& log, util::StopSignal& stop) {
    util::Address server = options.resolve_server();
    auto source = options.local.resolve(0, server.is_ipv6());
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId id = rdma::make_id(channel.get());
    const auto expect = [&](rdma_cm_event_type wanted) {
        return rdma::expect(next_event(id.get(), stop, options.timeout), wanted, server, stop);
    };

    // 1. Resolve the IP address to an RDMA device: the kernel looks up the route, the neighbour and
    // the GID. If the neighbour's reply is late, the next attempt succeeds.
    const milliseconds attempt = std::min(options.timeout, milliseconds(1000));
    const auto end = util::deadline_in(options.timeout);
    rdma::CmEvent event;
    do {
        util::check_errno(rdma_resolve_addr(id.get(), source ? source->get() : nullptr,
                                            server.get(), static_cast<int>(attempt.count())),
                          "rdma_resolve_addr(" + server.host() + ")");
        event = next_event(id.get(), stop, options.timeout);
    } while (event && event->event == RDMA_CM_EVENT_ADDR_ERROR && event->status == -ETIMEDOUT &&
             !util::is_past(end));
    rdma::expect(std::move(event), RDMA_CM_EVENT_ADDR_RESOLVED, server, stop);
    CHECK_ERRNO(rdma_resolve_route(id.get(), static_cast<int>(options.timeout.count())));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);

    // 2. Local resources. The source of a WRITE needs no access rights; the destination of a READ
    // needs LOCAL_WRITE.
    std::vector<std::byte> outgoing = common::pattern(length, text);
    std::vector<std::byte> returned(length);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr outgoing_mr{CHECK_PTR(ibv_reg_mr(pd.get(), outgoing.data(), length, 0))};
    const rdma::Mr returned_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), returned.data(), length, IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 2, nullptr, nullptr, 0))};
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq.get();
    attributes.recv_cq = cq.get();
    attributes.cap = {.max_send_wr = 2,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    CHECK_ERRNO(rdma_create_qp(id.get(), pd.get(), &attributes));
    const rdma::CmQp qp{id.get()};  // its destructor calls rdma_destroy_qp

    // 3. Connect. rdma_cm picks the first PSNs and moves the QP to RTS. The reply carries the
    // capability.
    rdma_conn_param parameters{};
    parameters.initiator_depth = 1;  // one outstanding READ
    parameters.retry_count = 7;
    parameters.rnr_retry_count = 7;  // 7: without limit
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));
    event = expect(RDMA_CM_EVENT_ESTABLISHED);
    const auto remote = rdma::Capability::parse(event->param.conn);
    event.reset();
    log.event("exchange", rdma::describe(remote, "received"));
    if (remote.length < length)
        throw util::Error("the server exposes " + std::to_string(remote.length) +
                          " bytes, fewer than --length " + std::to_string(length) +
                          ". Start it with a larger --memory.");

    // 4. WRITE, then READ the same bytes back. The server's program takes no part in either.
    transfer(id->qp, 1, IBV_WR_RDMA_WRITE, *outgoing_mr, remote, stop, options.timeout);
    transfer(id->qp, 2, IBV_WR_RDMA_READ, *returned_mr, remote, stop, options.timeout);
    log.event("memory", common::describe_memory(returned));

    // 5. Disconnect: DREQ and DREP on the wire; the QP goes to ERR.
    CHECK_ERRNO(rdma_disconnect(id.get()));
    expect(RDMA_CM_EVENT_DISCONNECTED);
    if (!std::ranges::equal(outgoing, returned))
        throw util::Error("the bytes READ back differ from the bytes written.");
    log.note("the bytes read back equal the bytes written");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 01, client: WRITEs into the server's memory and READs it back.");
    common::ClientOptions options;
    command_line.add(options);
    std::uint64_t length = 10'000;
    command_line.number("--length", length, 1, 1u << 30, "Bytes to write and read back");
    std::string text = "Hello from the client. ";
    command_line.text("--text", text, "Text with which the bytes are filled");
    return command_line.main(argc, argv, common::traced([&](auto& log, auto& stop) {
                                 return run(options, length, text, log, stop);
                             }));
}
