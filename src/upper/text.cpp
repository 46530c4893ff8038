#include <algorithm>
#include <string>
#include <variant>

#include "upper/message.hpp"
#include "util/append.hpp"
#include "util/composer.hpp"

namespace upper {
namespace {

class Text {
  public:
    explicit Text(std::string& out) : out_(out) {}

    void operator()(std::monostate) {}
    void operator()(const Problem& problem) { out_.append(problem.text()); }

    void operator()(const NvmeCommand& command) {
        if (const auto name = command.name(); !name.empty())
            out_.append("NVMe "), out_.append(name);
        else
            hex("NVMe opcode 0x", command.opcode, 2);
        hex(" cid 0x", command.cid, 4);
        if (command.connect)
            connect(*command.connect);
        if (command.property)
            property(*command.property);
        if (command.nsid)
            number(" nsid ", *command.nsid);
        if (command.slba)
            number(" lba ", *command.slba);
        if (command.blocks)
            number(" blocks ", *command.blocks);
        if (command.sgl1 && command.sgl1->length != 0)
            sgl(*command.sgl1);
    }

    void operator()(const NvmeResponse& response) {
        hex("NVMe response cid 0x", response.cid, 4);
        number(" sq head ", response.sq_head);
        if (response.status_code() == 0 && response.status_code_type() == 0)
            return out_.append(" success");
        hex(" status type 0x", response.status_code_type(), 1);
        hex(" code 0x", response.status_code(), 2);
        named(response.status_name());
    }

    void operator()(const NvmeCmRequest& request) {
        number("NVMe queue ", request.queue_id);
        number(" host receive queue ", request.host_receive_size);
        number(" send queue ", request.host_send_size);
    }
    void operator()(const NvmeCmReply& reply) {
        number("NVMe controller receive queue ", reply.controller_receive_size);
    }
    void operator()(const NvmeCmReject& reject) {
        number("NVMe reject status ", reject.status);
        named(reject.status_name());
    }

    void operator()(const RpcRdma& header) {
        const std::string_view type = header.type_name();
        if (header.type == RpcRdmaType::Message && header.rpc) {
            rpc(*header.rpc);
        } else {
            out_.append(type.empty() ? "RPC-over-RDMA" : type);
        }
        hex(" xid 0x", header.xid, 8);
        number(" credits ", header.credits);
        if (header.error_code)
            number(" error ", *header.error_code);
        if (header.version != 1)
            number(" version ", header.version);
        for (std::size_t i = 0;
             i < std::min<std::size_t>(header.segment_count, header.shown_segments); ++i)
            segment(header.segments[i]);
        if (header.segment_count > header.shown_segments)
            number(" of segments ", header.segment_count);
        if (header.is_cut)
            out_.append(" cut in the chunk lists");
    }
    void operator()(const RpcRdmaCm& cm) {
        number("RPC-over-RDMA inline send ", cm.send_size);
        number(" receive ", cm.receive_size);
        if ((cm.flags & 1U) != 0)
            out_.append(" remote invalidation");
    }

    void operator()(const Iser& iser) {
        out_.append("iSER");
        if (iser.bhs)
            bhs(*iser.bhs);
        else
            hex(" opcode 0x", iser.opcode(), 1);
        if (iser.has_write_stag())
            stag(" target reads", iser.write_stag, iser.write_offset);
        if (iser.has_read_stag())
            stag(" target writes", iser.read_stag, iser.read_offset);
    }
    void operator()(const IserCm& cm) {
        out_.append(cm.no_zero_based_address() ? "iSER without zero-based addresses"
                                               : "iSER with zero-based addresses");
        out_.append(cm.no_remote_invalidation() ? ", no remote invalidation"
                                                : ", remote invalidation");
    }

  private:
    // `label` ends where the number begins: " cid 0x".
    void hex(std::string_view label, std::uint64_t value, std::size_t digits) {
        out_.append(label);
        out_.end_at(util::put_hex(out_.room(digits), value, digits));
    }
    void number(std::string_view label, std::uint64_t value) {
        out_.append(label);
        out_.end_at(util::put_decimal(out_.room(util::longest_decimal), value));
    }
    void named(std::string_view name) {
        if (name.empty())
            return;
        out_.append(" (");
        out_.append(name);
        out_.append(')');
    }
    void connect(const NvmeConnect& connect) {
        number(" queue ", connect.queue_id);
        number(" sq size ", connect.sq_size);
        number(" keep alive ", connect.keep_alive_ms);
        out_.append(" ms");
    }
    void property(const NvmeProperty& property) {
        hex(" offset 0x", property.offset, 2);
        named(property.name());
    }
    void rpc(const Rpc& rpc) {
        if (!rpc.procedure) {
            out_.append("RPC");
        } else if (const auto name = rpc.procedure->name(); !name.empty()) {
            out_.append(name);
        } else {
            number("RPC program ", rpc.procedure->program);
            number(" version ", rpc.procedure->version);
            number(" procedure ", rpc.procedure->procedure);
        }
        out_.append(rpc.is_reply ? " reply" : " call");
        if (rpc.compound)
            operations(*rpc.compound);
        if (rpc.reply_state && *rpc.reply_state != 0)
            out_.append(" denied");
        if (rpc.accept_state && *rpc.accept_state != 0)
            number(" accept state ", *rpc.accept_state);
        if (rpc.compound && rpc.compound->status && *rpc.compound->status != 0)
            number(" status ", *rpc.compound->status);
    }
    void operations(const NfsCompound& compound) {
        for (std::size_t i = 0; i < compound.known; ++i) {
            out_.append(' ');
            out_.append(compound.operation_name(i));
        }
        if (compound.known < compound.count)
            out_.append(" ...");
    }
    void segment(const RpcSegment& segment) {
        out_.append(' ');
        out_.append(segment.list_name());
        number(" ", segment.length);
        hex(" va 0x", segment.offset, 16);
        hex(" rkey 0x", segment.handle, 8);
    }
    void bhs(const IscsiBhs& bhs) {
        if (const auto name = bhs.name(); !name.empty()) {
            out_.append(' ');
            out_.append(name);
        } else {
            hex(" iSCSI opcode 0x", bhs.opcode, 2);
        }
        if (bhs.scsi_opcode) {
            hex(" 0x", *bhs.scsi_opcode, 2);
            named(bhs.scsi_name());
        }
        hex(" itt 0x", bhs.initiator_task_tag, 8);
        if (bhs.data_segment_length != 0)
            number(" data ", bhs.data_segment_length);
    }
    void stag(std::string_view label, std::uint32_t stag, std::uint64_t va) {
        out_.append(label);
        hex(" va 0x", va, 16);
        hex(" rkey 0x", stag, 8);
    }
    void sgl(const NvmeSgl& sgl) {
        number(" data ", sgl.length);
        if (!sgl.key)
            return out_.append(" in capsule");
        hex(" va 0x", sgl.address, 16);
        hex(" rkey 0x", *sgl.key, 8);
    }

    util::Composer out_;
};

}  // namespace

void append_text(std::string& out, const Message& message) {
    std::visit(Text(out), message.body);
}

}  // namespace upper
