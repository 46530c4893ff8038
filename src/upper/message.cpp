#include "upper/message.hpp"

#include <fmt/format.h>

namespace upper {
namespace {

// The length distinguishes the capsules: a response has 16 bytes, a command at least 64.
Body parse_nvme(const Channel& channel, util::Bytes payload, std::size_t length) {
    util::Cursor cursor(payload);
    if (length == NvmeResponse::size) {
        if (const auto bytes = cursor.take<NvmeResponse::size>())
            return NvmeResponse::parse(channel.queue_id, *bytes);
        return Problem{"NVMe response", NvmeResponse::size, length, payload.size()};
    }
    if (length >= NvmeCommand::size)
        if (const auto bytes = cursor.take<NvmeCommand::size>())
            return NvmeCommand::parse(channel.queue_id, *bytes);
    return Problem{"NVMe command", NvmeCommand::size, length, payload.size()};
}

Body parse_rpc_rdma(util::Bytes payload, std::size_t length) {
    if (payload.size() < RpcRdma::size)
        return Problem{"RPC-over-RDMA header", RpcRdma::size, length, payload.size()};
    return RpcRdma::parse(payload);
}

Body parse_iser(util::Bytes payload, std::size_t length) {
    util::Cursor cursor(payload);
    if (const auto bytes = cursor.take<Iser::size>())
        return Iser::parse(*bytes, cursor.rest());
    return Problem{"iSER header", Iser::size, length, payload.size()};
}

template <typename Part>
Body parse_private(util::Bytes data) {
    util::Cursor cursor(data);
    if (const auto bytes = cursor.take<Part::size>())
        return Part::parse(*bytes);
    return {};
}

// This private data is optional.
Body parse_rpc_rdma_private(util::Bytes data) {
    util::Cursor cursor(data);
    if (const auto bytes = cursor.take<RpcRdmaCm::size>())
        if (const auto cm = RpcRdmaCm::parse(*bytes))
            return *cm;
    return {};
}

}  // namespace

std::string Problem::text() const {
    return left < length && needs <= length
               ? fmt::format("{} needs {} bytes, {} captured", what, needs, left)
               : fmt::format("{} needs {} bytes, the message has {}", what, needs, length);
}

Message parse(const Channel& channel, util::Bytes payload, std::size_t length) {
    switch (channel.service) {
        case Service::Nvme:
            return {parse_nvme(channel, payload, length)};
        case Service::RpcRdma:
            return {parse_rpc_rdma(payload, length)};
        case Service::Iser:
            return {parse_iser(payload, length)};
        case Service::None:
            break;
    }
    return {};
}

Message parse(Service service, const wire::Cm& message) {
    const auto* req = message.as<wire::CmReq>();
    const auto* rep = message.as<wire::CmRep>();
    // "Consumer Reject": the private data is the application's, not the connection manager's.
    constexpr std::uint16_t consumer = 28;
    const auto* rej = message.as<wire::CmRej>();
    if (service == Service::Nvme) {
        if (req != nullptr)
            return {parse_private<NvmeCmRequest>(req->private_data)};
        if (rep != nullptr)
            return {parse_private<NvmeCmReply>(rep->private_data)};
        if (rej != nullptr && rej->reason == consumer)
            return {parse_private<NvmeCmReject>(rej->private_data)};
    }
    if (req == nullptr && rep == nullptr)
        return {};
    const util::Bytes data = req != nullptr ? req->private_data : rep->private_data;
    if (service == Service::RpcRdma)
        return {parse_rpc_rdma_private(data)};
    if (service == Service::Iser)
        return {parse_private<IserCm>(data)};
    return {};
}

}  // namespace upper
