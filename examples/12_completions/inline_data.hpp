// Part 3: when a buffer may be used again. With IBV_SEND_INLINE at once; without, when the
// completion has come.
#pragma once

#include <cstring>

#include <fmt/format.h>

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "recorder.hpp"
#include "verbs/completion.hpp"

namespace step12 {

inline constexpr std::size_t inline_message_size = 32;

class InlineData {
  public:
    explicit InlineData(const Side& side) : side_(side) {
        side_.meet();
        side_.log.event("inline", {{"asked", asked}, {"got", link_.cap().max_inline_data}});
    }

    // The same each time: post, overwrite, wait. The server has no receive yet, and its RNR NAKs
    // have the device send the message again and again. `lkey`: of the memory that it lies in.
    void overwrite_at_once(std::string_view what, std::span<std::byte> message, std::uint32_t lkey,
                           unsigned flags) {
        std::ranges::copy(common::pattern(message.size(), "Before. "), message.begin());
        ibv_sge piece = piece_of(message, lkey);
        ibv_send_wr send = request(IBV_WR_SEND, ++wr_id_, piece, IBV_SEND_SIGNALED | flags);
        link_.post_send(send);
        std::ranges::copy(common::pattern(message.size(), "After. "), message.begin());
        side_.meet();  // only now does the server post its receive
        expect_completion("SEND");

        // What has it got?
        ibv_sge back = piece_of(returned_, mr_->lkey);
        ibv_send_wr read =
            request(IBV_WR_RDMA_READ, ++wr_id_, back, IBV_SEND_SIGNALED, link_.remote());
        link_.post_send(read);
        expect_completion("RDMA_READ");
        const std::string_view arrived(reinterpret_cast<const char*>(returned_.data()), 5);
        side_.log.event("inline", {{"what", what},
                                   {"arrived", arrived == "Befor"   ? "what was posted"
                                               : arrived == "After" ? "what was written later"
                                                                    : "something else"}});
        side_.meet();
    }

    void refuse() {
        const std::uint32_t most = link_.cap().max_inline_data;
        const std::vector<std::byte> one_more(most + 1);
        ibv_sge piece = piece_of(one_more, 0);
        ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, piece, IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                                 link_.remote());
        ibv_send_wr* refused = nullptr;
        tell_refusal(fmt::format("ibv_post_send of {} B inline", most + 1),
                     ibv_post_send(link_.qp(), &wr, &refused));

        constexpr std::uint32_t far_too_much = 1 << 20;
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = completions_.cq.get();
        attributes.recv_cq = completions_.cq.get();
        attributes.cap = {.max_send_wr = 1,
                          .max_recv_wr = 1,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = far_too_much};
        const verbs::Qp qp{ibv_create_qp(side_.pd.get(), &attributes)};
        tell_refusal(fmt::format("ibv_create_qp with max_inline_data {}", far_too_much),
                     qp ? 0 : errno);
    }

    void finish() { side_.meet(); }

  private:
    static constexpr std::uint32_t asked = 64;

    void expect_completion(std::string_view what) {
        const auto wc = completions_.next(side_.stop, side_.deadline());
        if (wc)
            side_.log.event("wc", verbs::describe(*wc));
        verbs::expect_success(wc, what);
    }

    void tell_refusal(std::string_view what, int error) const {
        side_.log.event("inline",
                        {{"what", what}, {"error", error == 0 ? "none" : strerrorname_np(error)}});
    }

    const Side& side_;
    std::vector<std::byte> returned_ = std::vector<std::byte>(inline_message_size);
    const verbs::Mr mr_ = verbs::register_memory(side_.pd.get(), returned_, IBV_ACCESS_LOCAL_WRITE);
    verbs::CompletionQueue completions_{side_.context(), 8};
    Link link_{side_,
               {.send_cq = completions_.cq.get(),
                .recv_cq = completions_.cq.get(),
                .max_send_wr = 8,
                .max_inline_data = asked}};
    std::uint64_t wr_id_ = 0;
};

inline void send_inline(const Side& side) {
    send(side, {.task = Task::ReceiveLate, .messages = 3});
    InlineData part(side);
    std::vector<std::byte> registered(inline_message_size);
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), registered, 0);
    std::vector<std::byte> elsewhere(inline_message_size);
    part.overwrite_at_once("not inline", registered, mr->lkey, 0);
    part.overwrite_at_once("inline", registered, mr->lkey, IBV_SEND_INLINE);
    part.overwrite_at_once("inline, of memory never registered", elsewhere, 0, IBV_SEND_INLINE);
    part.refuse();
    part.finish();
}

// The server's end of it: each receive is posted when the client has overwritten its buffer.
inline void receive_late(const Side& side, const Ask& ask) {
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
    std::vector<std::byte> bytes(inline_message_size);
    const verbs::Mr mr = verbs::register_memory(side.pd.get(), bytes, access);
    side.log.event("mr", verbs::describe(*mr, access));
    verbs::CompletionQueue completions(side.context(), 2);
    Link link(side, {.send_cq = completions.cq.get(), .recv_cq = completions.cq.get()}, mr.get());
    side.meet();
    for (std::uint64_t i = 0; i < ask.messages; ++i) {
        side.meet();
        ibv_sge piece = piece_of(bytes, mr->lkey);
        ibv_recv_wr wr = receive(i, piece);
        link.post_recv(wr);
        const auto wc = verbs::expect_success(completions.next(side.stop, side.deadline()), "RECV");
        side.log.event("wc", verbs::describe(wc));
        side.log.event("memory", common::describe_memory(bytes));
        side.meet();
    }
    side.meet_at_last();
}

}  // namespace step12
