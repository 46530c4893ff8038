#include "examples/common/chunks.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/words.hpp"
#include "util/cursor.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"

namespace common {
namespace {

constexpr std::uint32_t magic = 0x52574c43;  // "RWLC"

}  // namespace

std::uint64_t Chunks::packets(unsigned path_mtu) const {
    const auto of = [path_mtu](std::uint64_t bytes) { return (bytes + path_mtu - 1) / path_mtu; };
    return size / chunk * of(chunk) + of(size % chunk);
}

std::uint64_t Chunks::post(const LinkSide& side, RcLink& link, const ibv_mr& from,
                           std::uint64_t at) const {
    const std::uint64_t length = std::min(chunk, size - at);
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(from.addr) + at,
                  .length = static_cast<std::uint32_t>(length),
                  .lkey = from.lkey};
    ibv_send_wr wr{};
    wr.wr_id = at + length;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = link.remote().va + at;
    wr.wr.rdma.rkey = link.remote().rkey;
    side.log.event("post_send", link.describe(wr));
    link.post_unlogged(wr);
    return wr.wr_id;
}

void Seen::send(exchange::Channel& channel, const exchange::Patience& patience) const {
    auto bytes = begin_words<size>(magic);
    const std::span<std::byte, size> out(bytes);
    util::put_be32<8>(out, crc);
    util::put_be32<12>(out, out_of_sequence);
    util::put_be32<16>(out, duplicates);
    channel.send(bytes, patience);
}

Seen Seen::receive(exchange::Channel& channel, const exchange::Patience& patience) {
    std::array<std::byte, size> bytes{};
    channel.receive(bytes, patience);
    const util::FixedBytes<size> in(bytes);
    check_words(in, magic, "the same step");
    return {util::be32<8>(in), util::be32<12>(in), util::be32<16>(in)};
}

void lend(const LinkSide& side, std::uint64_t size, std::uint32_t first_psn) {
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    std::vector<std::byte> memory(size);
    const verbs::Mr mr = verbs::register_memory(side.pd, memory, access);
    side.log.event("mr", verbs::describe(*mr, access));
    verbs::CompletionQueue unused(side.context, 1);
    const RcLink link(side, {.cq = unused.cq.get(), .first_psn = first_psn}, mr.get());
    side.meet();
    const Counted counted(side.context, side.gid);
    side.meet_at_last();
    side.log.event("memory", describe_memory(memory));
    Seen{crc_of(memory), static_cast<std::uint32_t>(counted.since("out_of_seq_request")),
         static_cast<std::uint32_t>(counted.since("duplicate_request"))}
        .send(side.channel, side.patience());
}

}  // namespace common
