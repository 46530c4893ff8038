// Step 01, the active side: connect by rdma_cm, WRITE into the server's memory, READ it back,
// compare.
#include <algorithm>
#include <string>
#include <vector>

#include "cm/capability.hpp"
#include "cm/events.hpp"
#include "lesson/memory.hpp"
#include "lesson/program.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"

namespace {

// One signalled one-sided request, its predicted PSNs logged before its first packet exists, and
// its completion.
void transfer(ibv_qp* qp, ibv_wr_opcode opcode, std::uint64_t wr_id, const ibv_mr& local,
              const cm::Capability& remote, verbs::PsnPredictor& psns,
              verbs::CompletionQueue& completions, std::chrono::milliseconds patience,
              runlog::Log& log, util::StopSignal& stop) {
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                  .length = static_cast<std::uint32_t>(local.length),
                  .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    log.event("post_send", verbs::describe(*qp, wr, psns.take(opcode, piece.length)));
    ibv_send_wr* refused = nullptr;
    util::check_rc(ibv_post_send(qp, &wr, &refused), "ibv_post_send");

    // A long transfer may take its time: a second more for each MiB.
    const auto wc = completions.next(
        stop, util::deadline_in(patience + std::chrono::seconds(piece.length >> 20)));
    if (wc)
        log.event("wc", verbs::describe(*wc));
    verbs::expect_success(wc, verbs::name_of(opcode));
}

int run(const lesson::ClientOptions& options, std::size_t length, const std::string& text,
        runlog::Log& log, util::StopSignal& stop) {
    // 1. From an IP address to an RDMA device: the kernel looks up the route, the neighbour and the
    // GID to use.
    util::Address server = options.resolve_server();
    auto source = options.local.resolve(0, server.is_ipv6());
    const cm::EventChannel channel = cm::make_channel();
    const cm::Id id = cm::make_id(channel.get());
    cm::Event resolved =
        cm::resolve_address(id.get(), source ? &*source : nullptr, server, stop, options.timeout);
    log.event("cm_event", cm::describe(*resolved));
    resolved.reset();
    const auto expect = [&](rdma_cm_event_type wanted) {
        cm::Event event = cm::expect_event(channel.get(), wanted, server, stop,
                                           util::deadline_in(options.timeout));
        log.event("cm_event", cm::describe(*event));
        return event;
    };
    util::check_errno(rdma_resolve_route(id.get(), static_cast<int>(options.timeout.count())),
                      "rdma_resolve_route");
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);

    // 2. The local resources. The outgoing bytes need no right at all, the buffer a READ fills
    // needs LOCAL_WRITE.
    std::vector<std::byte> outgoing = lesson::pattern(length, text);
    std::vector<std::byte> returned(length);
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(id->verbs), "ibv_alloc_pd")};
    const verbs::Mr outgoing_mr = verbs::register_memory(pd.get(), outgoing, 0);
    log.event("mr", verbs::describe(*outgoing_mr, 0));
    const verbs::Mr returned_mr =
        verbs::register_memory(pd.get(), returned, IBV_ACCESS_LOCAL_WRITE);
    log.event("mr", verbs::describe(*returned_mr, IBV_ACCESS_LOCAL_WRITE));
    verbs::CompletionQueue completions(id->verbs, 2);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions.cq.get();
    attributes.recv_cq = completions.cq.get();
    attributes.cap = {.max_send_wr = 2,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    const cm::Qp qp_owner = cm::make_qp(id.get(), pd.get(), attributes);
    log.event("qp", verbs::describe(*id->qp, attributes.cap));

    // 3. Connect. rdma_cm picks the starting PSNs and walks the QP to RTS; the capability comes in
    // the answer.
    rdma_conn_param parameters{};
    parameters.initiator_depth = 1;  // one READ outstanding
    parameters.retry_count = 7;
    parameters.rnr_retry_count = 7;
    util::check_errno(rdma_connect(id.get(), &parameters), "rdma_connect");
    cm::Event established = expect(RDMA_CM_EVENT_ESTABLISHED);
    const auto& answer = established->param.conn;
    const auto remote = cm::Capability::parse(std::as_bytes(
        std::span(static_cast<const char*>(answer.private_data), answer.private_data_len)));
    established.reset();
    log.event("exchange", cm::describe(remote, "received"));
    log.event("device", verbs::describe_device(id->qp));
    log.event("qp_state", verbs::query_state(id->qp));
    if (remote.length < length)
        throw util::Error("the server lends " + std::to_string(remote.length) +
                          " bytes, fewer than --length " + std::to_string(length) +
                          ". Start it with a larger --memory.");

    // 4. WRITE, then READ the same bytes back. The server's program takes no part in either.
    auto psns = verbs::PsnPredictor::of(id->qp);
    transfer(id->qp, IBV_WR_RDMA_WRITE, 1, *outgoing_mr, remote, psns, completions, options.timeout,
             log, stop);
    transfer(id->qp, IBV_WR_RDMA_READ, 2, *returned_mr, remote, psns, completions, options.timeout,
             log, stop);
    log.event("memory", lesson::describe_memory(returned));

    // 5. Part as friends: DREQ and DREP on the wire, the QP to ERR.
    util::check_errno(rdma_disconnect(id.get()), "rdma_disconnect");
    expect(RDMA_CM_EVENT_DISCONNECTED);
    if (!std::ranges::equal(outgoing, returned))
        throw util::Error("the bytes READ back differ from the bytes written.");
    log.note("the bytes read back equal the bytes written");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "client", "Step 01, client: WRITEs into the server's memory and READs it back.");
    lesson::ClientOptions options;
    command_line.add(options);
    std::uint64_t length = 10'000;
    command_line.number("--length", length, 1, 1u << 30, "Bytes to write and read back");
    std::string text = "Hello from the client. ";
    command_line.text("--text", text, "What the bytes say, again and again");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, length, text, log, stop);
    });
}
