// The smallest RDMA program. `hello` is the server, `hello HOST` the client: it writes a sentence
// into the server's memory. The server receives nothing: it looks when the client has gone.
#include <cstdint>
#include <cstring>
#include <endian.h>
#include <iostream>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "util/check.hpp"

ibv_qp_init_attr queues{
    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    .qp_type = IBV_QPT_RC,
    .sq_sig_all = 1};

void serve() {
    rdma_cm_id *listener = nullptr, *id = nullptr;
    sockaddr_in6 any{.sin6_family = AF_INET6, .sin6_port = htons(18515)};  // and IPv4
    CHECK_ERRNO(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP));
    CHECK_ERRNO(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&any)));
    CHECK_ERRNO(rdma_listen(listener, 1));
    CHECK_ERRNO(rdma_get_request(listener, &id));

    char memory[64] = "(nothing yet)";
    CHECK_ERRNO(rdma_create_qp(id, nullptr, &queues));
    ibv_mr* mr = CHECK_PTR(rdma_reg_write(id, memory, sizeof memory));
    std::cout << "before I accept the client, my memory has: " << memory << std::endl;
    // Where the client may write, and the key to it.
    const std::uint64_t offer[]{htobe64(reinterpret_cast<std::uintptr_t>(memory)),
                                htobe64(mr->rkey)};
    rdma_conn_param reply{.private_data = offer, .private_data_len = sizeof offer};
    CHECK_ERRNO(rdma_accept(id, &reply));
    rdma_cm_event* event = nullptr;
    CHECK_ERRNO(rdma_get_cm_event(id->channel, &event));  // sleeps until the client disconnects
    std::cout << "after the client has gone, my memory has: " << memory << std::endl;
    CHECK_ERRNO(rdma_ack_cm_event(event));
    CHECK_ERRNO(rdma_dereg_mr(mr));
    rdma_destroy_ep(id);
    rdma_destroy_ep(listener);
}

void say_hello(const char* host) {
    rdma_cm_id* id = nullptr;
    rdma_addrinfo hints{.ai_port_space = RDMA_PS_TCP}, *server = nullptr;
    if (rdma_getaddrinfo(host, "18515", &hints, &server) != 0)
        throw std::runtime_error(std::string("rdma_getaddrinfo cannot resolve ") + host);
    CHECK_ERRNO(rdma_create_ep(&id, server, nullptr, &queues));
    rdma_freeaddrinfo(server);
    char text[] = "Hello, RDMA!";
    ibv_mr* mr = CHECK_PTR(rdma_reg_msgs(id, text, sizeof text));
    CHECK_ERRNO(rdma_connect(id, nullptr));
    std::uint64_t offer[2];
    std::memcpy(offer, id->event->param.conn.private_data, sizeof offer);
    CHECK_ERRNO(rdma_post_write(id, nullptr, text, sizeof text, mr, 0, be64toh(offer[0]),
                                static_cast<std::uint32_t>(be64toh(offer[1]))));
    ibv_wc completion{};
    CHECK_ERRNO(rdma_get_send_comp(id, &completion));  // sleeps until the server's ACK is here
    std::cout << "my WRITE: " << ibv_wc_status_str(completion.status) << std::endl;
    CHECK_ERRNO(rdma_disconnect(id));
    CHECK_ERRNO(rdma_dereg_mr(mr));
    rdma_destroy_ep(id);
}

int main(int argc, char** argv) try {
    argc > 1 ? say_hello(argv[1]) : serve();
} catch (const std::exception& error) {
    std::cerr << error.what() << " (a client needs a server; `devices` finds other causes)\n";
    return 1;
}
