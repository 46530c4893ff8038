// What the layer above RDMA says. A packet has these only where its connection's service is known.
#include <array>

#include "filter/field_tables.hpp"
#include "filter/getter.hpp"
#include "upper/message.hpp"

namespace filter {
namespace {

using upper::IscsiBhs;
using upper::Iser;
using upper::IserCm;
using upper::NfsCompound;
using upper::NvmeCmReject;
using upper::NvmeCmReply;
using upper::NvmeCmRequest;
using upper::NvmeCommand;
using upper::NvmeConnect;
using upper::NvmeProperty;
using upper::NvmeResponse;
using upper::NvmeSgl;
using upper::Rpc;
using upper::RpcProcedure;
using upper::RpcRdma;
using upper::RpcRdmaCm;
using upper::RpcSegment;
using enum Kind;

template <typename Kept>
const Kept* part(const View& view) {
    return view.upper != nullptr ? view.upper->as<Kept>() : nullptr;
}

/// A chain of members of one kind of message.
template <typename Kept, auto... Members>
Value of(const View& view) {
    const Kept* message = part<Kept>(view);
    return message != nullptr ? follow(*message, Members...) : Value();
}

template <typename... Kept>
Value is(const View& view) {
    return (... || (part<Kept>(view) != nullptr)) ? Value(true) : Value();
}

/// The same of whichever kind has the member.
template <auto... Members>
Value any(const View& view) {
    Value value;
    const auto take = [&](auto member) {
        using Owner = decltype(message_of(member));
        if (const Owner* message = part<Owner>(view))
            value = to_value(std::invoke(member, *message));
        return is_there(value);
    };
    static_cast<void>((take(Members) || ...));
    return value;
}

template <auto Member>
Value has_part(const View& view) {
    const auto* command = part<NvmeCommand>(view);
    return command != nullptr && command->*Member ? Value(true) : Value();
}

// Null where there is no name.
template <typename Kept, auto Member>
Value name_of(const View& view) {
    const Kept* message = part<Kept>(view);
    if (message == nullptr)
        return {};
    const std::string_view name = std::invoke(Member, *message);
    return name.empty() ? Value(Null()) : Value(name);
}
Value property_name(const View& view) {
    const auto* command = part<NvmeCommand>(view);
    if (command == nullptr || !command->property)
        return {};
    const std::string_view name = command->property->name();
    return name.empty() ? Value(Null()) : Value(name);
}

Value problem(const View& view) {
    if (const auto* header = part<RpcRdma>(view); header != nullptr && header->is_cut)
        return "the RPC-over-RDMA header goes beyond the payload";
    const auto* problem = part<upper::Problem>(view);
    if (problem == nullptr)
        return {};
    view.scratch = problem->text();
    return std::string_view(view.scratch);
}

Value type_of_rpc_rdma(const View& view) {
    const auto* header = part<RpcRdma>(view);
    return header != nullptr ? to_value(static_cast<std::uint32_t>(header->type)) : Value();
}

template <std::size_t I>
const RpcSegment* segment(const View& view) {
    const auto* header = part<RpcRdma>(view);
    return header != nullptr && I < header->segment_count ? &header->segments[I] : nullptr;
}
template <std::size_t I, auto Member>
Value of_segment(const View& view) {
    const RpcSegment* chunk = segment<I>(view);
    return chunk != nullptr ? follow(*chunk, Member) : Value();
}
template <std::size_t I>
Value has_segment(const View& view) {
    return segment<I>(view) != nullptr ? Value(true) : Value();
}

const Rpc* rpc_of(const View& view) {
    const auto* header = part<RpcRdma>(view);
    return header != nullptr && header->rpc ? &*header->rpc : nullptr;
}
template <auto... Members>
Value rpc(const View& view) {
    const Rpc* message = rpc_of(view);
    return message != nullptr ? follow(*message, Members...) : Value();
}
Value has_rpc(const View& view) {
    return rpc_of(view) != nullptr ? Value(true) : Value();
}
Value rpc_message_type(const View& view) {
    const Rpc* message = rpc_of(view);
    return message != nullptr ? Value(std::uint64_t{message->is_reply ? 1U : 0U}) : Value();
}
Value procedure_name(const View& view) {
    const Rpc* message = rpc_of(view);
    if (message == nullptr || !message->procedure)
        return {};
    const std::string_view name = message->procedure->name();
    return name.empty() ? Value(Null()) : Value(name);
}
Value has_nfs(const View& view) {
    const Rpc* message = rpc_of(view);
    return message != nullptr && message->compound ? Value(true) : Value();
}
Value tag(const View& view) {
    const Rpc* message = rpc_of(view);
    return message != nullptr && message->compound && !message->compound->tag.empty()
               ? Value(message->compound->tag)
               : Value();
}
Value first_operation(const View& view) {
    const Rpc* message = rpc_of(view);
    return message != nullptr && message->compound && message->compound->known != 0
               ? to_value(message->compound->operations.front())
               : Value();
}
Value operations(const View& view) {
    const Rpc* message = rpc_of(view);
    if (message == nullptr || !message->compound)
        return {};
    const NfsCompound& compound = *message->compound;
    view.scratch.clear();
    for (std::size_t i = 0; i < compound.known; ++i)
        view.scratch.append(i == 0 ? "" : " ").append(compound.operation_name(i));
    if (compound.known < compound.count)
        view.scratch.append(compound.known == 0 ? "..." : " ...");
    return std::string_view(view.scratch);
}

Value has_bhs(const View& view) {
    const auto* iser = part<Iser>(view);
    return iser != nullptr && iser->bhs ? Value(true) : Value();
}
template <auto Member>
Value bhs_name(const View& view) {
    const auto* iser = part<Iser>(view);
    if (iser == nullptr || !iser->bhs)
        return {};
    const std::string_view name = std::invoke(Member, *iser->bhs);
    return name.empty() ? Value() : Value(name);
}

// Every field of this table needs the connection's service.
constexpr FieldExtra connection{.needs_connection = true};
constexpr FieldExtra named(std::string_view wireshark) {
    return {.needs_connection = true, .wireshark = wireshark};
}

// Of the JSON's array.
constexpr FieldExtra element{.needs_connection = true, .json = "segments[]"};

constexpr auto upper_table = std::to_array<Field>({
    {"upper_problem", Text, "why the message above RDMA is not decoded", problem, connection},
    {"nvme", Present, "NVMe over RDMA",
     is<NvmeCommand, NvmeResponse, NvmeCmRequest, NvmeCmReply, NvmeCmReject>, connection},
    {"nvme.qid", Decimal, "the connection's queue; 0: the admin queue",
     any<&NvmeCommand::queue_id, &NvmeResponse::queue_id>, named("nvme-rdma.cmd.qid")},
    {"nvme.cmd", Present, "command capsule", is<NvmeCommand>, connection},
    {"nvme.cmd.opc", Hex2, "opcode; 0x7f: a Fabrics command", of<NvmeCommand, &NvmeCommand::opcode>,
     connection},
    {"nvme.cmd.name", Text, "\"Read\", \"Identify\", \"Connect\", ...",
     name_of<NvmeCommand, &NvmeCommand::name>, connection},
    {"nvme.cmd.fctype", Hex2, "Fabrics: which command", of<NvmeCommand, &NvmeCommand::fctype>,
     named("nvme.fabrics.cmd.fctype")},
    {"nvme.cmd.fuse_op", Hex2, "fused operation", of<NvmeCommand, &NvmeCommand::fuse>, connection},
    {"nvme.cmd.psdt", Hex2, "1, 2: data by scatter/gather list",
     of<NvmeCommand, &NvmeCommand::psdt>, connection},
    {"nvme.cmd.cid", Hex4, "command identifier", of<NvmeCommand, &NvmeCommand::cid>, connection},
    {"nvme.cmd.nsid", Hex8, "namespace", of<NvmeCommand, &NvmeCommand::nsid>, connection},
    {"nvme.cmd.sgl1", Present, "where the data are", has_part<&NvmeCommand::sgl1>, connection},
    {"nvme.cmd.sgl1.type", Hex2, "0 data block, 4 keyed data block",
     of<NvmeCommand, &NvmeCommand::sgl1, &NvmeSgl::type>, named("nvme.cmd.sgl.type")},
    {"nvme.cmd.sgl1.subtype", Hex2, "0 address, 1 offset, 15 invalidate the key",
     of<NvmeCommand, &NvmeCommand::sgl1, &NvmeSgl::subtype>, named("nvme.cmd.sgl.subtype")},
    {"nvme.cmd.sgl1.addr", Hex16, "address in the host's memory",
     of<NvmeCommand, &NvmeCommand::sgl1, &NvmeSgl::address>, connection},
    {"nvme.cmd.sgl1.len", Decimal, "bytes", of<NvmeCommand, &NvmeCommand::sgl1, &NvmeSgl::length>,
     connection},
    {"nvme.cmd.sgl1.key", Hex8, "rkey", of<NvmeCommand, &NvmeCommand::sgl1, &NvmeSgl::key>,
     connection},
    {"nvme.cmd.slba", Hex16, "first logical block", of<NvmeCommand, &NvmeCommand::slba>,
     connection},
    {"nvme.cmd.nlb", Decimal, "logical blocks", of<NvmeCommand, &NvmeCommand::blocks>, connection},
    {"nvme.cmd.connect", Present, "Fabrics Connect", has_part<&NvmeCommand::connect>, connection},
    {"nvme.cmd.connect.recfmt", Decimal, "record format",
     of<NvmeCommand, &NvmeCommand::connect, &NvmeConnect::record_format>,
     named("nvme.fabrics.cmd.connect.recfmt")},
    {"nvme.cmd.connect.qid", Decimal, "queue",
     of<NvmeCommand, &NvmeCommand::connect, &NvmeConnect::queue_id>,
     named("nvme.fabrics.cmd.connect.qid")},
    {"nvme.cmd.connect.sqsize", Decimal, "entries of the submission queue less one",
     of<NvmeCommand, &NvmeCommand::connect, &NvmeConnect::sq_size>,
     named("nvme.fabrics.cmd.connect.sqsize")},
    {"nvme.cmd.connect.cattr", Hex2, "attributes",
     of<NvmeCommand, &NvmeCommand::connect, &NvmeConnect::attributes>,
     named("nvme.fabrics.cmd.connect.cattr")},
    {"nvme.cmd.connect.kato", Decimal, "keep alive timeout in ms",
     of<NvmeCommand, &NvmeCommand::connect, &NvmeConnect::keep_alive_ms>,
     named("nvme.fabrics.cmd.connect.kato")},
    {"nvme.cmd.property", Present, "Fabrics Property Get or Set", has_part<&NvmeCommand::property>,
     connection},
    {"nvme.cmd.property.size", Hex2, "0 four bytes, 1 eight bytes",
     of<NvmeCommand, &NvmeCommand::property, &NvmeProperty::size_code>,
     named("nvme.fabrics.cmd.prop_get_set.attrib.size")},
    {"nvme.cmd.property.offset", Hex8, "offset",
     of<NvmeCommand, &NvmeCommand::property, &NvmeProperty::offset>,
     named("nvme.fabrics.cmd.prop_get_set.offset")},
    {"nvme.cmd.property.name", Text, "CAP, VS, CC, CSTS, NSSR", property_name, connection},
    {"nvme.cqe", Present, "response capsule", is<NvmeResponse>, connection},
    {"nvme.cqe.sqhd", Hex4, "head of the submission queue",
     of<NvmeResponse, &NvmeResponse::sq_head>, connection},
    {"nvme.cqe.sqid", Hex4, "submission queue", of<NvmeResponse, &NvmeResponse::sq_id>, connection},
    {"nvme.cqe.cid", Hex4, "of the command", of<NvmeResponse, &NvmeResponse::cid>, connection},
    {"nvme.cqe.status", Hex4, "status field", of<NvmeResponse, &NvmeResponse::status>, connection},
    {"nvme.cqe.sc", Hex4, "status code", of<NvmeResponse, &NvmeResponse::status_code>,
     named("nvme.cqe.status.sc")},
    {"nvme.cqe.sct", Hex4, "status code type", of<NvmeResponse, &NvmeResponse::status_code_type>,
     named("nvme.cqe.status.sct")},
    {"nvme.cqe.dnr", Flag, "do not retry", of<NvmeResponse, &NvmeResponse::do_not_retry>,
     named("nvme.cqe.status.dnr")},
    {"nvme.cqe.status_name", Text, "\"Invalid Field in Command\", ...",
     name_of<NvmeResponse, &NvmeResponse::status_name>, connection},
    {"nvme.cm", Present, "private data of the connection manager's message",
     is<NvmeCmRequest, NvmeCmReply, NvmeCmReject>, connection},
    {"nvme.cm.recfmt", Decimal, "record format",
     any<&NvmeCmRequest::record_format, &NvmeCmReply::record_format, &NvmeCmReject::record_format>,
     connection},
    {"nvme.cm.qid", Decimal, "queue; 0: the admin queue",
     of<NvmeCmRequest, &NvmeCmRequest::queue_id>, named("nvme-rdma.cm.req.qid")},
    {"nvme.cm.hrqsize", Decimal, "entries of the host's receive queue",
     of<NvmeCmRequest, &NvmeCmRequest::host_receive_size>, named("nvme-rdma.cm.req.hrqsize")},
    {"nvme.cm.hsqsize", Decimal, "of its send queue, less one",
     of<NvmeCmRequest, &NvmeCmRequest::host_send_size>, named("nvme-rdma.cm.req.hsqsize")},
    {"nvme.cm.cntlid", Hex4, "controller", of<NvmeCmRequest, &NvmeCmRequest::controller_id>,
     named("nvme-rdma.cm.req.cntlid")},
    {"nvme.cm.crqsize", Decimal, "entries of the controller's receive queue",
     of<NvmeCmReply, &NvmeCmReply::controller_receive_size>, named("nvme-rdma.cm.rsp.crqsize")},
    {"nvme.cm.status", Hex4, "why rejected", of<NvmeCmReject, &NvmeCmReject::status>,
     named("nvme-rdma.cm.rej.status")},
    {"nvme.cm.status_name", Text, "\"Invalid HSQSIZE\", ...",
     name_of<NvmeCmReject, &NvmeCmReject::status_name>, connection},
    {"rpcrdma", Present, "RPC over RDMA", is<RpcRdma, RpcRdmaCm>, connection},
    {"rpcrdma.xid", Hex8, "transaction", of<RpcRdma, &RpcRdma::xid>, named("rpcordma.xid")},
    {"rpcrdma.version", Decimal, "1", of<RpcRdma, &RpcRdma::version>, named("rpcordma.version")},
    {"rpcrdma.credits", Decimal, "requested or granted", of<RpcRdma, &RpcRdma::credits>,
     named("rpcordma.flow_control")},
    {"rpcrdma.type", Decimal, "0 RDMA_MSG, 1 RDMA_NOMSG, 4 RDMA_ERROR", type_of_rpc_rdma,
     named("rpcordma.msg_type")},
    {"rpcrdma.reads", Decimal, "read chunks", of<RpcRdma, &RpcRdma::reads>,
     named("rpcordma.reads_count")},
    {"rpcrdma.writes", Decimal, "write chunks", of<RpcRdma, &RpcRdma::writes>,
     named("rpcordma.writes_count")},
    {"rpcrdma.replies", Decimal, "reply chunks: 0 or 1", of<RpcRdma, &RpcRdma::replies>,
     named("rpcordma.reply_count")},
    {"rpcrdma.segment", Present, "segment of a chunk", has_segment<0>, element},
    {"rpcrdma.segment.list", Text, "read, write or reply", of_segment<0, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment.position", Decimal, "of a read segment: place in the XDR stream",
     of_segment<0, &RpcSegment::position>, named("rpcordma.position")},
    {"rpcrdma.segment.handle", Hex8, "rkey", of_segment<0, &RpcSegment::handle>,
     named("rpcordma.rdma_handle")},
    {"rpcrdma.segment.length", Decimal, "bytes", of_segment<0, &RpcSegment::length>,
     named("rpcordma.rdma_length")},
    {"rpcrdma.segment.offset", Hex16, "address", of_segment<0, &RpcSegment::offset>,
     named("rpcordma.rdma_offset")},
    {"rpcrdma.segment2", Present, "segment of a chunk", has_segment<1>, element},
    {"rpcrdma.segment2.list", Text, "read, write or reply", of_segment<1, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment2.position", Decimal, "of a read segment: place in the XDR stream",
     of_segment<1, &RpcSegment::position>, connection},
    {"rpcrdma.segment2.handle", Hex8, "rkey", of_segment<1, &RpcSegment::handle>, connection},
    {"rpcrdma.segment2.length", Decimal, "bytes", of_segment<1, &RpcSegment::length>, connection},
    {"rpcrdma.segment2.offset", Hex16, "address", of_segment<1, &RpcSegment::offset>, connection},
    {"rpcrdma.segment3", Present, "segment of a chunk", has_segment<2>, element},
    {"rpcrdma.segment3.list", Text, "read, write or reply", of_segment<2, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment3.position", Decimal, "of a read segment: place in the XDR stream",
     of_segment<2, &RpcSegment::position>, connection},
    {"rpcrdma.segment3.handle", Hex8, "rkey", of_segment<2, &RpcSegment::handle>, connection},
    {"rpcrdma.segment3.length", Decimal, "bytes", of_segment<2, &RpcSegment::length>, connection},
    {"rpcrdma.segment3.offset", Hex16, "address", of_segment<2, &RpcSegment::offset>, connection},
    {"rpcrdma.segment4", Present, "segment of a chunk", has_segment<3>, element},
    {"rpcrdma.segment4.list", Text, "read, write or reply", of_segment<3, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment4.position", Decimal, "of a read segment: place in the XDR stream",
     of_segment<3, &RpcSegment::position>, connection},
    {"rpcrdma.segment4.handle", Hex8, "rkey", of_segment<3, &RpcSegment::handle>, connection},
    {"rpcrdma.segment4.length", Decimal, "bytes", of_segment<3, &RpcSegment::length>, connection},
    {"rpcrdma.segment4.offset", Hex16, "address", of_segment<3, &RpcSegment::offset>, connection},
    {"rpcrdma.errcode", Decimal, "of RDMA_ERROR: 1 version, 2 chunk",
     of<RpcRdma, &RpcRdma::error_code>, named("rpcordma.errcode")},
    {"rpcrdma.cm", Present, "private data of the connection manager's message", is<RpcRdmaCm>,
     connection},
    {"rpcrdma.cm.version", Decimal, "1", of<RpcRdmaCm, &RpcRdmaCm::version>, connection},
    {"rpcrdma.cm.flags", Hex2, "1: remote invalidation", of<RpcRdmaCm, &RpcRdmaCm::flags>,
     connection},
    {"rpcrdma.cm.send_size", Decimal, "bytes that the sender sends inline",
     of<RpcRdmaCm, &RpcRdmaCm::send_size>, connection},
    {"rpcrdma.cm.recv_size", Decimal, "bytes that it receives inline",
     of<RpcRdmaCm, &RpcRdmaCm::receive_size>, connection},
    {"rpc", Present, "remote procedure call", has_rpc, connection},
    {"rpc.msgtyp", Decimal, "0 call, 1 reply", rpc_message_type, connection},
    {"rpc.program", Decimal, "100003: NFS", rpc<&Rpc::procedure, &RpcProcedure::program>,
     connection},
    {"rpc.programversion", Decimal, "version of the program",
     rpc<&Rpc::procedure, &RpcProcedure::version>, connection},
    {"rpc.procedure", Decimal, "procedure", rpc<&Rpc::procedure, &RpcProcedure::procedure>,
     connection},
    {"rpc.name", Text, "\"NFSv3 READ\", \"NFSv4 COMPOUND\", ...", procedure_name, connection},
    {"rpc.replystat", Decimal, "of a reply: 0 accepted", rpc<&Rpc::reply_state>, connection},
    {"rpc.state_accept", Decimal, "of an accepted reply: 0 success", rpc<&Rpc::accept_state>,
     connection},
    {"nfs", Present, "NFSv4 COMPOUND", has_nfs, connection},
    {"nfs.tag", Text, "the sender's text", tag, connection},
    {"nfs.minorversion", Decimal, "of a call", rpc<&Rpc::compound, &NfsCompound::minor_version>,
     connection},
    {"nfs.status", Decimal, "of a reply", rpc<&Rpc::compound, &NfsCompound::status>,
     named("nfs.nfsstat4")},
    {"nfs.ops_count", Decimal, "operations", rpc<&Rpc::compound, &NfsCompound::count>,
     named("nfs.ops.count")},
    {"nfs.opcode", Decimal, "the first operation", first_operation, connection},
    {"nfs.ops", Text, "the first operations: \"PUTFH GETATTR\"", operations, connection},
    {"iser", Present, "iSER", is<Iser, IserCm>, connection},
    {"iser.flags", Hex2, "opcode and flags", of<Iser, &Iser::flags>, connection},
    {"iser.opcode", Hex2, "1: control-type", of<Iser, &Iser::opcode>, named("iser.flags.opcode")},
    {"iser.wsv", Flag, "write_stag is valid", of<Iser, &Iser::has_write_stag>,
     named("iser.flags.wsv")},
    {"iser.rsv", Flag, "read_stag is valid", of<Iser, &Iser::has_read_stag>,
     named("iser.flags.rsv")},
    {"iser.write_stag", Hex8, "rkey of what the target reads", of<Iser, &Iser::write_stag>,
     connection},
    {"iser.write_base_offset", Hex16, "its address", of<Iser, &Iser::write_offset>, connection},
    {"iser.read_stag", Hex8, "rkey of what the target writes", of<Iser, &Iser::read_stag>,
     connection},
    {"iser.read_base_offset", Hex16, "its address", of<Iser, &Iser::read_offset>, connection},
    {"iser.cm", Present, "private data of the connection manager's message", is<IserCm>,
     connection},
    {"iser.cm.zbva_not_sup", Flag, "no zero-based addresses",
     of<IserCm, &IserCm::no_zero_based_address>, connection},
    {"iser.cm.send_w_inv_not_sup", Flag, "no remote invalidation",
     of<IserCm, &IserCm::no_remote_invalidation>, connection},
    {"iscsi", Present, "iSCSI basic header segment", has_bhs, connection},
    {"iscsi.opcode", Hex2, "opcode", of<Iser, &Iser::bhs, &IscsiBhs::opcode>, connection},
    {"iscsi.name", Text, "\"SCSI Command\", ...", bhs_name<&IscsiBhs::name>, connection},
    {"iscsi.datasegmentlength", Decimal, "bytes of data in the message",
     of<Iser, &Iser::bhs, &IscsiBhs::data_segment_length>, connection},
    {"iscsi.initiatortasktag", Hex8, "task", of<Iser, &Iser::bhs, &IscsiBhs::initiator_task_tag>,
     connection},
    {"iscsi.scsi_opcode", Hex2, "of a SCSI Command", of<Iser, &Iser::bhs, &IscsiBhs::scsi_opcode>,
     connection},
    {"iscsi.scsi_name", Text, "\"READ(10)\", ...", bhs_name<&IscsiBhs::scsi_name>, connection},
});

}  // namespace

std::span<const Field> upper_fields() {
    return upper_table;
}

}  // namespace filter
