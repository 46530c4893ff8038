// ONC RPC (RFC 5531) as far as it says which call this is, and of NFSv4 (RFC 7530, 8881, 7862) the
// operations that come first.
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

    /// "NFSv3 READ", "NFSv4 COMPOUND"; empty where it is not known.
    std::string_view name() const;
    friend bool operator==(const RpcProcedure&, const RpcProcedure&) = default;
};

/// The head of an NFSv4 COMPOUND: of a call, or of a reply to one.
struct NfsCompound {
    static constexpr std::size_t shown_operations = 8;

    std::string_view tag;
    std::optional<std::uint32_t> minor_version;  ///< of a call
    std::optional<std::uint32_t> status;         ///< of a reply
    std::uint32_t count = 0;                     ///< of operations
    /// The operations up to the first whose length this program does not know. At least one, where
    /// the payload has it.
    std::array<std::uint32_t, shown_operations> operations{};
    std::size_t known = 0;

    /// "PUTFH"; "?" for a number without a name. `i`: below `known`.
    std::string_view operation_name(std::size_t i) const;
};

struct Rpc {
    bool is_reply = false;
    /// Of a call; of a reply, where its call was seen.
    std::optional<RpcProcedure> procedure;
    std::optional<std::uint32_t> reply_state;   ///< of a reply: 0 accepted, 1 denied
    std::optional<std::uint32_t> accept_state;  ///< of an accepted one: 0 success
    std::optional<NfsCompound> compound;        ///< of a call of COMPOUND
    /// The results of a successful reply; empty for any other message.
    util::Bytes results;

    /// nullopt where the bytes are not an RPC message, or too few to tell.
    static std::optional<Rpc> parse(util::Bytes message);
    /// Of a reply: what was called. Reads the results.
    void answers(const RpcProcedure& call);
};

}  // namespace upper
