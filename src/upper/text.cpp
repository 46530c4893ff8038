#include <algorithm>
#include <string>
#include <variant>

#include "upper/message.hpp"
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
            out_.hex("NVMe opcode 0x", command.opcode, 2);
        out_.hex(" cid 0x", command.cid, 4);
        if (command.connect)
            connect(*command.connect);
        if (command.property)
            property(*command.property);
        if (command.nsid)
            out_.decimal(" nsid ", *command.nsid);
        if (command.slba)
            out_.decimal(" lba ", *command.slba);
        if (command.blocks)
            out_.decimal(" blocks ", *command.blocks);
        if (command.sgl1 && command.sgl1->length != 0)
            sgl(*command.sgl1);
    }

    void operator()(const NvmeResponse& response) {
        out_.hex("NVMe response cid 0x", response.cid, 4);
        out_.decimal(" sq head ", response.sq_head);
        if (response.status_code() == 0 && response.status_code_type() == 0)
            return out_.append(" success");
        out_.hex(" status type 0x", response.status_code_type(), 1);
        out_.hex(" code 0x", response.status_code(), 2);
        named(response.status_name());
    }

    void operator()(const NvmeCmRequest& request) {
        out_.decimal("NVMe queue ", request.queue_id);
        out_.decimal(" host receive queue ", request.host_receive_size);
        out_.decimal(" send queue ", request.host_send_size);
    }
    void operator()(const NvmeCmReply& reply) {
        out_.decimal("NVMe controller receive queue ", reply.controller_receive_size);
    }
    void operator()(const NvmeCmReject& reject) {
        out_.decimal("NVMe reject status ", reject.status);
        named(reject.status_name());
    }

    void operator()(const RpcRdma& header) {
        const std::string_view type = header.type_name();
        if (header.type == RpcRdmaType::Message && header.rpc) {
            rpc(*header.rpc);
        } else {
            out_.append(type.empty() ? "RPC-over-RDMA" : type);
        }
        out_.hex(" xid 0x", header.xid, 8);
        out_.decimal(" credits ", header.credits);
        if (header.error_code)
            out_.decimal(" error ", *header.error_code);
        if (header.version != 1)
            out_.decimal(" version ", header.version);
        for (std::size_t i = 0;
             i < std::min<std::size_t>(header.segment_count, header.shown_segments); ++i)
            segment(header.segments[i]);
        if (header.segment_count > header.shown_segments)
            out_.decimal(" of segments ", header.segment_count);
        if (header.is_cut)
            out_.append(" cut in the chunk lists");
    }
    void operator()(const RpcRdmaCm& cm) {
        out_.decimal("RPC-over-RDMA inline send ", cm.send_size);
        out_.decimal(" receive ", cm.receive_size);
        if ((cm.flags & 1U) != 0)
            out_.append(" remote invalidation");
    }

    void operator()(const Iser& iser) {
        out_.append("iSER");
        if (iser.bhs)
            bhs(*iser.bhs);
        else
            out_.hex(" opcode 0x", iser.opcode(), 1);
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
    void named(std::string_view name) {
        if (name.empty())
            return;
        out_.append(" (");
        out_.append(name);
        out_.append(')');
    }
    void connect(const NvmeConnect& connect) {
        out_.decimal(" queue ", connect.queue_id);
        out_.decimal(" sq size ", connect.sq_size);
        out_.decimal(" keep alive ", connect.keep_alive_ms);
        out_.append(" ms");
    }
    void property(const NvmeProperty& property) {
        out_.hex(" offset 0x", property.offset, 2);
        named(property.name());
    }
    void rpc(const Rpc& rpc) {
        if (!rpc.procedure) {
            out_.append("RPC");
        } else if (const auto name = rpc.procedure->name(); !name.empty()) {
            out_.append(name);
        } else {
            out_.decimal("RPC program ", rpc.procedure->program);
            out_.decimal(" version ", rpc.procedure->version);
            out_.decimal(" procedure ", rpc.procedure->procedure);
        }
        out_.append(rpc.is_reply ? " reply" : " call");
        if (rpc.compound)
            operations(*rpc.compound);
        if (rpc.reply_state && *rpc.reply_state != 0)
            out_.append(" denied");
        if (rpc.accept_state && *rpc.accept_state != 0)
            out_.decimal(" accept state ", *rpc.accept_state);
        if (rpc.compound && rpc.compound->status && *rpc.compound->status != 0)
            out_.decimal(" status ", *rpc.compound->status);
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
        out_.decimal(" ", segment.length);
        out_.hex(" va 0x", segment.offset, 16);
        out_.hex(" rkey 0x", segment.handle, 8);
    }
    void bhs(const IscsiBhs& bhs) {
        if (const auto name = bhs.name(); !name.empty()) {
            out_.append(' ');
            out_.append(name);
        } else {
            out_.hex(" iSCSI opcode 0x", bhs.opcode, 2);
        }
        if (bhs.scsi_opcode) {
            out_.hex(" 0x", *bhs.scsi_opcode, 2);
            named(bhs.scsi_name());
        }
        out_.hex(" itt 0x", bhs.initiator_task_tag, 8);
        if (bhs.data_segment_length != 0)
            out_.decimal(" data ", bhs.data_segment_length);
    }
    void stag(std::string_view label, std::uint32_t stag, std::uint64_t va) {
        out_.append(label);
        out_.hex(" va 0x", va, 16);
        out_.hex(" rkey 0x", stag, 8);
    }
    void sgl(const NvmeSgl& sgl) {
        out_.decimal(" data ", sgl.length);
        if (!sgl.key)
            return out_.append(" in capsule");
        out_.hex(" va 0x", sgl.address, 16);
        out_.hex(" rkey 0x", *sgl.key, 8);
    }

    util::Composer out_;
};

}  // namespace

void append_text(std::string& out, const Message& message) {
    std::visit(Text(out), message.body);
}

}  // namespace upper
