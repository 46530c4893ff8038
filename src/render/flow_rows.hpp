// The rows of a conversation's table, each with its text for one direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/flow/conversation.hpp"
#include "util/style.hpp"

namespace render {

/// A direction and its conversation.
struct FlowSide {
    const flow::Direction& direction;
    const flow::Conversation& conversation;
    std::int64_t begin_ns;  ///< start of the capture
};

struct FlowRow {
    std::string_view label;
    std::string (*text)(const FlowSide&);  ///< empty: the row does not apply
    util::TextRole role = util::TextRole::Plain;
};

/// In display order. The messages, one row per kind, come between the two.
std::span<const FlowRow> flow_rows_before_messages();
std::span<const FlowRow> flow_rows_behind_messages();

/// "3 packets", "1 packet"; empty for none.
std::string counted(std::uint64_t count, std::string_view unit);

}  // namespace render
