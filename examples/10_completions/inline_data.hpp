// Lesson 10, part 3: when a buffer may be reused. With IBV_SEND_INLINE after posting, otherwise after
// the completion.
#pragma once

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "rdma/completion.hpp"

namespace lesson10 {

inline constexpr std::size_t inline_message_size = 32;

/// The client.
inline void send_inline(const Side& side) {
    // 1. max_inline_data: the number of bytes that fit into a request itself.
    constexpr std::uint32_t asked = 64;
    constexpr std::uint32_t messages = 3;
    Ask{.task = Task::ReceiveLate, .messages = messages}.send(side);
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 8, nullptr, nullptr, 0))};
    ibv_qp_cap cap{.max_send_wr = 8,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = asked};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    const common::RemoteMemory remote = connect(side, qp.get());
    std::vector<std::byte> registered(inline_message_size);
    std::vector<std::byte> elsewhere(inline_message_size);
    std::vector<std::byte> returned(inline_message_size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, registered.data(), registered.size(), 0))};
    const rdma::Mr returned_mr{
        CHECK_PTR(ibv_reg_mr(side.pd, returned.data(), returned.size(), IBV_ACCESS_LOCAL_WRITE))};
    side.barrier();
    side.log.event("inline", {{"asked", asked}, {"got", cap.max_inline_data}});

    // 2. Post each message and overwrite it immediately. The server posts its receive only after
    // the barrier; until then its RNR NAKs make the device retransmit the message.
    struct Message {
        std::string_view what;
        std::vector<std::byte>& buffer;
        std::uint32_t lkey;
        unsigned flags;
    };
    const std::array<Message, messages> all{
        {{"not inline", registered, mr->lkey, 0},
         {"inline", registered, mr->lkey, IBV_SEND_INLINE},
         {"inline, of memory never registered", elsewhere, 0, IBV_SEND_INLINE}}};
    std::uint64_t wr_id = 0;
    for (const Message& message : all) {
        std::ranges::copy(common::pattern(inline_message_size, "Before. "), message.buffer.begin());
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(message.buffer.data()),
                    .length = inline_message_size,
                    .lkey = message.lkey};
        ibv_send_wr wr{};
        wr.wr_id = ++wr_id;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED | message.flags;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
        std::ranges::copy(common::pattern(inline_message_size, "After. "), message.buffer.begin());
        side.barrier();
        rdma::expect_success(common::next_completion(cq.get(), side.stop, side.deadline()), "SEND");

        // 3. READ the message that arrived at the server.
        common::transfer(qp.get(), ++wr_id, IBV_WR_RDMA_READ, *returned_mr, remote, side.stop,
                         side.time);
        const std::string_view arrived(reinterpret_cast<const char*>(returned.data()), 5);
        side.log.event("inline", {{"what", message.what},
                                  {"arrived", arrived == "Befor"   ? "what was posted"
                                              : arrived == "After" ? "what was written later"
                                                                   : "something else"}});
        side.barrier();
    }

    // 4. The device refuses one byte more than max_inline_data, and a max_inline_data of 1 MiB.
    const auto log_refusal = [&](std::string_view what, int error) {
        side.log.event("inline",
                       {{"what", what}, {"error", error == 0 ? "none" : strerrorname_np(error)}});
    };
    const std::vector<std::byte> one_more(cap.max_inline_data + 1);
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(one_more.data()),
                .length = cap.max_inline_data + 1,
                .lkey = 0};
    ibv_send_wr wr = write_request(0, sge, remote, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    ibv_send_wr* bad_wr = nullptr;
    log_refusal(fmt::format("ibv_post_send of {} B inline", sge.length),
                ibv_post_send(qp.get(), &wr, &bad_wr));
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = cq.get();
    attributes.recv_cq = cq.get();
    attributes.cap = cap;
    attributes.cap.max_inline_data = 1 << 20;
    const rdma::Qp refused{ibv_create_qp(side.pd, &attributes)};
    log_refusal(fmt::format("ibv_create_qp with max_inline_data {}", 1 << 20), refused ? 0 : errno);
    side.barrier();
}

}  // namespace lesson10
