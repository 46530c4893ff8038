// Lesson 01, the server: lets each client write and read a part of its memory. The client does so
// without running any of this program's instructions.
#include <iostream>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_handles.hpp"
#include "rdma/handles.hpp"
#include "util/address.hpp"
#include "util/check.hpp"

void serve(rdma_cm_id* id) {
    // 2. Memory that the client may write and read, and the queue pair for its requests.
    std::vector<std::byte> memory(1 << 20);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr mr{CHECK_PTR(
        ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 1, nullptr, nullptr, 0))};
    ibv_qp_init_attr queues{.send_cq = cq.get(),
                            .recv_cq = cq.get(),
                            .cap = {.max_send_wr = 1, .max_send_sge = 1},
                            .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id, pd.get(), &queues));
    const rdma::CmQp qp{id};

    // 3. Accept. The reply carries the capability: with it, the client may use the memory.
    const auto capability = rdma::Capability{.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                                             .length = memory.size(),
                                             .rkey = mr->rkey}
                                .serialize();
    rdma_conn_param parameters{.private_data = capability.data(),
                               .private_data_len = capability.size(),
                               .responder_resources = 1};  // one READ of the client at a time
    CHECK_ERRNO(rdma_accept(id, &parameters));

    // 4. Sleep until the client disconnects, and only then look at the memory.
    rdma_cm_event* event = nullptr;
    CHECK_ERRNO(rdma_get_cm_event(id->channel, &event));
    std::cout << "a client has left " << common::memory_text(memory) << std::endl;
    CHECK_ERRNO(rdma_ack_cm_event(event));
}

void run() {
    // 1. Listen. An rdma_cm port is a field of its messages, not a UDP port: all packets go to UDP
    // port 4791.
    rdma_cm_id* created = nullptr;
    CHECK_ERRNO(rdma_create_id(nullptr, &created, nullptr, RDMA_PS_TCP));
    const rdma::CmId listener{created};
    CHECK_ERRNO(rdma_bind_addr(listener.get(), util::Address::any(18515).get()));
    CHECK_ERRNO(rdma_listen(listener.get(), 16));
    std::cout << "listening on port 18515" << std::endl;
    while (true) {
        rdma_cm_id* id = nullptr;
        CHECK_ERRNO(rdma_get_request(listener.get(), &id));
        const rdma::CmId client{id};
        try {
            serve(id);
        } catch (const std::exception& error) {  // the next client is served all the same
            common::print_failure("server", error);
        }
    }
}

int main(int argc, char** argv) {
    common::CommandLine line("server", "Lesson 01, server: exposes memory to its clients.");
    return line.main_without_log(argc, argv, run);
}
