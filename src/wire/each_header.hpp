// Visits the extension headers of a packet in wire order.
#pragma once

#include <cstddef>
#include <utility>

#include "wire/packet.hpp"

namespace wire {

/// Calls visit(mask bit, name, optional header) for each header, present or not, until it returns
/// false. Returns false in that case, otherwise true.
template <typename SomePacket, typename Visit>
bool for_each_extension_header(SomePacket& packet, Visit visit) {
    return visit(header::rdeth, "RDETH", packet.rdeth) &&
           visit(header::dceth, "DC header", packet.dceth) &&
           visit(header::deth, "DETH", packet.deth) &&
           visit(header::xrceth, "XRCETH", packet.xrceth) &&
           visit(header::feth, "FETH", packet.feth) && visit(header::reth, "RETH", packet.reth) &&
           visit(header::atomic_eth, "AtomicETH", packet.atomic_eth) &&
           visit(header::aeth, "AETH", packet.aeth) &&
           visit(header::atomic_ack_eth, "AtomicAckETH", packet.atomic_ack_eth) &&
           visit(header::immdt, "ImmDt", packet.immdt) && visit(header::ieth, "IETH", packet.ieth);
}

inline constexpr std::size_t cnp_reserved_size = 16;

static_assert(header_sizes == std::array<std::uint8_t, 12>{
                                  Rdeth::size, Dceth::size, Deth::size, Xrceth::size, Feth::size,
                                  Reth::size, AtomicEth::size, Aeth::size, AtomicAckEth::size,
                                  ImmDt::size, Ieth::size, cnp_reserved_size});

}  // namespace wire
