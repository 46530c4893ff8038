#include "examples/common/chunks.hpp"

#include <array>

#include "examples/common/message.hpp"
#include "util/cursor.hpp"

namespace common {
namespace {

constexpr std::uint32_t magic = magic_of_lesson(19);  // first used by lesson 19

}  // namespace

std::uint64_t Chunks::packets(unsigned path_mtu) const {
    const auto of = [path_mtu](std::uint64_t bytes) { return (bytes + path_mtu - 1) / path_mtu; };
    return size / chunk * of(chunk) + of(size % chunk);
}

void ReceiverReport::send(net::Channel& channel, const net::TimeLimit& limit) const {
    auto bytes = begin_message<size>(magic);
    const std::span<std::byte, size> out(bytes);
    util::put_be32<8>(out, crc);
    util::put_be32<12>(out, out_of_sequence);
    util::put_be32<16>(out, duplicates);
    channel.send(bytes, limit);
}

ReceiverReport ReceiverReport::receive(net::Channel& channel, const net::TimeLimit& limit) {
    const auto bytes = receive_message<size>(channel, magic, limit);
    const util::FixedBytes<size> in(bytes);
    return {util::be32<8>(in), util::be32<12>(in), util::be32<16>(in)};
}

}  // namespace common
