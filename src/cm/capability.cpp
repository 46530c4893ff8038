#include "cm/capability.hpp"

#include <fmt/format.h>

#include "util/error.hpp"

namespace cm {
namespace {

constexpr std::uint32_t mark = 0x52574c01;  // "RWL", version 1

template <typename T>
void store(std::span<std::byte, sizeof(T)> out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
}

template <typename T>
T load(std::span<const std::byte, sizeof(T)> in) {
    T value = 0;
    for (const std::byte byte : in)
        value = static_cast<T>(value << 8) | std::to_integer<T>(byte);
    return value;
}

}  // namespace

std::array<std::byte, Capability::size> Capability::serialize() const {
    std::array<std::byte, size> bytes{};
    const std::span out{bytes};
    store<std::uint32_t>(out.subspan<0, 4>(), mark);
    store<std::uint32_t>(out.subspan<4, 4>(), rkey);
    store<std::uint64_t>(out.subspan<8, 8>(), va);
    store<std::uint64_t>(out.subspan<16, 8>(), length);
    return bytes;
}

Capability Capability::parse(std::span<const std::byte> bytes) {
    if (bytes.size() < size)
        throw util::Error(fmt::format(
            "the peer's private data has {} bytes, a capability has {}: it runs another program.",
            bytes.size(), size));
    const auto in = bytes.first<size>();
    if (const auto found = load<std::uint32_t>(in.subspan<0, 4>()); found != mark)
        throw util::Error(fmt::format(
            "the peer's private data begins with {:#010x}, a capability with {:#010x}: it runs "
            "another program, or another version.",
            found, mark));
    Capability capability;
    capability.rkey = load<std::uint32_t>(in.subspan<4, 4>());
    capability.va = load<std::uint64_t>(in.subspan<8, 8>());
    capability.length = load<std::uint64_t>(in.subspan<16, 8>());
    return capability;
}

runlog::Fields describe(const Capability& capability, std::string_view direction) {
    return {{"direction", direction},
            {"channel", "rdma_cm private data"},
            {"va", capability.va},
            {"len", capability.length},
            {"rkey", capability.rkey}};
}

}  // namespace cm
