// The kinds of messages that are counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/opcode.hpp"

namespace flow {

enum class MessageKind : std::uint8_t {
    Send,
    SendImmediate,
    SendInvalidate,
    Write,
    WriteImmediate,
    Read,
    CmpSwap,
    FetchAdd,
    Flush,
    AtomicWrite,
    Resync,
    ReadResponse,
    AtomicAcknowledge,
};
inline constexpr std::size_t message_kinds = 13;
using MessageCounts = std::array<std::uint64_t, message_kinds>;

/// "SEND with Immediate", "RDMA WRITE", "READ response", ...
std::string_view name(MessageKind message);

/// Returns the message that a packet with this opcode ends; nullopt for an Acknowledge and a CNP.
std::optional<MessageKind> message_of(const wire::OpcodeInfo& opcode);

}  // namespace flow
