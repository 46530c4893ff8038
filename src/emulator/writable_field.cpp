#include "emulator/writable_field.hpp"

#include <algorithm>
#include <array>

namespace emulator {
namespace {

using wire::Header;

// Positions: RFC 791, RFC 8200, IBTA volume 1, 9.2 and 9.3.
constexpr auto table = std::to_array<WritableField>({
    {"ip.dscp", Header::Ipv4, 8, 6},
    {"ip.ecn", Header::Ipv4, 14, 2},
    {"ip.ttl", Header::Ipv4, 64, 8},
    {"ipv6.dscp", Header::Ipv6, 4, 6},
    {"ipv6.ecn", Header::Ipv6, 10, 2},
    {"ipv6.hlim", Header::Ipv6, 56, 8},
    {"bth.opcode", Header::Bth, 0, 8},
    {"bth.se", Header::Bth, 8, 1},
    {"bth.m", Header::Bth, 9, 1},
    {"bth.padcnt", Header::Bth, 10, 2},
    {"bth.tver", Header::Bth, 12, 4},
    {"bth.p_key", Header::Bth, 16, 16},
    {"bth.fecn", Header::Bth, 32, 1},
    {"bth.becn", Header::Bth, 33, 1},
    {"bth.destqp", Header::Bth, 40, 24},
    {"bth.a", Header::Bth, 64, 1},
    {"bth.psn", Header::Bth, 72, 24},
    {"deth.q_key", Header::Deth, 0, 32},
    {"deth.srcqp", Header::Deth, 40, 24},
    {"reth.va", Header::Reth, 0, 64},
    {"reth.r_key", Header::Reth, 64, 32},
    {"reth.dmalen", Header::Reth, 96, 32},
    {"atomiceth.va", Header::AtomicEth, 0, 64},
    {"atomiceth.r_key", Header::AtomicEth, 64, 32},
    {"atomiceth.swapdt", Header::AtomicEth, 96, 64},
    {"atomiceth.cmpdt", Header::AtomicEth, 160, 64},
    {"aeth.syndrome", Header::Aeth, 0, 8},
    {"aeth.msn", Header::Aeth, 8, 24},
    {"atomicacketh.origremdt", Header::AtomicAckEth, 0, 64},
    {"immdt", Header::ImmDt, 0, 32},
    {"ieth", Header::Ieth, 0, 32},
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
