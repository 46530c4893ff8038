// What both ends of a measured connection create, with the functions and in the order of the lessons.
#pragma once

#include <cstdint>
#include <vector>

#include "net/endpoint.hpp"
#include "rdma/completion.hpp"
#include "rdma/device.hpp"
#include "rdma/handles.hpp"

namespace bench {

/// One page on each side: a larger region would add the same time to every method.
inline constexpr std::size_t memory_size = 4096;

/// Access of the server's own program and its peer to the server's memory.
inline constexpr int server_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

/// Everything except the queue pair, which rdma_cm creates itself.
struct Resources {
    rdma::Pd pd;
    std::vector<std::byte> memory;
    rdma::Mr mr;
    rdma::CompletionQueue completions;

    Resources(ibv_context* context, int access);
    ibv_qp_init_attr qp_attributes() const;
};

rdma::Qp make_qp(const Resources& resources);

/// This side's endpoint, as lessons 06 and 07 fill it in.
net::Endpoint endpoint_of(const Resources& resources, const ibv_qp& qp, const rdma::Gid& gid,
                          std::uint32_t psn);

/// Moves the queue pair to INIT, RTR, RTS. `access`: the peer's access rights.
void to_rts(ibv_qp* qp, const rdma::Gid& gid, const net::Endpoint& mine,
            const net::Endpoint& theirs, int access);

}  // namespace bench
