// ONC RPC (RFC 5531), as far as needed to identify a call, and the first operations of an NFSv4
// COMPOUND (RFC 7530, 8881, 7862).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"

namespace upper {

struct RpcProcedure {
    std::uint32_t program = 0;
    std::uint32_t version = 0;
    std::uint32_t procedure = 0;

    /// "NFSv3 READ", "NFSv4 COMPOUND"; empty if unknown.
    std::string_view name() const;
    friend bool operator==(const RpcProcedure&, const RpcProcedure&) = default;
};

/// The start of an NFSv4 COMPOUND call or reply.
struct NfsCompound {
    static constexpr std::size_t shown_operations = 8;

    std::string_view tag;
    std::optional<std::uint32_t> minor_version;  ///< calls only
    std::optional<std::uint32_t> status;         ///< replies only
    std::uint32_t count = 0;                     ///< number of operations
    /// The operations up to the first one with an unknown length. At least one if the payload has
    /// it.
    std::array<std::uint32_t, shown_operations> operations{};
    std::size_t known = 0;

    /// "PUTFH"; "?" for a number without a name. `i` must be below `known`.
    std::string_view operation_name(std::size_t i) const;
};

struct Rpc {
    bool is_reply = false;
    /// Set in a call, and in a reply if its call was captured.
    std::optional<RpcProcedure> procedure;
    std::optional<std::uint32_t> reply_state;   ///< replies only: 0 accepted, 1 denied
    std::optional<std::uint32_t> accept_state;  ///< accepted replies only: 0 success
    std::optional<NfsCompound> compound;        ///< of a COMPOUND
    /// Results of a successful reply; empty for any other message.
    util::Bytes results;

    /// Returns nullopt if the bytes are not an RPC message, or are too few to decide.
    static std::optional<Rpc> parse(util::Bytes message);
    /// Sets the call that this reply answers, and decodes its results.
    void answers(const RpcProcedure& call);
};

}  // namespace upper
