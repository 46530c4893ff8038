#include "trace/explain/refused_request.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace explain {
namespace {

using wire::Operation;

std::string_view right_of(Operation operation) {
    switch (operation) {
        case Operation::RdmaWrite:
        case Operation::AtomicWrite:
        case Operation::Flush:
            return "remote_write";
        case Operation::RdmaReadRequest:
            return "remote_read";
        case Operation::CmpSwap:
        case Operation::FetchAdd:
            return "remote_atomic";
        default:
            return {};
    }
}

std::string_view right_of_posted(std::string_view opcode) {
    if (opcode.starts_with("RDMA_WRITE"))
        return "remote_write";
    if (opcode == "RDMA_READ")
        return "remote_read";
    return opcode.starts_with("ATOMIC") ? "remote_atomic" : std::string_view();
}

// The message that a request packet belongs to. `first`: the packet itself if the message begins
// before the capture.
struct RefusedMessage {
    const Seen* first = nullptr;
    std::uint64_t length = 0;  // bytes
};
RefusedMessage message_of(const Direction& direction, const Seen& packet) {
    const auto& all = direction.requests;
    const auto at = std::ranges::find(all, &packet);
    auto first = at;
    while (first != all.begin() && !(*first)->opcode->starts_message())
        --first;
    if (!(*first)->opcode->starts_message())
        first = at;
    std::uint64_t length = 0;
    wire::Psn next = (*first)->psn;
    for (auto one = first; one != all.end(); ++one) {
        if ((*one)->psn == next) {
            length += (*one)->payload;
            next += 1;
        }
        if ((*one)->opcode->ends_message() || one - first > 65536)
            break;
    }
    return {*first, length};
}

RefusedRequest request_of(const Direction& direction, const Seen& packet) {
    const RefusedMessage message = message_of(direction, packet);
    RefusedRequest made;
    made.right = right_of(packet.opcode->operation);
    made.fills_receive = packet.is(Operation::Send);
    made.va = message.first->va;
    made.rkey = message.first->rkey;
    made.length = made.right.empty() ? message.length : message.first->dmalen;
    made.is_cut = message.first->lacks_headers;
    made.payload = std::max(message.first->payload, packet.payload);
    made.evidence.push_back(evidence(*message.first));
    if (message.first != &packet)
        made.evidence.push_back(evidence(packet));
    return made;
}

RefusedRequest request_of(const LoggedQueuePair& pair, const Post& post) {
    RefusedRequest made;
    made.right = right_of_posted(post.opcode);
    made.fills_receive = post.opcode.starts_with("SEND");
    made.va = post.remote_va;
    made.rkey = post.rkey.value_or(0);
    made.length = made.right == "remote_atomic" ? 8 : post.length;
    made.evidence.push_back(evidence(pair, post));
    return made;
}

const Seen* packet_of(const Direction& direction, const Seen& nak) {
    const Seen* packet = nullptr;
    for (const Seen* request : direction.requests)
        if (request->frame < nak.frame && request->psn == nak.psn)
            packet = request;
    return packet;
}

const Completion* completion_of(const Case& one, Refused& reason) {
    for (const auto& [status, code] : {std::pair{"REM_ACCESS_ERR", Refused::Access},
                                       {"REM_INV_REQ_ERR", Refused::Invalid},
                                       {"REM_OP_ERR", Refused::Operational}})
        if (const Completion* error = one.error(status)) {
            reason = code;
            return error;
        }
    return nullptr;
}

}  // namespace

std::optional<RefusedRequest> refused_request(const Case& one) {
    const Direction& direction = one.direction;
    std::optional<RefusedRequest> request;
    const auto nak = std::ranges::find_if(direction.responses, &Seen::is_fatal_nak);
    const bool has_nak = nak != direction.responses.end();
    if (const Seen* packet = has_nak ? packet_of(direction, **nak) : nullptr) {
        request = request_of(direction, *packet);
        request->packet = packet;
    }
    Refused reason = has_nak ? static_cast<Refused>((*nak)->aeth.code()) : Refused::Sequence;
    const Completion* error = completion_of(one, reason);
    if (error != nullptr && error->post) {
        RefusedRequest logged = request_of(*direction.requester, *error->post);
        if (request && request->is_cut) {
            request->va = logged.va;
            request->rkey = logged.rkey;
            request->length = logged.length;
            request->is_cut = false;
        }
        if (request)
            request->evidence.push_back(std::move(logged.evidence.front()));
        else
            request = std::move(logged);
    }
    if (!request)
        return std::nullopt;
    request->reason = reason;
    request->refused_ns = has_nak ? (*nak)->t_ns : error->t_ns;
    if (has_nak)
        request->evidence.push_back(evidence(**nak));
    if (error != nullptr)
        request->evidence.push_back(evidence(*direction.requester, *error));
    return request;
}

bool RefusedRequest::is_forbidden_by(const LoggedQueuePair* responder) const {
    return responder != nullptr && !right.empty() && !responder->access.empty() &&
           responder->access.find(right) == std::string::npos;
}

Cause& add_refused(const Case& one, const RefusedRequest& request, Causes& causes, Code code,
                   Certainty certainty, std::string text) {
    Cause cause = one.cause(code, certainty, std::move(text));
    cause.is_fatal = true;
    cause.evidence = request.evidence;
    causes.push_back(std::move(cause));
    return causes.back();
}

std::string forbidden_text(const LoggedQueuePair& responder, const RefusedRequest& request) {
    return fmt::format("{} does not allow {}.", responder.called(), request.right);
}

Evidence access_of(const LoggedQueuePair& responder) {
    return value(responder.role, "access of the queue pair: " + responder.access);
}

void add_forbidden(const Case& one, const RefusedRequest& request, Causes& causes) {
    const LoggedQueuePair& responder = *one.direction.responder;
    add_refused(one, request, causes, Code::MissingAccessRight, Certainty::Certain,
                forbidden_text(responder, request))
        .add(access_of(responder));
}

std::string_view right_of(const Seen& request) {
    return right_of(request.opcode->operation);
}

std::string_view right_of(const Post& post) {
    return right_of_posted(post.opcode);
}

bool is_read_or_atomic(std::string_view right) {
    return right == "remote_read" || right == "remote_atomic";
}

}  // namespace explain
