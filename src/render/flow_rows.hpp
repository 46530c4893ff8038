// The rows of a conversation's table: what each says of a direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/flow/conversation.hpp"
#include "util/style.hpp"

namespace render {

/// A direction, and what it is one of.
struct FlowSide {
    const flow::Direction& direction;
    const flow::Conversation& conversation;
    std::int64_t begin_ns;  ///< of the capture
};

struct FlowRow {
    std::string_view label;
    std::string (*text)(const FlowSide&);  ///< empty: nothing to say
    util::TextRole role = util::TextRole::Plain;
};

/// In the order in which they are shown; the messages, a row for each kind, come between the two.
std::span<const FlowRow> flow_rows_before_messages();
std::span<const FlowRow> flow_rows_behind_messages();

/// "3 packets", "1 packet"; empty for none.
std::string counted(std::uint64_t count, std::string_view unit);

}  // namespace render
