// The parts of the field table, for field.cpp only.
#pragma once

#include <span>

#include "filter/field.hpp"

namespace filter {

std::span<const Field> frame_fields();      ///< the capture's own, link, network and UDP
std::span<const Field> transport_fields();  ///< BTH to ICRC, and what became of the decoding
std::span<const Field> cm_fields();         ///< management datagrams

}  // namespace filter
