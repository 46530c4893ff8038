// Conversations as tables for a terminal: two columns, one per direction, without empty rows. At
// most 100 columns wide.
#pragma once

#include <chrono>
#include <string>

#include "trace/flow/conversation.hpp"
#include "util/style.hpp"

namespace render {

/// `begin`: the capture's first packet, since 1970; times are relative to it.
std::string flow_text(const flow::Conversation& conversation, std::chrono::nanoseconds begin,
                      const util::TextStyle& style);

std::string flow_totals_text(const flow::Totals& totals, const util::TextStyle& style);

}  // namespace render
