// Lesson 09, the client: device, protection domain, memory and WRITEs of its honest part.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "connection.hpp"
#include "examples/common/request.hpp"

namespace lesson09 {

struct Resources {
    lesson06::Port port;
    rdma::Pd pd = make_pd(port);
    std::array<std::byte, message_size> outgoing{};
    rdma::Mr outgoing_mr = register_memory(pd.get(), outgoing, 0);
    ibv_sge sge{};
    std::uint64_t posted = 0;

    explicit Resources(const util::Address& address) : port(lesson06::open_port(address)) {}

    /// Returns a signalled WRITE of the first `length` bytes of `outgoing`; valid until the next
    /// call.
    ibv_send_wr write_request(const common::RemoteMemory& remote, std::uint32_t length) {
        sge = {.addr = reinterpret_cast<std::uintptr_t>(outgoing.data()),
               .length = length,
               .lkey = outgoing_mr->lkey};
        return {.wr_id = ++posted,
                .sg_list = &sge,
                .num_sge = length == 0 ? 0 : 1,
                .opcode = IBV_WR_RDMA_WRITE,
                .send_flags = IBV_SEND_SIGNALED,
                .wr = {.rdma = {.remote_addr = remote.va, .rkey = remote.rkey}}};
    }

    static void post(ibv_qp* qp, ibv_send_wr& wr) {
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    }

    /// Returns the rkeys of `count` memory regions, registered one after the other.
    std::vector<std::uint32_t> make_rkeys(int count) {
        std::vector<rdma::Mr> regions;
        std::vector<std::uint32_t> rkeys;
        for (int i = 0; i < count; ++i) {
            regions.push_back(register_memory(pd.get(), outgoing,
                                              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
            rkeys.push_back(regions.back()->rkey);
        }
        return rkeys;
    }
};

}  // namespace lesson09
