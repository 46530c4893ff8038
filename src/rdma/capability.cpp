#include "rdma/capability.hpp"

#include <fmt/format.h>

#include "util/cursor.hpp"
#include "util/error.hpp"

namespace rdma {

namespace key = runlog::key;

namespace {

constexpr std::uint32_t mark = 0x52574c01;  // "RWL", version 1

}  // namespace

std::array<std::byte, Capability::size> Capability::serialize() const {
    std::array<std::byte, size> bytes{};
    const std::span out{bytes};
    util::put_be32<0>(out, mark);
    util::put_be32<4>(out, rkey);
    util::put_be64<8>(out, va);
    util::put_be64<16>(out, length);
    return bytes;
}

Capability Capability::parse(const rdma_conn_param& received) {
    return parse(std::as_bytes(
        std::span(static_cast<const char*>(received.private_data), received.private_data_len)));
}

Capability Capability::parse(std::span<const std::byte> bytes) {
    if (bytes.size() < size)
        throw util::Error(
            fmt::format("the peer's private data has {} bytes, but a capability has {}: the peer "
                        "runs another program.",
                        bytes.size(), size));
    const auto in = bytes.first<size>();
    if (const auto found = util::be32<0>(in); found != mark)
        throw util::Error(
            fmt::format("the peer's private data begins with {:#010x}, but a capability begins "
                        "with {:#010x}: the peer runs another program or another version.",
                        found, mark));
    Capability capability;
    capability.rkey = util::be32<4>(in);
    capability.va = util::be64<8>(in);
    capability.length = util::be64<16>(in);
    return capability;
}

runlog::Fields describe(const Capability& capability, std::string_view direction) {
    return {{key::direction, direction},
            {key::channel, "rdma_cm private data"},
            {key::va, capability.va},
            {key::len, capability.length},
            {key::rkey, capability.rkey}};
}

}  // namespace rdma
