// Lesson 17, the client: connects with rdma_cm, but creates the queue pair and performs its
// transitions itself. So it can send with another first PSN than the one that rdma_cm has
// announced, and this program tries that.
#include <string>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/handles.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    std::uint64_t distance = 16;  // packets
};

// Gets the attributes of a transition from rdma_cm, as rdma_create_qp and rdma_connect do.
ibv_qp_attr attributes_for(rdma_cm_id* id, ibv_qp_state state, int& mask) {
    ibv_qp_attr attr{.qp_state = state};
    CHECK_ERRNO(rdma_init_qp_attr(id, &attr, &mask));
    return attr;
}

// Tests a connection whose packets begin `distance` after the announced PSN with one WRITE.
void try_distance(std::int64_t distance, const Options& options, runlog::Log& log,
                  util::StopSignal& stop) {
    const auto timeout = options.client.timeout;
    util::Address server = options.client.resolve_server();
    auto source = options.client.local.resolve(0, server.is_ipv6());

    // 1. An id with its device and route, and a queue pair that does not belong to the id.
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId id = rdma::make_id(channel.get());
    const auto expect = [&](rdma_cm_event_type wanted) {
        return rdma::expect_event(channel.get(), wanted, server, stop, util::deadline_in(timeout));
    };
    rdma::resolve_address(id.get(), source ? &*source : nullptr, server, stop, timeout);
    CHECK_ERRNO(rdma_resolve_route(id.get(), static_cast<int>(timeout.count())));
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    std::vector<std::byte> outgoing = common::pattern(1000, "Which PSN? ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), outgoing.data(), outgoing.size(), 0))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 2, nullptr, nullptr, 0))};
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &init))};

    // 2. Connect. rdma_cm sends the number of this queue pair and a PSN that it chooses.
    int mask = 0;
    ibv_qp_attr attr = attributes_for(id.get(), IBV_QPS_INIT, mask);
    util::check_rc(ibv_modify_qp(qp.get(), &attr, mask), "ibv_modify_qp(RESET to INIT)");
    rdma_conn_param parameters{.retry_count = 3, .rnr_retry_count = 7, .qp_num = qp->qp_num};
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));
    rdma::CmEvent response = expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
    const auto remote = rdma::Capability::parse(response->param.conn);
    response.reset();
    log.event("exchange", rdma::describe(remote, "received"));

    // 3. Move to RTS. rdma_cm's attributes contain the PSN that it announced.
    attr = attributes_for(id.get(), IBV_QPS_RTR, mask);
    util::check_rc(ibv_modify_qp(qp.get(), &attr, mask), "ibv_modify_qp(INIT to RTR)");
    attr = attributes_for(id.get(), IBV_QPS_RTS, mask);
    attr.sq_psn = static_cast<std::uint32_t>(attr.sq_psn + distance) & 0xffffffU;
    attr.timeout = 14;  // 67 ms
    util::check_rc(ibv_modify_qp(qp.get(), &attr, mask), "ibv_modify_qp(RTR to RTS)");
    log.event("psn", {{"qpn", qp->qp_num},
                      {"psn", attr.sq_psn},
                      {"source", distance == 0  ? "rdma_cm"
                                 : distance < 0 ? std::to_string(-distance) + " before rdma_cm's"
                                                : std::to_string(distance) + " after rdma_cm's"}});
    CHECK_ERRNO(rdma_establish(id.get()));

    // 4. A WRITE and its completion.
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(outgoing.data()),
                .length = static_cast<std::uint32_t>(outgoing.size()),
                .lkey = mr->lkey};
    ibv_send_wr wr{.wr_id = 1,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = remote.va, .rkey = remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
    const auto wc = common::next_completion(cq.get(), stop, util::deadline_in(timeout));
    log.note("the WRITE " + (wc ? "completed with " + std::string(rdma::name_of(wc->status))
                                : std::string("did not complete")));

    // 5. rdma_cm sends the DisconnectRequest; this program must move the queue pair.
    CHECK_ERRNO(rdma_disconnect(id.get()));
    expect(RDMA_CM_EVENT_DISCONNECTED);
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto distance = static_cast<std::int64_t>(options.distance);
    for (const std::int64_t psns : {std::int64_t{0}, distance, -distance})
        try_distance(psns, options, log, stop);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 17, client: three connections over rdma_cm. They send from the PSN that rdma_cm "
        "announced,\nfrom a later PSN, and from an earlier PSN.");
    Options options;
    command_line.add(options.client);
    command_line.number("--distance", options.distance, 1, 0x7fffff,
                        "Distance of the later and the earlier PSN, in packets");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
