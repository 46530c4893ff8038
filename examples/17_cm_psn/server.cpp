// Lesson 17, the server: as in lesson 01, for one client at a time. rdma_cm creates the queue pair
// and performs its transitions, with the PSNs of the ConnectRequest and ConnectReply messages.
#include <string>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/handles.hpp"
#include "util/check.hpp"

namespace {

constexpr std::size_t memory_size = 4096;

// One client: from its ConnectRequest to its DisconnectRequest.
void serve(const rdma::CmId& id, rdma::CmEvent request, rdma_event_channel* channel,
           runlog::Log& log, util::StopSignal& stop) {
    const util::Address client(rdma_get_peer_addr(id.get()));
    std::vector<std::byte> memory(memory_size);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 1, nullptr, nullptr, 0))};
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id.get(), pd.get(), &init));
    const rdma::CmQp qp{id.get()};  // its destructor calls rdma_destroy_qp

    const rdma::Capability capability{.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                                      .length = memory.size(),
                                      .rkey = mr->rkey};
    const auto bytes = capability.serialize();
    rdma_conn_param parameters{
        .private_data = bytes.data(), .private_data_len = bytes.size(), .rnr_retry_count = 7};
    CHECK_ERRNO(rdma_accept(id.get(), &parameters));
    request.reset();
    log.event("exchange", rdma::describe(capability, "sent"));

    const auto expect = [&](rdma_cm_event_type wanted, util::Deadline deadline) {
        rdma::expect_event(channel, wanted, client, stop, deadline);
    };
    expect(RDMA_CM_EVENT_ESTABLISHED, util::deadline_in(std::chrono::seconds(5)));
    expect(RDMA_CM_EVENT_DISCONNECTED, std::nullopt);
    log.event("memory", common::describe_memory(memory));
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId listener = rdma::make_id(channel.get());
    util::Address address = options.address();
    util::check_errno(rdma_bind_addr(listener.get(), address.get()),
                      "rdma_bind_addr(" + address.text() + ")");
    CHECK_ERRNO(rdma_listen(listener.get(), 16));
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    while (rdma::CmEvent event = rdma::next_event(channel.get(), stop, std::nullopt)) {
        if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
            continue;
        const rdma::CmId id{event->id};
        try {
            serve(id, std::move(event), channel.get(), log, stop);
        } catch (const std::exception& error) {  // the next client is still served
            log.error(error.what());
        }
    }
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 17, server: exposes memory to each client over rdma_cm.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
