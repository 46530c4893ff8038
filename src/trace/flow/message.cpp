#include "trace/flow/message.hpp"

namespace flow {

std::string_view name(MessageKind message) {
    constexpr std::array<std::string_view, message_kinds> names{"SEND",
                                                                "SEND with Immediate",
                                                                "SEND with Invalidate",
                                                                "RDMA WRITE",
                                                                "RDMA WRITE with Immediate",
                                                                "RDMA READ",
                                                                "CmpSwap",
                                                                "FetchAdd",
                                                                "FLUSH",
                                                                "ATOMIC WRITE",
                                                                "RESYNC",
                                                                "READ response",
                                                                "ATOMIC Acknowledge"};
    return names[static_cast<std::size_t>(message)];
}

std::optional<MessageKind> message_of(const wire::OpcodeInfo& opcode) {
    switch (opcode.operation) {
        case wire::Operation::Send:
            if (opcode.has(wire::header::immdt))
                return MessageKind::SendImmediate;
            return opcode.has(wire::header::ieth) ? MessageKind::SendInvalidate : MessageKind::Send;
        case wire::Operation::RdmaWrite:
            return opcode.has(wire::header::immdt) ? MessageKind::WriteImmediate
                                                   : MessageKind::Write;
        case wire::Operation::RdmaReadRequest:
            return MessageKind::Read;
        case wire::Operation::RdmaReadResponse:
            return MessageKind::ReadResponse;
        case wire::Operation::AtomicAcknowledge:
            return MessageKind::AtomicAcknowledge;
        case wire::Operation::CmpSwap:
            return MessageKind::CmpSwap;
        case wire::Operation::FetchAdd:
            return MessageKind::FetchAdd;
        case wire::Operation::Resync:
            return MessageKind::Resync;
        case wire::Operation::Flush:
            return MessageKind::Flush;
        case wire::Operation::AtomicWrite:
            return MessageKind::AtomicWrite;
        case wire::Operation::Acknowledge:
        case wire::Operation::Cnp:
            break;
    }
    return std::nullopt;
}

}  // namespace flow
