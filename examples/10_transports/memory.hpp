// Registered memory in slots of equal size, and the requests that are about one of them. The first
// four bytes of a message are its number.
#pragma once

#include <cstring>
#include <vector>

#include "examples/common/memory.hpp"
#include "side.hpp"

namespace step10 {

class Slots {
  public:
    Slots(const Side& side, std::size_t count, std::size_t size, std::string_view text, int access)
        : size_(size),
          bytes_(common::pattern(count * size, text)),
          mr_(verbs::register_memory(side.pd.get(), bytes_, access)) {
        side.log.event("mr", verbs::describe(*mr_, access));
    }

    std::size_t count() const { return bytes_.size() / size_; }
    std::span<std::byte> operator[](std::size_t i) {
        return std::span(bytes_).subspan(i * size_, size_);
    }

    /// Of a slot's first `length` bytes; valid until the next call.
    ibv_sge* piece(std::size_t i, std::size_t length) {
        piece_ = {.addr = reinterpret_cast<std::uintptr_t>((*this)[i].data()),
                  .length = static_cast<std::uint32_t>(length),
                  .lkey = mr_->lkey};
        return &piece_;
    }

    /// A signalled SEND of the slot with this number in it, which is also its wr_id.
    ibv_send_wr numbered_send(std::size_t i, std::uint32_t number, std::size_t length) {
        util::put_be32<0>((*this)[i].first<4>(), number);
        ibv_send_wr wr{};
        wr.wr_id = number;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = piece(i, length);
        wr.num_sge = 1;
        return wr;
    }

    /// Into the whole slot, whose index is the wr_id.
    ibv_recv_wr receive(std::size_t i) {
        ibv_recv_wr wr{};
        wr.wr_id = i;
        wr.sg_list = piece(i, size_);
        wr.num_sge = 1;
        return wr;
    }

  private:
    std::size_t size_;
    std::vector<std::byte> bytes_;
    verbs::Mr mr_;
    ibv_sge piece_{};
};

/// Of the message that begins there.
inline std::uint32_t number_at(std::span<const std::byte> message) {
    return util::be32<0>(util::FixedBytes<4>(message.first<4>()));
}

}  // namespace step10
