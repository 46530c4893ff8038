#include "examples/common/sync_cm.hpp"

#include <iostream>

#include "examples/common/program.hpp"
#include "util/address.hpp"
#include "util/check.hpp"

namespace common {

void serve_each(const std::function<void(rdma_cm_id*)>& serve) {
    const rdma::CmId listener = rdma::make_id(nullptr);
    CHECK_ERRNO(rdma_bind_addr(listener.get(), util::Address::any(18515).get()));
    CHECK_ERRNO(rdma_listen(listener.get(), 16));
    std::cout << "listening on port 18515" << std::endl;
    while (true) {
        rdma_cm_id* id = nullptr;
        CHECK_ERRNO(rdma_get_request(listener.get(), &id));
        const rdma::CmId client{id};
        try {
            serve(id);
        } catch (const std::exception& error) {
            print_failure("server", error);
        }
    }
}

rdma::CmId resolve(const std::string& server) {
    util::Address address = util::Address::resolve(server, 18515, std::chrono::seconds(5));
    rdma::CmId id = rdma::make_id(nullptr);
    util::check_errno(rdma_resolve_addr(id.get(), nullptr, address.get(), 2000),
                      "rdma_resolve_addr(" + address.host() + ")");
    CHECK_ERRNO(rdma_resolve_route(id.get(), 2000));
    return id;
}

ibv_wc next_completion(ibv_cq* cq) {
    ibv_wc wc{};
    while (true) {
        CHECK_RC(ibv_req_notify_cq(cq, 0));
        if (ibv_poll_cq(cq, 1, &wc) > 0)
            return wc;
        void* context = nullptr;
        CHECK_ERRNO(ibv_get_cq_event(cq->channel, &cq, &context));
        ibv_ack_cq_events(cq, 1);
    }
}

}  // namespace common
