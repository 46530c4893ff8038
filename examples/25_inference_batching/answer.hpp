// Lesson 25, the server's side of a batch: it arrives as WRITEs followed by a notice, and its results
// return in the same way. This is the point of the lesson.
#pragma once

#include <algorithm>
#include <arpa/inet.h>

#include "session.hpp"

namespace lesson25 {

/// 1. A notice has arrived: its immediate data is the batch's id, and all bytes that the client
/// wrote before it are in the slot. Returns the number of requests in the batch. Throws util::Error
/// if it is not the next batch.
inline std::uint32_t take_notice(Session& session, const ibv_wc& wc) {
    post_receive(session);
    const std::uint32_t id = ntohl(wc.imm_data);
    const auto slot =
        std::span<const std::byte>(session.slots).subspan(session.greeting.shape.header_at(id));
    const Header header = Header::parse(slot.first<Header::size>());
    session.in_use.take(id, wc.byte_len, header);
    return header.requests;
}

/// A WRITE with only immediate data. wr_id: 0 for the start message, from 1 for batches.
inline ibv_send_wr notice_of(const Session& session, std::uint32_t id) {
    return {.wr_id = std::uint32_t{id + 1},
            .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
            .send_flags = IBV_SEND_SIGNALED,
            .imm_data = htonl(id),
            .wr = {.rdma = {.remote_addr = session.greeting.results.va,
                            .rkey = session.greeting.results.rkey}}};
}

inline void post_send(const Session& session, ibv_send_wr& wr) {
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(session.id->qp, &wr, &bad_wr));
}

/// 2. WRITEs the batch's results into the client's slot, followed by a notice with the batch's id.
inline void answer(Session& session, std::uint32_t id, std::uint32_t requests, const Model& model) {
    const Shape& shape = session.greeting.shape;
    const auto* inputs =
        reinterpret_cast<const Input*>(session.slots.data() + shape.input_at(id, 0));
    const auto outputs = std::span(session.outputs).subspan(shape.output_at(id), requests);
    model.infer(std::span(inputs, requests), outputs);

    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(outputs.data()),
                .length = static_cast<std::uint32_t>(outputs.size_bytes()),
                .lkey = session.outputs_mr->lkey};
    ibv_send_wr notice = notice_of(session, id);
    ibv_send_wr results{.wr_id = notice.wr_id,
                        .next = &notice,  // one list; only the notice is signalled
                        .sg_list = &sge,
                        .num_sge = 1,
                        .opcode = IBV_WR_RDMA_WRITE,
                        .wr = {.rdma = {.remote_addr = session.greeting.results.va +
                                                       shape.output_at(id) * sizeof(Output),
                                        .rkey = session.greeting.results.rkey}}};
    post_send(session, results);
    session.in_use.answer();
    session.is_sending[shape.slot_of(id)] = true;
    if (!session.since)
        session.since = util::Clock::now();
}

/// 3. The notice has completed: the client's device has the results, and their memory is free.
inline void sent(Session& session, std::uint64_t wr_id) {
    if (wr_id != 0)
        session.is_sending[session.greeting.shape.slot_of(static_cast<std::uint32_t>(wr_id - 1))] =
            false;
    session.since.reset();
    if (std::ranges::find(session.is_sending, true) != session.is_sending.end())
        session.since = util::Clock::now();
}

}  // namespace lesson25
