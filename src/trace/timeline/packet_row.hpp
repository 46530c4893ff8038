// A decoded packet as a row of the timeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/timeline/cause.hpp"
#include "trace/timeline/packet_key.hpp"
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace timeline {

struct PacketRow {
    std::int64_t t_ns = 0;  // the capture's clock
    std::string source;     // numeric IP address; empty: none in the frame
    std::string destination;
    std::string text;  // the decoded packet in one line
    bool is_roce = false;
    // At most one of the keys and at most one of the causes is set.
    std::optional<PacketKey> key;
    std::optional<CmKey> cm;
    std::optional<SegmentKey> segment;
    std::optional<PostedRequest> cause;
    std::optional<SetUp> set_up;

    bool has_cause() const { return cause || set_up; }
    void set_origin(const Origin& origin);
};

/// `text`: the packet in one line, as the report renders it. `t_ns`: the capture's clock. `frame`:
/// the bytes that `packet` was decoded from.
PacketRow row_of(const wire::Packet& packet, util::Bytes frame, std::int64_t t_ns,
                 std::string text);

}  // namespace timeline
