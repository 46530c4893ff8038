// Lesson 10, part 5: the messages of a sender and a receiver with credits. A credit is the permission
// to send one message: the receiver grants it after posting a receive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "connection.hpp"
#include "examples/common/memory.hpp"
#include "util/cursor.hpp"

namespace lesson10 {

inline constexpr std::size_t message_size = 64;
inline constexpr std::size_t credit_size = 16;

// A number of credits in network byte order, and a readable text. (Wireshark takes shorter messages
// for malformed RPC over RDMA.)
inline std::array<std::byte, credit_size> credit_message(std::uint32_t credits) {
    std::array<std::byte, credit_size> bytes{};
    std::ranges::copy(common::pattern(credit_size, "    more for you"), bytes.begin());
    util::put_be32<0>(std::span(bytes), credits);
    return bytes;
}

inline std::uint32_t credits_in(std::span<const std::byte> bytes) {
    return util::be32<0>(bytes.first<credit_size>());
}

inline void post_receive(ibv_qp* qp, std::uint64_t wr_id, std::span<std::byte> buffer,
                         std::uint32_t lkey) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(buffer.data()),
                .length = static_cast<std::uint32_t>(buffer.size()),
                .lkey = lkey};
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

}  // namespace lesson10
