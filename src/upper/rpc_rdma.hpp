// RPC-over-RDMA version 1 (RFC 8166) and its private data in the connection manager's messages
// (RFC 8797). Integers are big-endian, as in all XDR.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "upper/rpc.hpp"
#include "util/cursor.hpp"

namespace upper {

/// A part of a chunk: memory that the receiver of the message may read or write.
struct RpcSegment {
    enum class List : std::uint8_t { Read, Write, Reply };

    List list{};
    std::optional<std::uint32_t>
        position;              ///< of a read segment: where it belongs in the XDR stream
    std::uint32_t handle = 0;  ///< the rkey
    std::uint32_t length = 0;  ///< bytes
    std::uint64_t offset = 0;  ///< the address

    /// "read", "write", "reply"
    std::string_view list_name() const;
};

enum class RpcRdmaType : std::uint32_t { Message, NoMessage, Padded, Done, Error };

/// The transport header, and the RPC message after it.
struct RpcRdma {
    static constexpr std::size_t size = 16;  ///< of the fixed part
    static constexpr std::size_t shown_segments = 4;

    std::uint32_t xid = 0;
    std::uint32_t version = 0;
    std::uint32_t credits = 0;
    RpcRdmaType type{};

    /// Chunks: read segments of one position are one chunk. nullopt where the payload ends before.
    std::optional<std::uint32_t> reads;
    std::optional<std::uint32_t> writes;
    std::optional<std::uint32_t> replies;  ///< 0 or 1
    /// The first segments of all lists, in the order of the wire.
    std::array<RpcSegment, shown_segments> segments{};
    std::uint32_t segment_count = 0;  ///< all of them, shown here or not

    std::optional<std::uint32_t> error_code;  ///< of an Error: 1 version, 2 chunk
    std::optional<Rpc> rpc;                   ///< of a Message or Padded
    /// The payload ends within the header.
    bool is_cut = false;

    /// "RDMA_MSG", ...; empty for another type.
    std::string_view type_name() const;

    /// `payload`: with the fixed part.
    static RpcRdma parse(util::Bytes payload);
};

/// RFC 8797, of a ConnectRequest or ConnectReply.
struct RpcRdmaCm {
    static constexpr std::size_t size = 8;

    std::uint8_t version = 0;
    std::uint8_t flags = 0;          ///< 1: remote invalidation is supported
    std::uint32_t send_size = 0;     ///< bytes of the largest message the sender sends inline
    std::uint32_t receive_size = 0;  ///< bytes of the largest one that it receives

    /// nullopt without the magic number.
    static std::optional<RpcRdmaCm> parse(util::FixedBytes<size> bytes);
};

}  // namespace upper
