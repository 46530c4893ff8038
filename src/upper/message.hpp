// The message of the protocol above RDMA in a packet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "upper/iser.hpp"
#include "upper/nvme.hpp"
#include "upper/rpc_rdma.hpp"
#include "upper/service.hpp"
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace upper {

/// Why a message of a known service is not decoded.
struct Problem {
    std::string_view what;   ///< "NVMe command"; static text
    std::size_t needs = 0;   ///< bytes
    std::size_t length = 0;  ///< bytes on the wire
    std::size_t left = 0;    ///< bytes captured

    /// "NVMe command needs 64 bytes, 40 captured", or the same with "of 40" if the message itself
    /// is too short.
    std::string text() const;
};

/// monostate: no message that is decoded.
using Body = std::variant<std::monostate, Problem, NvmeCommand, NvmeResponse, NvmeCmRequest,
                          NvmeCmReply, NvmeCmReject, RpcRdma, RpcRdmaCm, Iser, IserCm>;

struct Message {
    Body body;

    /// nullptr if the message is of another kind: `if (const auto* command =
    /// message.as<NvmeCommand>())`.
    template <typename Kind>
    const Kind* as() const {
        return std::get_if<Kind>(&body);
    }
};

/// Parses the start of a message: `payload` is the captured part of the packet's `length` bytes.
/// Reads nothing outside `payload`; never throws or allocates.
Message parse(const Channel& channel, util::Bytes payload, std::size_t length);

/// Parses the private data of a connection manager message to or from a service.
Message parse(Service service, const wire::Cm& message);

/// Appends "NVMe Read cid 0x0005 nsid 1 ..." to `out`; nothing if nothing is decoded. Allocates
/// only what `out` grows by, except for a Problem.
void append_text(std::string& out, const Message& message);

}  // namespace upper
