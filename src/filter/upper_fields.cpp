// RPC over RDMA with NFS, iSER, and why a message above RDMA is not decoded.
#include <array>

#include "filter/field_tables.hpp"
#include "filter/upper_getter.hpp"

namespace filter {
namespace {

using upper::IscsiBhs;
using upper::Iser;
using upper::IserCm;
using upper::NfsCompound;
using upper::Rpc;
using upper::RpcProcedure;
using upper::RpcRdma;
using upper::RpcRdmaCm;
using upper::RpcSegment;
using enum Kind;

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
template <std::size_t I, auto... Members>
Value of_segment(const View& view) {
    const RpcSegment* chunk = segment<I>(view);
    return chunk != nullptr ? follow(*chunk, Members...) : Value();
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

// Element of a JSON array.
constexpr FieldExtra element{.needs_connection = true, .json = "segments[]"};

constexpr auto problem_table = std::to_array<Field>({
    {"upper_problem", Text, "why the message above RDMA is not decoded", problem, connection},
});

constexpr auto upper_table = std::to_array<Field>({
    {"rpcrdma", Present, "RPC over RDMA", is<RpcRdma, RpcRdmaCm>, connection},
    {"rpcrdma.xid", Hex8, "transaction ID", of<&RpcRdma::xid>, named("rpcordma.xid")},
    {"rpcrdma.version", Decimal, "1", of<&RpcRdma::version>, named("rpcordma.version")},
    {"rpcrdma.credits", Decimal, "credits requested or granted", of<&RpcRdma::credits>,
     named("rpcordma.flow_control")},
    {"rpcrdma.type", Decimal, "0 RDMA_MSG, 1 RDMA_NOMSG, 4 RDMA_ERROR", type_of_rpc_rdma,
     named("rpcordma.msg_type")},
    {"rpcrdma.reads", Decimal, "read chunks", of<&RpcRdma::reads>, named("rpcordma.reads_count")},
    {"rpcrdma.writes", Decimal, "write chunks", of<&RpcRdma::writes>,
     named("rpcordma.writes_count")},
    {"rpcrdma.replies", Decimal, "reply chunks: 0 or 1", of<&RpcRdma::replies>,
     named("rpcordma.reply_count")},
    {"rpcrdma.segment", Present, "segment of a chunk", of_segment<0>, element},
    {"rpcrdma.segment.list", Text, "read, write or reply", of_segment<0, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment.position", Decimal, "of a read segment: position in the XDR stream",
     of_segment<0, &RpcSegment::position>, named("rpcordma.position")},
    {"rpcrdma.segment.handle", Hex8, "rkey", of_segment<0, &RpcSegment::handle>,
     named("rpcordma.rdma_handle")},
    {"rpcrdma.segment.length", Decimal, "bytes", of_segment<0, &RpcSegment::length>,
     named("rpcordma.rdma_length")},
    {"rpcrdma.segment.offset", Hex16, "address", of_segment<0, &RpcSegment::offset>,
     named("rpcordma.rdma_offset")},
    {"rpcrdma.segment2", Present, "segment of a chunk", of_segment<1>, element},
    {"rpcrdma.segment2.list", Text, "read, write or reply", of_segment<1, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment2.position", Decimal, "of a read segment: position in the XDR stream",
     of_segment<1, &RpcSegment::position>, connection},
    {"rpcrdma.segment2.handle", Hex8, "rkey", of_segment<1, &RpcSegment::handle>, connection},
    {"rpcrdma.segment2.length", Decimal, "bytes", of_segment<1, &RpcSegment::length>, connection},
    {"rpcrdma.segment2.offset", Hex16, "address", of_segment<1, &RpcSegment::offset>, connection},
    {"rpcrdma.segment3", Present, "segment of a chunk", of_segment<2>, element},
    {"rpcrdma.segment3.list", Text, "read, write or reply", of_segment<2, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment3.position", Decimal, "of a read segment: position in the XDR stream",
     of_segment<2, &RpcSegment::position>, connection},
    {"rpcrdma.segment3.handle", Hex8, "rkey", of_segment<2, &RpcSegment::handle>, connection},
    {"rpcrdma.segment3.length", Decimal, "bytes", of_segment<2, &RpcSegment::length>, connection},
    {"rpcrdma.segment3.offset", Hex16, "address", of_segment<2, &RpcSegment::offset>, connection},
    {"rpcrdma.segment4", Present, "segment of a chunk", of_segment<3>, element},
    {"rpcrdma.segment4.list", Text, "read, write or reply", of_segment<3, &RpcSegment::list_name>,
     connection},
    {"rpcrdma.segment4.position", Decimal, "of a read segment: position in the XDR stream",
     of_segment<3, &RpcSegment::position>, connection},
    {"rpcrdma.segment4.handle", Hex8, "rkey", of_segment<3, &RpcSegment::handle>, connection},
    {"rpcrdma.segment4.length", Decimal, "bytes", of_segment<3, &RpcSegment::length>, connection},
    {"rpcrdma.segment4.offset", Hex16, "address", of_segment<3, &RpcSegment::offset>, connection},
    {"rpcrdma.errcode", Decimal, "of RDMA_ERROR: 1 version, 2 chunk", of<&RpcRdma::error_code>,
     named("rpcordma.errcode")},
    {"rpcrdma.cm", Present, "private data of the connection manager's message", is<RpcRdmaCm>,
     connection},
    {"rpcrdma.cm.version", Decimal, "1", of<&RpcRdmaCm::version>, connection},
    {"rpcrdma.cm.flags", Hex2, "1: remote invalidation", of<&RpcRdmaCm::flags>, connection},
    {"rpcrdma.cm.send_size", Decimal, "bytes that the sender sends inline",
     of<&RpcRdmaCm::send_size>, connection},
    {"rpcrdma.cm.recv_size", Decimal, "bytes that the sender receives inline",
     of<&RpcRdmaCm::receive_size>, connection},
    {"rpc", Present, "remote procedure call", rpc<>, connection},
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
    {"iser.flags", Hex2, "opcode and flags", of<&Iser::flags>, connection},
    {"iser.opcode", Hex2, "1: control-type", of<&Iser::opcode>, named("iser.flags.opcode")},
    {"iser.wsv", Flag, "write_stag is valid", of<&Iser::has_write_stag>, named("iser.flags.wsv")},
    {"iser.rsv", Flag, "read_stag is valid", of<&Iser::has_read_stag>, named("iser.flags.rsv")},
    {"iser.write_stag", Hex8, "rkey of the memory that the target reads", of<&Iser::write_stag>,
     connection},
    {"iser.write_base_offset", Hex16, "its address", of<&Iser::write_offset>, connection},
    {"iser.read_stag", Hex8, "rkey of the memory that the target writes", of<&Iser::read_stag>,
     connection},
    {"iser.read_base_offset", Hex16, "its address", of<&Iser::read_offset>, connection},
    {"iser.cm", Present, "private data of the connection manager's message", is<IserCm>,
     connection},
    {"iser.cm.zbva_not_sup", Flag, "no zero-based addresses", of<&IserCm::no_zero_based_address>,
     connection},
    {"iser.cm.send_w_inv_not_sup", Flag, "no remote invalidation",
     of<&IserCm::no_remote_invalidation>, connection},
    {"iscsi", Present, "iSCSI basic header segment", has_bhs, connection},
    {"iscsi.opcode", Hex2, "opcode", of<&Iser::bhs, &IscsiBhs::opcode>, connection},
    {"iscsi.name", Text, "\"SCSI Command\", ...", bhs_name<&IscsiBhs::name>, connection},
    {"iscsi.datasegmentlength", Decimal, "bytes of data in the message",
     of<&Iser::bhs, &IscsiBhs::data_segment_length>, connection},
    {"iscsi.initiatortasktag", Hex8, "task", of<&Iser::bhs, &IscsiBhs::initiator_task_tag>,
     connection},
    {"iscsi.scsi_opcode", Hex2, "of a SCSI Command", of<&Iser::bhs, &IscsiBhs::scsi_opcode>,
     connection},
    {"iscsi.scsi_name", Text, "\"READ(10)\", ...", bhs_name<&IscsiBhs::scsi_name>, connection},
});

}  // namespace

std::span<const Field> upper_problem_fields() {
    return problem_table;
}

std::span<const Field> upper_fields() {
    return upper_table;
}

}  // namespace filter
