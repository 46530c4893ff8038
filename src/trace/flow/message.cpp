#include "trace/flow/message.hpp"

namespace flow {

std::string_view name(Message message) {
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

std::optional<Message> message_of(const wire::OpcodeInfo& opcode) {
    switch (opcode.operation) {
        case wire::Operation::Send:
            if (opcode.has(wire::header::immdt))
                return Message::SendImmediate;
            return opcode.has(wire::header::ieth) ? Message::SendInvalidate : Message::Send;
        case wire::Operation::RdmaWrite:
            return opcode.has(wire::header::immdt) ? Message::WriteImmediate : Message::Write;
        case wire::Operation::RdmaReadRequest:
            return Message::Read;
        case wire::Operation::RdmaReadResponse:
            return Message::ReadResponse;
        case wire::Operation::AtomicAcknowledge:
            return Message::AtomicAcknowledge;
        case wire::Operation::CmpSwap:
            return Message::CmpSwap;
        case wire::Operation::FetchAdd:
            return Message::FetchAdd;
        case wire::Operation::Resync:
            return Message::Resync;
        case wire::Operation::Flush:
            return Message::Flush;
        case wire::Operation::AtomicWrite:
            return Message::AtomicWrite;
        case wire::Operation::Acknowledge:
        case wire::Operation::Cnp:
            break;
    }
    return std::nullopt;
}

}  // namespace flow
