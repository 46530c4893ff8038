// Lesson 16, both sides: numbered messages. A message begins with its number, 4 bytes in network
// byte order; the number is also the wr_id of its SEND.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "rdma/completion.hpp"
#include "side.hpp"

namespace lesson16 {

/// Registered memory in slots of equal size.
class Slots {
  public:
    Slots(const Side& side, std::size_t count, std::size_t size, std::string_view text, int access)
        : size_(size),
          bytes_(common::pattern(count * size, text)),
          mr_(CHECK_PTR(ibv_reg_mr(side.pd.get(), bytes_.data(), bytes_.size(), access))) {}

    std::size_t count() const { return bytes_.size() / size_; }
    std::span<std::byte> operator[](std::size_t i) {
        return std::span(bytes_).subspan(i * size_, size_);
    }
    /// Returns an sge for the first `length` bytes of a slot.
    ibv_sge sge(std::size_t i, std::size_t length) {
        return {.addr = reinterpret_cast<std::uintptr_t>((*this)[i].data()),
                .length = static_cast<std::uint32_t>(length),
                .lkey = mr_->lkey};
    }
    ibv_sge sge(std::size_t i) { return sge(i, size_); }

  private:
    std::size_t size_;
    std::vector<std::byte> bytes_;
    rdma::Mr mr_;
};

/// The destination of a datagram.
struct Destination {
    ibv_ah* ah;
    std::uint32_t qpn;
    std::uint32_t q_key;
};

/// Posts a signalled SEND of a slot's first `length` bytes. `to`: for UD; null for a connected
/// queue pair.
inline void post_send(ibv_qp* qp, Slots& slots, std::size_t slot, std::uint32_t number,
                      std::size_t length, const Destination* to = nullptr) {
    util::put_be32<0>(slots[slot].first<4>(), number);
    ibv_sge sge = slots.sge(slot, length);
    ibv_send_wr wr{.wr_id = number,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED};
    if (to != nullptr)
        wr.wr.ud = {.ah = to->ah, .remote_qpn = to->qpn, .remote_qkey = to->q_key};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
}

/// Posts a receive for the whole slot; the wr_id is the slot's index.
inline void post_recv(ibv_qp* qp, Slots& slots, std::size_t slot) {
    ibv_sge sge = slots.sge(slot);
    ibv_recv_wr wr{.wr_id = slot, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

/// Returns the number of the message.
inline std::uint32_t number_at(std::span<const std::byte> message) {
    return util::be32<0>(util::FixedBytes<4>(message.first<4>()));
}

inline rdma::Cq create_cq(const Side& side, std::size_t entries) {
    return rdma::Cq{
        CHECK_PTR(ibv_create_cq(side.context(), static_cast<int>(entries), nullptr, nullptr, 0))};
}

/// Returns the next completion. Throws util::Error if there is none in time.
inline ibv_wc next_completion(const Side& side, ibv_cq* cq) {
    const auto wc = common::next_completion(cq, side.stop, util::deadline_in(side.timeout));
    if (!wc)
        throw util::Error(
            "no completion arrived in time: does the peer respond? If packets are lost, try a "
            "longer --timeout.");
    return *wc;
}

/// Returns up to `most` completions of messages that may be lost; stops after half a second without
/// a completion.
inline std::vector<ibv_wc> completions_until_quiet(const Side& side, ibv_cq* cq, std::size_t most) {
    constexpr std::chrono::milliseconds quiet{500};
    std::vector<ibv_wc> all;
    while (all.size() < most) {
        const auto wc = common::next_completion(cq, side.stop, util::deadline_in(quiet));
        if (!wc)
            break;
        all.push_back(*wc);
    }
    return all;
}

}  // namespace lesson16
