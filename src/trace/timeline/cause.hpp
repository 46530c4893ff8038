// What a packet belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "trace/timeline/packet_key.hpp"
#include "trace/timeline/work_request.hpp"

namespace timeline {

/// The work request of a packet.
struct PostedRequest {
    std::string role;       // the poster
    std::uint32_t qpn = 0;  // the poster's
    std::uint64_t wr_id = 0;
    std::string opcode;          // "RDMA_WRITE"
    std::uint32_t packet = 0;    // PSN within the request, from 1
    std::uint32_t packets = 0;   // PSNs of the request
    std::int64_t posted_ns = 0;  // the poster's clock
    bool is_response = false;
    Transmission seen = Transmission::First;
    std::uint64_t length = 0;  // of the request, bytes

    bool operator==(const PostedRequest&) const = default;
};

/// A packet's place in its work request.
struct RequestPacket {
    const WorkRequest* request = nullptr;  // valid until the next event is learned
    std::uint32_t packet = 0;              // PSN within the request, from 1
    bool is_response = false;
    Transmission seen = Transmission::First;

    PostedRequest cause() const {
        return {request->role, request->qpn,     request->wr_id,     request->opcode,
                packet,        request->packets, request->posted_ns, is_response,
                seen,          request->length};
    }
};

/// The connection setup or teardown that a packet belongs to.
struct SetUp {
    enum class By : std::uint8_t { ConnectionManager, Exchange };

    By by = By::Exchange;
    std::string role;                  // the sender
    std::optional<std::uint32_t> qpn;  // of a CM message: the sender's queue pair, if it has one

    bool operator==(const SetUp&) const = default;
};

/// One of these, or nothing if no log explains the packet.
using Origin = std::variant<std::monostate, RequestPacket, SetUp>;

}  // namespace timeline
