// Names that both reports of flows use.
#pragma once

#include <cstddef>
#include <string_view>

#include "trace/flow/conversation.hpp"

namespace render {

/// "CM", "run log", "DETH", "ACK PSNs"; empty for None.
std::string_view name(flow::Pairing pairing);
/// "IPv4", "IPv6", "GRH".
std::string_view name(flow::Network network);
/// Name of an index of ResponseSequence::naks(): "PSN Sequence Error", ...
std::string_view nak_name(std::size_t code);

}  // namespace render
