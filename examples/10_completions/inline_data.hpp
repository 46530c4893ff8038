// Lesson 10, part 3: when a buffer may be reused. With IBV_SEND_INLINE after posting, otherwise after
// the completion.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "ask.hpp"
#include "rdma/completion.hpp"

namespace lesson10 {

inline constexpr std::size_t inline_message_size = 32;

/// One byte more than max_inline_data, and a max_inline_data of 1 MiB.
inline void exceed_inline(const Side& side, Connection& to) {
    const auto log_refusal = [&](std::string_view what, int error) {
        side.log.event("inline",
                       {{"what", what}, {"error", error == 0 ? "none" : strerrorname_np(error)}});
    };
    std::vector<std::byte> one_more(to.cap.max_inline_data + 1);
    to.all = {.addr = reinterpret_cast<std::uintptr_t>(one_more.data()),
              .length = to.cap.max_inline_data + 1,
              .lkey = 0};
    ibv_send_wr wr = to.write(0, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    ibv_send_wr* bad_wr = nullptr;
    log_refusal(fmt::format("ibv_post_send of {} B inline", to.all.length),
                ibv_post_send(to.qp.get(), &wr, &bad_wr));
    ibv_qp_init_attr attributes{
        .send_cq = to.cq.get(), .recv_cq = to.cq.get(), .cap = to.cap, .qp_type = IBV_QPT_RC};
    attributes.cap.max_inline_data = 1 << 20;
    const rdma::Qp refused{ibv_create_qp(side.pd, &attributes)};
    log_refusal(fmt::format("ibv_create_qp with max_inline_data {}", 1 << 20), refused ? 0 : errno);
}

/// The client: posts a message, and overwrites it before the server has posted its receive.
inline void send_inline(const Side& side) {
    // 1. max_inline_data: the number of bytes that fit into a request itself.
    constexpr std::uint32_t asked = 64;
    Ask{.task = Task::ReceiveLate, .messages = 3}.send(side);
    Connection to(side, {.cqe = 8, .max_send_wr = 8, .max_inline_data = asked},
                  std::vector<std::byte>(inline_message_size));
    std::vector<std::byte> elsewhere(inline_message_size);  // not registered
    std::vector<std::byte> returned(inline_message_size);
    const rdma::Mr returned_mr{
        CHECK_PTR(ibv_reg_mr(side.pd, returned.data(), returned.size(), IBV_ACCESS_LOCAL_WRITE))};
    side.barrier();
    side.log.event("inline", {{"asked", asked}, {"got", to.cap.max_inline_data}});

    struct Message {
        std::string_view what;
        std::span<std::byte> buffer;
        std::uint32_t lkey;
        unsigned flags;
    };
    const std::array<Message, 3> all{
        {{"not inline", to.bytes, to.mr->lkey, 0},
         {"inline", to.bytes, to.mr->lkey, IBV_SEND_INLINE},
         {"inline, of memory never registered", elsewhere, 0, IBV_SEND_INLINE}}};
    std::uint64_t wr_id = 0;
    for (const auto& [what, buffer, lkey, flags] : all) {
        // 2. Post, and overwrite. Until the server has posted a receive, its RNR NAKs make the
        // device retransmit the message.
        std::ranges::copy(common::pattern(buffer.size(), "Before. "), buffer.begin());
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(buffer.data()),
                    .length = inline_message_size,
                    .lkey = lkey};
        ibv_send_wr wr{.wr_id = ++wr_id,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED | flags};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
        std::ranges::copy(common::pattern(buffer.size(), "After. "), buffer.begin());
        side.barrier();
        rdma::expect_success(common::next_completion(to.cq.get(), side.stop, side.deadline()),
                             "SEND");

        // 3. READ the message that arrived at the server.
        common::transfer(to.qp.get(), ++wr_id, IBV_WR_RDMA_READ, *returned_mr, to.remote, side.stop,
                         side.time);
        const std::string_view arrived(reinterpret_cast<const char*>(returned.data()), 5);
        side.log.event("inline", {{"what", what},
                                  {"arrived", arrived == "Befor"   ? "what was posted"
                                              : arrived == "After" ? "what was written later"
                                                                   : "something else"}});
        side.barrier();
    }
    exceed_inline(side, to);
    side.barrier();
}

/// The server: posts each receive after the client has overwritten its buffer.
inline void receive_late(const Side& side, const Ask& ask) {
    Connection to(side, {.cqe = 2}, std::vector<std::byte>(inline_message_size));
    side.barrier();
    for (std::uint64_t i = 0; i < ask.messages; ++i) {
        side.barrier();
        to.post_receive(i, to.bytes);
        rdma::expect_success(common::next_completion(to.cq.get(), side.stop, side.deadline()),
                             "RECV");
        side.log.event("memory", common::describe_memory(to.bytes));
        side.barrier();
    }
    side.last_barrier();
}

}  // namespace lesson10
