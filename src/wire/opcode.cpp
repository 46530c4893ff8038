#include "wire/opcode.hpp"

namespace wire {
namespace {

using namespace header;  // NOLINT(google-build-using-namespace): the rows read as in the standard
using enum Operation;
using enum Position;

constexpr std::array table = std::to_array<OpcodeInfo>({
    {0x00, "RC SEND First", payload, Send, First},
    {0x01, "RC SEND Middle", payload, Send, Middle},
    {0x02, "RC SEND Last", payload, Send, Last},
    {0x03, "RC SEND Last with Immediate", immdt | payload, Send, Last},
    {0x04, "RC SEND Only", payload, Send, Only},
    {0x05, "RC SEND Only with Immediate", immdt | payload, Send, Only},
    {0x06, "RC RDMA WRITE First", reth | payload, RdmaWrite, First},
    {0x07, "RC RDMA WRITE Middle", payload, RdmaWrite, Middle},
    {0x08, "RC RDMA WRITE Last", payload, RdmaWrite, Last},
    {0x09, "RC RDMA WRITE Last with Immediate", immdt | payload, RdmaWrite, Last},
    {0x0a, "RC RDMA WRITE Only", reth | payload, RdmaWrite, Only},
    {0x0b, "RC RDMA WRITE Only with Immediate", reth | immdt | payload, RdmaWrite, Only},
    {0x0c, "RC RDMA READ Request", reth, RdmaReadRequest, Only},
    {0x0d, "RC RDMA READ response First", aeth | payload, RdmaReadResponse, First},
    {0x0e, "RC RDMA READ response Middle", payload, RdmaReadResponse, Middle},
    {0x0f, "RC RDMA READ response Last", aeth | payload, RdmaReadResponse, Last},
    {0x10, "RC RDMA READ response Only", aeth | payload, RdmaReadResponse, Only},
    {0x11, "RC Acknowledge", aeth, Acknowledge, Only},
    {0x12, "RC ATOMIC Acknowledge", aeth | atomic_ack_eth, AtomicAcknowledge, Only},
    {0x13, "RC CmpSwap", atomic_eth, CmpSwap, Only},
    {0x14, "RC FetchAdd", atomic_eth, FetchAdd, Only},
    {0x16, "RC SEND Last with Invalidate", ieth | payload, Send, Last},
    {0x17, "RC SEND Only with Invalidate", ieth | payload, Send, Only},
    {0x1c, "RC FLUSH", feth | reth, Flush, Only},
    {0x1d, "RC ATOMIC WRITE", reth | payload, AtomicWrite, Only},

    {0x20, "UC SEND First", payload, Send, First},
    {0x21, "UC SEND Middle", payload, Send, Middle},
    {0x22, "UC SEND Last", payload, Send, Last},
    {0x23, "UC SEND Last with Immediate", immdt | payload, Send, Last},
    {0x24, "UC SEND Only", payload, Send, Only},
    {0x25, "UC SEND Only with Immediate", immdt | payload, Send, Only},
    {0x26, "UC RDMA WRITE First", reth | payload, RdmaWrite, First},
    {0x27, "UC RDMA WRITE Middle", payload, RdmaWrite, Middle},
    {0x28, "UC RDMA WRITE Last", payload, RdmaWrite, Last},
    {0x29, "UC RDMA WRITE Last with Immediate", immdt | payload, RdmaWrite, Last},
    {0x2a, "UC RDMA WRITE Only", reth | payload, RdmaWrite, Only},
    {0x2b, "UC RDMA WRITE Only with Immediate", reth | immdt | payload, RdmaWrite, Only},

    {0x40, "RD SEND First", rdeth | deth | payload, Send, First},
    {0x41, "RD SEND Middle", rdeth | deth | payload, Send, Middle},
    {0x42, "RD SEND Last", rdeth | deth | payload, Send, Last},
    {0x43, "RD SEND Last with Immediate", rdeth | deth | immdt | payload, Send, Last},
    {0x44, "RD SEND Only", rdeth | deth | payload, Send, Only},
    {0x45, "RD SEND Only with Immediate", rdeth | deth | immdt | payload, Send, Only},
    {0x46, "RD RDMA WRITE First", rdeth | deth | reth | payload, RdmaWrite, First},
    {0x47, "RD RDMA WRITE Middle", rdeth | deth | payload, RdmaWrite, Middle},
    {0x48, "RD RDMA WRITE Last", rdeth | deth | payload, RdmaWrite, Last},
    {0x49, "RD RDMA WRITE Last with Immediate", rdeth | deth | immdt | payload, RdmaWrite, Last},
    {0x4a, "RD RDMA WRITE Only", rdeth | deth | reth | payload, RdmaWrite, Only},
    {0x4b, "RD RDMA WRITE Only with Immediate", rdeth | deth | reth | immdt | payload, RdmaWrite,
     Only},
    {0x4c, "RD RDMA READ Request", rdeth | deth | reth, RdmaReadRequest, Only},
    {0x4d, "RD RDMA READ response First", rdeth | aeth | payload, RdmaReadResponse, First},
    {0x4e, "RD RDMA READ response Middle", rdeth | payload, RdmaReadResponse, Middle},
    {0x4f, "RD RDMA READ response Last", rdeth | aeth | payload, RdmaReadResponse, Last},
    {0x50, "RD RDMA READ response Only", rdeth | aeth | payload, RdmaReadResponse, Only},
    {0x51, "RD Acknowledge", rdeth | aeth, Acknowledge, Only},
    {0x52, "RD ATOMIC Acknowledge", rdeth | aeth | atomic_ack_eth, AtomicAcknowledge, Only},
    {0x53, "RD CmpSwap", rdeth | deth | atomic_eth, CmpSwap, Only},
    {0x54, "RD FetchAdd", rdeth | deth | atomic_eth, FetchAdd, Only},
    {0x55, "RD RESYNC", rdeth | deth, Resync, Only},
    {0x5c, "RD FLUSH", rdeth | deth | feth | reth, Flush, Only},

    {0x64, "UD SEND Only", deth | payload, Send, Only},
    {0x65, "UD SEND Only with Immediate", deth | immdt | payload, Send, Only},

    {0x81, "CNP", cnp_reserved, Cnp, Only},

    {0xa0, "XRC SEND First", xrceth | payload, Send, First},
    {0xa1, "XRC SEND Middle", xrceth | payload, Send, Middle},
    {0xa2, "XRC SEND Last", xrceth | payload, Send, Last},
    {0xa3, "XRC SEND Last with Immediate", xrceth | immdt | payload, Send, Last},
    {0xa4, "XRC SEND Only", xrceth | payload, Send, Only},
    {0xa5, "XRC SEND Only with Immediate", xrceth | immdt | payload, Send, Only},
    {0xa6, "XRC RDMA WRITE First", xrceth | reth | payload, RdmaWrite, First},
    {0xa7, "XRC RDMA WRITE Middle", xrceth | payload, RdmaWrite, Middle},
    {0xa8, "XRC RDMA WRITE Last", xrceth | payload, RdmaWrite, Last},
    {0xa9, "XRC RDMA WRITE Last with Immediate", xrceth | immdt | payload, RdmaWrite, Last},
    {0xaa, "XRC RDMA WRITE Only", xrceth | reth | payload, RdmaWrite, Only},
    {0xab, "XRC RDMA WRITE Only with Immediate", xrceth | reth | immdt | payload, RdmaWrite, Only},
    {0xac, "XRC RDMA READ Request", xrceth | reth, RdmaReadRequest, Only},
    {0xad, "XRC RDMA READ response First", aeth | payload, RdmaReadResponse, First},
    {0xae, "XRC RDMA READ response Middle", payload, RdmaReadResponse, Middle},
    {0xaf, "XRC RDMA READ response Last", aeth | payload, RdmaReadResponse, Last},
    {0xb0, "XRC RDMA READ response Only", aeth | payload, RdmaReadResponse, Only},
    {0xb1, "XRC Acknowledge", aeth, Acknowledge, Only},
    {0xb2, "XRC ATOMIC Acknowledge", aeth | atomic_ack_eth, AtomicAcknowledge, Only},
    {0xb3, "XRC CmpSwap", xrceth | atomic_eth, CmpSwap, Only},
    {0xb4, "XRC FetchAdd", xrceth | atomic_eth, FetchAdd, Only},
    {0xb6, "XRC SEND Last with Invalidate", xrceth | ieth | payload, Send, Last},
    {0xb7, "XRC SEND Only with Invalidate", xrceth | ieth | payload, Send, Only},
});

// Headers after the DC header, as in captures of ConnectX adapters: the same as RC's.
constexpr std::array dc_table = std::to_array<OpcodeInfo>({
    {0x40, "DC SEND First", dceth | payload, Send, First},
    {0x41, "DC SEND Middle", dceth | payload, Send, Middle},
    {0x42, "DC SEND Last", dceth | payload, Send, Last},
    {0x43, "DC SEND Last with Immediate", dceth | immdt | payload, Send, Last},
    {0x44, "DC SEND Only", dceth | payload, Send, Only},
    {0x45, "DC SEND Only with Immediate", dceth | immdt | payload, Send, Only},
    {0x46, "DC RDMA WRITE First", dceth | reth | payload, RdmaWrite, First},
    {0x47, "DC RDMA WRITE Middle", dceth | payload, RdmaWrite, Middle},
    {0x48, "DC RDMA WRITE Last", dceth | payload, RdmaWrite, Last},
    {0x49, "DC RDMA WRITE Last with Immediate", dceth | immdt | payload, RdmaWrite, Last},
    {0x4a, "DC RDMA WRITE Only", dceth | reth | payload, RdmaWrite, Only},
    {0x4b, "DC RDMA WRITE Only with Immediate", dceth | reth | immdt | payload, RdmaWrite, Only},
    {0x4c, "DC RDMA READ Request", dceth | reth, RdmaReadRequest, Only},
    {0x4d, "DC RDMA READ response First", dceth | aeth | payload, RdmaReadResponse, First},
    {0x4e, "DC RDMA READ response Middle", dceth | payload, RdmaReadResponse, Middle},
    {0x4f, "DC RDMA READ response Last", dceth | aeth | payload, RdmaReadResponse, Last},
    {0x50, "DC RDMA READ response Only", dceth | aeth | payload, RdmaReadResponse, Only},
    {0x51, "DC Acknowledge", dceth | aeth, Acknowledge, Only},
    {0x52, "DC ATOMIC Acknowledge", dceth | aeth | atomic_ack_eth, AtomicAcknowledge, Only},
    {0x53, "DC CmpSwap", dceth | atomic_eth, CmpSwap, Only},
    {0x54, "DC FetchAdd", dceth | atomic_eth, FetchAdd, Only},
});

constexpr bool is_strictly_ascending(std::span<const OpcodeInfo> rows) {
    for (std::size_t i = 1; i < rows.size(); ++i)
        if (rows[i - 1].value >= rows[i].value)
            return false;
    return true;
}
static_assert(is_strictly_ascending(table), "an opcode stands twice, or out of order");
static_assert(is_strictly_ascending(dc_table) &&
                  dc_table.front().value + dc_table.size() == dc_table.back().value + 1U,
              "DC's opcodes have no gap");

constexpr std::uint8_t no_row = 0xff;
static_assert(table.size() < no_row);

constexpr auto row_of_opcode = [] {
    std::array<std::uint8_t, 256> rows{};
    rows.fill(no_row);
    for (std::size_t i = 0; i < table.size(); ++i)
        rows[table[i].value] = static_cast<std::uint8_t>(i);
    return rows;
}();

}  // namespace

const OpcodeInfo* find_opcode(std::uint8_t value) {
    const std::uint8_t row = row_of_opcode[value];
    return row == no_row ? nullptr : &table[row];
}

const OpcodeInfo* find_dc_opcode(std::uint8_t value) {
    const std::size_t row = std::size_t{value} - dc_table.front().value;
    return row < dc_table.size() ? &dc_table[row] : nullptr;
}

std::span<const OpcodeInfo> opcodes() {
    return table;
}

std::span<const OpcodeInfo> dc_opcodes() {
    return dc_table;
}

std::string_view name(Transport transport) {
    constexpr std::array<std::string_view, 9> names{
        "RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer", "manufacturer", "DC"};
    return names[static_cast<std::size_t>(transport)];
}

}  // namespace wire
