// BTH opcodes: one row per opcode. The row determines the whole layout of a packet.
//
// IBTA volume 1, 9.2.1 and table "OpCode field" (RC, UC, RD, UD); annex A14 (XRC); annex A17 (CNP);
// annex A19 (FLUSH, ATOMIC WRITE; opcode values as in Linux include/rdma/ib_pack.h).
//
// Mellanox adapters use RD's opcodes for their dynamically connected transport (DC), with their own
// header in place of RDETH and DETH. No adapter sends RD. The opcode does not distinguish them; the
// byte after the BTH does, which is reserved in an RDETH.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace wire {

/// Bits 7:5 of the opcode, except for DC, which shares RD's value.
enum class Transport : std::uint8_t {
    Rc = 0,
    Uc = 1,
    Rd = 2,
    Ud = 3,
    Cnp = 4,
    Xrc = 5,
    Manufacturer6 = 6,
    Manufacturer7 = 7,
    Dc = 8,
};

enum class Operation : std::uint8_t {
    Send,
    RdmaWrite,
    RdmaReadRequest,
    RdmaReadResponse,
    Acknowledge,
    AtomicAcknowledge,
    CmpSwap,
    FetchAdd,
    Resync,
    Flush,
    AtomicWrite,
    Cnp,
};

/// Position of a packet in its message.
enum class Position : std::uint8_t { First, Middle, Last, Only };

/// Mask of headers that may follow the BTH, in wire order of the bits.
using HeaderMask = std::uint16_t;
namespace header {
inline constexpr HeaderMask rdeth = 1U << 0;
inline constexpr HeaderMask dceth = 1U << 1;
inline constexpr HeaderMask deth = 1U << 2;
inline constexpr HeaderMask xrceth = 1U << 3;
inline constexpr HeaderMask feth = 1U << 4;
inline constexpr HeaderMask reth = 1U << 5;
inline constexpr HeaderMask atomic_eth = 1U << 6;
inline constexpr HeaderMask aeth = 1U << 7;
inline constexpr HeaderMask atomic_ack_eth = 1U << 8;
inline constexpr HeaderMask immdt = 1U << 9;
inline constexpr HeaderMask ieth = 1U << 10;
/// The 16 reserved bytes of a CNP.
inline constexpr HeaderMask cnp_reserved = 1U << 11;
/// Not a header: payload may follow the headers.
inline constexpr HeaderMask payload = 1U << 12;
}  // namespace header

/// Length in bytes of each bit's header, in the order of the bits.
inline constexpr std::array<std::uint8_t, 12> header_sizes{4, 20, 8, 4, 4, 16, 28, 4, 8, 4, 4, 16};

/// Number of bytes between the BTH and the payload.
constexpr std::size_t headers_size(HeaderMask mask) {
    std::size_t size = 0;
    for (std::size_t bit = 0; bit < header_sizes.size(); ++bit)
        if ((mask >> bit & 1U) != 0)
            size += header_sizes[bit];
    return size;
}

struct OpcodeInfo {
    std::uint8_t value;
    /// Name in Wireshark and the specification: "RC RDMA WRITE Only".
    std::string_view name;
    HeaderMask headers;
    Operation operation;
    Position position;

    constexpr bool has(HeaderMask mask) const { return (headers & mask) != 0; }
    constexpr Transport transport() const {
        return has(header::dceth) ? Transport::Dc : static_cast<Transport>(value >> 5);
    }
    constexpr bool carries_payload() const { return has(header::payload); }
    /// From responder to requester.
    constexpr bool is_response() const {
        return operation == Operation::RdmaReadResponse || operation == Operation::Acknowledge ||
               operation == Operation::AtomicAcknowledge;
    }
    /// From requester to responder. A CNP is neither a request nor a response.
    constexpr bool is_request() const { return !is_response() && operation != Operation::Cnp; }
    constexpr bool is_first() const { return position == Position::First; }
    constexpr bool is_middle() const { return position == Position::Middle; }
    constexpr bool is_last() const { return position == Position::Last; }
    constexpr bool is_only() const { return position == Position::Only; }
    constexpr bool starts_message() const { return is_first() || is_only(); }
    constexpr bool ends_message() const { return is_last() || is_only(); }
};

inline constexpr std::uint8_t cnp_opcode = 0x81;
inline constexpr std::uint8_t ud_send_only_opcode = 0x64;

/// Returns nullptr for a reserved or manufacturer-specific opcode.
const OpcodeInfo* find_opcode(std::uint8_t value);

/// The same for a packet with a DC header; nullptr if RC has no such opcode, or if it is unknown
/// whether DC has it.
const OpcodeInfo* find_dc_opcode(std::uint8_t value);

/// 0x40 to 0x5f, which a DC header may follow.
constexpr bool is_rd_or_dc_opcode(std::uint8_t value) {
    return static_cast<Transport>(value >> 5) == Transport::Rd;
}

/// 0xc0 to 0xff: the layout after the BTH is manufacturer-specific.
constexpr bool is_manufacturer_opcode(std::uint8_t value) {
    return value >= 0xc0;
}

/// All rows except DC's, in ascending order.
std::span<const OpcodeInfo> opcodes();
/// DC's rows, in ascending order.
std::span<const OpcodeInfo> dc_opcodes();

/// "RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer", "DC".
std::string_view name(Transport transport);

}  // namespace wire
