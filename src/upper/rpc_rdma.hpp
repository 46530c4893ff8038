// RPC-over-RDMA version 1 (RFC 8166) and its private data in the connection manager's messages (RFC
// 8797). Integers are big-endian (XDR).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "upper/rpc.hpp"
#include "util/cursor.hpp"

namespace upper {

/// One segment of a chunk: memory that the receiver of the message may read or write.
struct RpcSegment {
    enum class List : std::uint8_t { Read, Write, Reply };

    List list{};
    std::optional<std::uint32_t> position;  ///< read segments only: position in the XDR stream
    std::uint32_t handle = 0;               ///< the rkey
    std::uint32_t length = 0;               ///< bytes
    std::uint64_t offset = 0;               ///< the address

    /// "read", "write", "reply"
    std::string_view list_name() const;
};

enum class RpcRdmaType : std::uint32_t { Message, NoMessage, Padded, Done, Error };

/// The transport header and the RPC message after it.
struct RpcRdma {
    static constexpr std::size_t size = 16;  ///< the fixed part
    static constexpr std::size_t shown_segments = 4;

    std::uint32_t xid = 0;
    std::uint32_t version = 0;
    std::uint32_t credits = 0;
    RpcRdmaType type{};

    /// Numbers of chunks; read segments with the same position are one chunk. nullopt if the
    /// payload ends before the list.
    std::optional<std::uint32_t> reads;
    std::optional<std::uint32_t> writes;
    std::optional<std::uint32_t> replies;  ///< 0 or 1
    /// The first segments of all lists, in wire order.
    std::array<RpcSegment, shown_segments> segments{};
    std::uint32_t segment_count = 0;  ///< all of them, including those not stored here

    std::optional<std::uint32_t> error_code;  ///< Error only: 1 version, 2 chunk
    std::optional<Rpc> rpc;                   ///< Message and Padded only
    /// The payload ends within the header.
    bool is_cut = false;

    /// "RDMA_MSG", ...; empty for any other type.
    std::string_view type_name() const;

    /// `payload`: includes the fixed part.
    static RpcRdma parse(util::Bytes payload);
};

/// Private data of a ConnectRequest or ConnectReply (RFC 8797).
struct RpcRdmaCm {
    static constexpr std::size_t size = 8;

    std::uint8_t version = 0;
    std::uint8_t flags = 0;          ///< 1: remote invalidation is supported
    std::uint32_t send_size = 0;     ///< bytes of the largest inline message that its sender sends
    std::uint32_t receive_size = 0;  ///< bytes of the largest one that it receives

    /// Returns nullopt if the magic number is missing.
    static std::optional<RpcRdmaCm> parse(util::FixedBytes<size> bytes);
};

}  // namespace upper
