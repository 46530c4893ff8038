// NVMe over RDMA.
#include <array>

#include "filter/field_tables.hpp"
#include "filter/upper_getter.hpp"

namespace filter {
namespace {

using upper::NvmeCmReject;
using upper::NvmeCmReply;
using upper::NvmeCmRequest;
using upper::NvmeCommand;
using upper::NvmeConnect;
using upper::NvmeProperty;
using upper::NvmeResponse;
using upper::NvmeSgl;
using enum Kind;

template <auto Member>
Value has_part(const View& view) {
    const auto* command = part<NvmeCommand>(view);
    return command != nullptr && command->*Member ? Value(true) : Value();
}

Value property_name(const View& view) {
    const auto* command = part<NvmeCommand>(view);
    if (command == nullptr || !command->property)
        return {};
    const std::string_view name = command->property->name();
    return name.empty() ? Value(Null()) : Value(name);
}

constexpr auto nvme_table = std::to_array<Field>({
    {"nvme", Present, "NVMe over RDMA",
     is<NvmeCommand, NvmeResponse, NvmeCmRequest, NvmeCmReply, NvmeCmReject>, connection},
    {"nvme.qid", Decimal, "the connection's queue; 0: the admin queue",
     any<&NvmeCommand::queue_id, &NvmeResponse::queue_id>, named("nvme-rdma.cmd.qid")},
    {"nvme.cmd", Present, "command capsule", is<NvmeCommand>, connection},
    {"nvme.cmd.opc", Hex2, "opcode; 0x7f: a Fabrics command", of<&NvmeCommand::opcode>, connection},
    {"nvme.cmd.name", Text, "\"Read\", \"Identify\", \"Connect\", ...", name_of<&NvmeCommand::name>,
     connection},
    {"nvme.cmd.fctype", Hex2, "command type of a Fabrics command", of<&NvmeCommand::fctype>,
     named("nvme.fabrics.cmd.fctype")},
    {"nvme.cmd.fuse_op", Hex2, "fused operation", of<&NvmeCommand::fuse>, connection},
    {"nvme.cmd.psdt", Hex2, "1, 2: data by scatter/gather list", of<&NvmeCommand::psdt>,
     connection},
    {"nvme.cmd.cid", Hex4, "command identifier", of<&NvmeCommand::cid>, connection},
    {"nvme.cmd.nsid", Hex8, "namespace", of<&NvmeCommand::nsid>, connection},
    {"nvme.cmd.sgl1", Present, "location of the data", has_part<&NvmeCommand::sgl1>, connection},
    {"nvme.cmd.sgl1.type", Hex2, "0 data block, 4 keyed data block",
     of<&NvmeCommand::sgl1, &NvmeSgl::type>, named("nvme.cmd.sgl.type")},
    {"nvme.cmd.sgl1.subtype", Hex2, "0 address, 1 offset, 15 invalidate the key",
     of<&NvmeCommand::sgl1, &NvmeSgl::subtype>, named("nvme.cmd.sgl.subtype")},
    {"nvme.cmd.sgl1.addr", Hex16, "address in the host's memory",
     of<&NvmeCommand::sgl1, &NvmeSgl::address>, connection},
    {"nvme.cmd.sgl1.len", Decimal, "bytes", of<&NvmeCommand::sgl1, &NvmeSgl::length>, connection},
    {"nvme.cmd.sgl1.key", Hex8, "rkey", of<&NvmeCommand::sgl1, &NvmeSgl::key>, connection},
    {"nvme.cmd.slba", Hex16, "first logical block", of<&NvmeCommand::slba>, connection},
    {"nvme.cmd.nlb", Decimal, "logical blocks", of<&NvmeCommand::blocks>, connection},
    {"nvme.cmd.connect", Present, "Fabrics Connect", has_part<&NvmeCommand::connect>, connection},
    {"nvme.cmd.connect.recfmt", Decimal, "record format",
     of<&NvmeCommand::connect, &NvmeConnect::record_format>,
     named("nvme.fabrics.cmd.connect.recfmt")},
    {"nvme.cmd.connect.qid", Decimal, "queue", of<&NvmeCommand::connect, &NvmeConnect::queue_id>,
     named("nvme.fabrics.cmd.connect.qid")},
    {"nvme.cmd.connect.sqsize", Decimal, "entries of the submission queue minus one",
     of<&NvmeCommand::connect, &NvmeConnect::sq_size>, named("nvme.fabrics.cmd.connect.sqsize")},
    {"nvme.cmd.connect.cattr", Hex2, "attributes",
     of<&NvmeCommand::connect, &NvmeConnect::attributes>, named("nvme.fabrics.cmd.connect.cattr")},
    {"nvme.cmd.connect.kato", Decimal, "keep alive timeout in ms",
     of<&NvmeCommand::connect, &NvmeConnect::keep_alive_ms>,
     named("nvme.fabrics.cmd.connect.kato")},
    {"nvme.cmd.property", Present, "Fabrics Property Get or Set", has_part<&NvmeCommand::property>,
     connection},
    {"nvme.cmd.property.size", Hex2, "0 four bytes, 1 eight bytes",
     of<&NvmeCommand::property, &NvmeProperty::size_code>,
     named("nvme.fabrics.cmd.prop_get_set.attrib.size")},
    {"nvme.cmd.property.offset", Hex8, "offset", of<&NvmeCommand::property, &NvmeProperty::offset>,
     named("nvme.fabrics.cmd.prop_get_set.offset")},
    {"nvme.cmd.property.name", Text, "CAP, VS, CC, CSTS, NSSR", property_name, connection},
    {"nvme.cqe", Present, "response capsule", is<NvmeResponse>, connection},
    {"nvme.cqe.sqhd", Hex4, "head of the submission queue", of<&NvmeResponse::sq_head>, connection},
    {"nvme.cqe.sqid", Hex4, "submission queue", of<&NvmeResponse::sq_id>, connection},
    {"nvme.cqe.cid", Hex4, "of the command", of<&NvmeResponse::cid>, connection},
    {"nvme.cqe.status", Hex4, "status field", of<&NvmeResponse::status>, connection},
    {"nvme.cqe.sc", Hex4, "status code", of<&NvmeResponse::status_code>,
     named("nvme.cqe.status.sc")},
    {"nvme.cqe.sct", Hex4, "status code type", of<&NvmeResponse::status_code_type>,
     named("nvme.cqe.status.sct")},
    {"nvme.cqe.dnr", Flag, "do not retry", of<&NvmeResponse::do_not_retry>,
     named("nvme.cqe.status.dnr")},
    {"nvme.cqe.status_name", Text, "\"Invalid Field in Command\", ...",
     name_of<&NvmeResponse::status_name>, connection},
    {"nvme.cm", Present, "private data of the connection manager's message",
     is<NvmeCmRequest, NvmeCmReply, NvmeCmReject>, connection},
    {"nvme.cm.recfmt", Decimal, "record format",
     any<&NvmeCmRequest::record_format, &NvmeCmReply::record_format, &NvmeCmReject::record_format>,
     connection},
    {"nvme.cm.qid", Decimal, "queue; 0: the admin queue", of<&NvmeCmRequest::queue_id>,
     named("nvme-rdma.cm.req.qid")},
    {"nvme.cm.hrqsize", Decimal, "entries of the host's receive queue",
     of<&NvmeCmRequest::host_receive_size>, named("nvme-rdma.cm.req.hrqsize")},
    {"nvme.cm.hsqsize", Decimal, "entries of the host's send queue minus one",
     of<&NvmeCmRequest::host_send_size>, named("nvme-rdma.cm.req.hsqsize")},
    {"nvme.cm.cntlid", Hex4, "controller", of<&NvmeCmRequest::controller_id>,
     named("nvme-rdma.cm.req.cntlid")},
    {"nvme.cm.crqsize", Decimal, "entries of the controller's receive queue",
     of<&NvmeCmReply::controller_receive_size>, named("nvme-rdma.cm.rsp.crqsize")},
    {"nvme.cm.status", Hex4, "reason of the rejection", of<&NvmeCmReject::status>,
     named("nvme-rdma.cm.rej.status")},
    {"nvme.cm.status_name", Text, "\"Invalid HSQSIZE\", ...", name_of<&NvmeCmReject::status_name>,
     connection},
});

}  // namespace

std::span<const Field> nvme_fields() {
    return nvme_table;
}

}  // namespace filter
