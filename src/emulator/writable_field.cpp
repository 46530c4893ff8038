#include "emulator/writable_field.hpp"

#include <algorithm>
#include <array>

namespace emulator {
namespace {

// Positions: RFC 791, RFC 8200, IBTA volume 1, 9.2 and 9.3.
constexpr auto table = std::to_array<WritableField>({
    {"ip.dscp", "ip", 8, 6},
    {"ip.ecn", "ip", 14, 2},
    {"ip.ttl", "ip", 64, 8},
    {"ipv6.dscp", "ipv6", 4, 6},
    {"ipv6.ecn", "ipv6", 10, 2},
    {"ipv6.hlim", "ipv6", 56, 8},
    {"bth.opcode", "bth", 0, 8},
    {"bth.se", "bth", 8, 1},
    {"bth.m", "bth", 9, 1},
    {"bth.padcnt", "bth", 10, 2},
    {"bth.tver", "bth", 12, 4},
    {"bth.p_key", "bth", 16, 16},
    {"bth.fecn", "bth", 32, 1},
    {"bth.becn", "bth", 33, 1},
    {"bth.destqp", "bth", 40, 24},
    {"bth.a", "bth", 64, 1},
    {"bth.psn", "bth", 72, 24},
    {"deth.q_key", "deth", 0, 32},
    {"deth.srcqp", "deth", 40, 24},
    {"reth.va", "reth", 0, 64},
    {"reth.r_key", "reth", 64, 32},
    {"reth.dmalen", "reth", 96, 32},
    {"atomiceth.va", "atomiceth", 0, 64},
    {"atomiceth.r_key", "atomiceth", 64, 32},
    {"atomiceth.swapdt", "atomiceth", 96, 64},
    {"atomiceth.cmpdt", "atomiceth", 160, 64},
    {"aeth.syndrome", "aeth", 0, 8},
    {"aeth.msn", "aeth", 8, 24},
    {"atomicacketh.origremdt", "atomicacketh", 0, 64},
    {"immdt", "immdt", 0, 32},
    {"ieth", "ieth", 0, 32},
});

}  // namespace

std::span<const WritableField> writable_fields() {
    return table;
}

const WritableField* find_writable(std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &WritableField::name);
    return found == table.end() ? nullptr : found;
}

}  // namespace emulator
