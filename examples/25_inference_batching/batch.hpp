// Lesson 25, the client's side of a batch: one WRITE per input, directly from the request's memory,
// and then the notice. This is the point of the lesson.
#pragma once

#include <arpa/inet.h>
#include <optional>
#include <vector>

#include "connection.hpp"
#include "rdma/names.hpp"

namespace lesson25 {

// The only signalled request of a batch: when it completes, all earlier ones have completed. Its
// eight bytes are inline: the device copies them when they are posted.
inline ibv_send_wr notice_of(Connection& connection, std::uint32_t id, std::uint32_t requests,
                             ibv_sge& sge) {
    const std::string_view wrong = id == 0 ? std::string_view(connection.terms.wrong) : "";
    if (wrong == "count")
        requests = connection.terms.shape.batch + 1u;
    connection.header = Header{id, requests}.serialize();
    sge = {.addr = reinterpret_cast<std::uintptr_t>(connection.header.data()),
           .length = wrong == "length" ? 4u : std::uint32_t{Header::size},
           .lkey = 0};
    return {
        .wr_id = ++connection.wr_id,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
        .imm_data = htonl(wrong == "id" ? 1000 : id),
        .wr = {.rdma = {.remote_addr = connection.remote.va + connection.terms.shape.header_at(id),
                        .rkey = connection.remote.rkey}}};
}

/// 1. Sends a batch: the requests from `first` on, as one list posted with one call. The queue pair
/// executes them in order: when the server polls the notice's completion, the bytes of all earlier
/// WRITEs are in its memory. Returns the batch's id.
inline std::uint32_t send(Connection& connection, std::size_t first, std::uint32_t requests) {
    const std::uint32_t id = connection.slots.take();
    std::vector<ibv_sge> sges(requests + 1);
    std::vector<ibv_send_wr> wrs(requests + 1);
    const auto inputs = reinterpret_cast<std::uintptr_t>(connection.inputs_mr->addr);
    for (std::size_t i = 0; i < requests; ++i) {
        sges[i] = {.addr = inputs + (first + i) * sizeof(Input),
                   .length = sizeof(Input),
                   .lkey = connection.inputs_mr->lkey};
        wrs[i] = {.wr_id = ++connection.wr_id,
                  .next = &wrs[i + 1],
                  .sg_list = &sges[i],
                  .num_sge = 1,
                  .opcode = IBV_WR_RDMA_WRITE,
                  .wr = {.rdma = {.remote_addr =
                                      connection.remote.va + connection.terms.shape.input_at(id, i),
                                  .rkey = connection.remote.rkey}}};
    }
    wrs.back() = notice_of(connection, id, requests, sges.back());
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(connection.client.qp(), wrs.data(), &bad_wr));
    connection.lists.push_back(requests + 1);
    connection.in_queue += requests + 1;
    return id;
}

/// 2. Returns the immediate data of the next result's notice, or `begin`; nullopt if there is none.
inline std::optional<std::uint32_t> next_notice(Connection& connection, util::StopSignal& stop) {
    while (const auto wc = connection.client.completions().next(stop, util::Clock::now())) {
        if (wc->status != IBV_WC_SUCCESS)
            throw util::Error(fmt::format(
                "a request to the server failed with {} outstanding: {} ({}). Is the "
                "server still running?",
                connection.unanswered(), rdma::name_of(wc->status), ibv_wc_status_str(wc->status)));
        if ((wc->opcode & IBV_WC_RECV) != 0) {
            connection.post_receive();
            return ntohl(wc->imm_data);
        }
        connection.in_queue -= connection.lists.front();  // the notice is the list's last request
        connection.lists.pop_front();
    }
    return std::nullopt;
}

}  // namespace lesson25
