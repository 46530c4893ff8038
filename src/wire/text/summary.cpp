#include "wire/text/summary.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "wire/icrc_hint.hpp"
#include "wire/text/other.hpp"

namespace wire {
namespace {

constexpr std::size_t name_width = 28;

void add_address(util::Composer& out, std::uint64_t va) {
    std::size_t digits = 1;
    while (digits < 16 && va >> (4 * digits) != 0)
        ++digits;
    out.hex(" va 0x", va, digits);
}

util::TextRole role_of(const Packet& packet) {
    if (packet.aeth && packet.aeth->kind() == AethKind::Nak)
        return util::TextRole::Bad;
    if (packet.aeth && packet.aeth->kind() == AethKind::RnrNak)
        return util::TextRole::Notice;
    if (packet.mad)
        return util::TextRole::Connection;
    if (packet.opcode == nullptr)
        return util::TextRole::Plain;
    if (packet.opcode->operation == Operation::Cnp)
        return util::TextRole::Notice;
    return packet.opcode->is_response() ? util::TextRole::Response : util::TextRole::Request;
}

void add_name(util::Composer& out, const Packet& packet) {
    if (packet.cm && !packet.cm->name().empty()) {
        out.append("CM ");
        out.append(packet.cm->name());
    } else if (packet.mad) {
        const std::string name = packet.mad->text();
        out.append(name);
        if (name.empty())
            out.hex("MAD class 0x", packet.mad->mgmt_class, 2);
    } else if (packet.opcode != nullptr) {
        out.append(packet.opcode->name);
    } else {
        out.append(packet.dceth                                 ? "DC"
                   : is_manufacturer_opcode(packet.bth->opcode) ? "manufacturer's"
                                                                : "reserved");
        out.hex(" opcode 0x", packet.bth->opcode, 2);
    }
}

void add_bth(util::Composer& out, const Bth& bth) {
    out.hex(" psn 0x", bth.psn.value(), 6);
    out.hex(" qp 0x", bth.dest_qpn, 6);
    if (bth.a)
        out.append(" ack-req");
    if (bth.se)
        out.append(" solicited");
    if (bth.fecn)
        out.append(" fecn");
    if (bth.becn)
        out.append(" becn");
}

void add_atomic(util::Composer& out, const AtomicEth& atomic, const OpcodeInfo* opcode) {
    add_address(out, atomic.va);
    out.hex(" rkey 0x", atomic.rkey, 8);
    if (opcode != nullptr && opcode->operation == Operation::FetchAdd)
        return out.decimal(" add ", atomic.swapdt);
    out.decimal(" compare ", atomic.cmpdt);
    out.decimal(" swap ", atomic.swapdt);
}

// An ACK without end-to-end flow control (credit code 31, the only one that Soft-RoCE sends) has no
// credits.
void add_aeth(util::Composer& out, const Aeth& aeth) {
    switch (aeth.kind()) {
        case AethKind::Ack:
            out.append(" ACK");
            if (const auto credits = aeth.credits())
                out.decimal(" credits ", *credits);
            break;
        case AethKind::RnrNak:
            out.append(fmt::format(" RNR NAK {} ms", aeth.rnr_timer_ms().value_or(0)));
            break;
        case AethKind::Nak: {
            const std::string_view name = aeth.nak_name().value_or("reserved");
            out.append(" NAK ");
            for (const char c : name)
                out.append(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
            break;
        }
        case AethKind::Reserved:
            out.hex(" reserved syndrome 0x", aeth.syndrome, 2);
            break;
    }
    out.decimal(" msn ", aeth.msn);
}

void add_extensions(util::Composer& out, const Packet& packet) {
    if (packet.rdeth)
        out.hex(" eecnxt 0x", packet.rdeth->eecnxt, 6);
    if (packet.deth) {
        out.hex(" q_key 0x", packet.deth->q_key, 8);
        out.hex(" src-qp 0x", packet.deth->src_qpn, 6);
    }
    if (packet.xrceth)
        out.hex(" srq 0x", packet.xrceth->xrcsrq, 6);
    if (packet.feth) {
        out.append(" flush ");
        out.append(packet.feth->sel_name());
        out.hex(" plt 0x", packet.feth->plt, 1);
    }
    if (packet.reth) {
        add_address(out, packet.reth->va);
        out.hex(" rkey 0x", packet.reth->rkey, 8);
        out.decimal(" len ", packet.reth->dmalen);
    }
    if (packet.atomic_eth)
        add_atomic(out, *packet.atomic_eth, packet.opcode);
    if (packet.aeth)
        add_aeth(out, *packet.aeth);
    if (packet.atomic_ack_eth)
        out.decimal(" original ", packet.atomic_ack_eth->origremdt);
    if (packet.immdt)
        out.hex(" imm 0x", packet.immdt->value, 8);
    if (packet.ieth)
        out.hex(" invalidate rkey 0x", packet.ieth->rkey, 8);
}

// The first packet of a message has its length in the RETH; the others show their payload length.
void add_payload(util::Composer& out, const Packet& packet) {
    const bool said = packet.reth && packet.reth->dmalen == packet.payload_length;
    if (packet.icrc && packet.payload_length != 0 && !said)
        out.decimal(" payload ", packet.payload_length);
}

// The hop of a subnet management packet on its directed route.
void add_route(util::Composer& out, const Packet& packet) {
    out.decimal(" hop ", packet.mad->hop_pointer());
    out.decimal(" of ", packet.mad->hop_count());
    if (packet.mad->is_returning())
        out.append(" returning");
}

void add_details(util::Composer& out, const Packet& packet) {
    if (packet.cm) {
        out.append(' ');
        out.append(cm_details(*packet.cm));
        return;
    }
    add_bth(out, *packet.bth);
    add_extensions(out, packet);
    if (!packet.mad)
        return add_payload(out, packet);
    if (packet.mad->is_directed())
        add_route(out, packet);
    if (!packet.mad->class_label().empty())
        return;
    out.append(' ');
    out.append(packet.mad->method_name());
    out.hex(" attribute 0x", packet.mad->attribute_id, 4);
}

std::string bad_vcrc(const Vcrc& vcrc) {
    return fmt::format("VCRC 0x{:04x} is wrong: 0x{:04x} expected", vcrc.value,
                       vcrc.computed.value_or(0));
}

std::string bad_icrc(const Packet& packet) {
    std::string text =
        fmt::format("ICRC 0x{:08x} is wrong: 0x{:08x} expected", packet.icrc->value.value_or(0),
                    packet.icrc->computed.value_or(0));
    if (packet.icrc->hint != nullptr)
        text += ", " + packet.icrc->hint->text();
    return text;
}

// Separates its parts by spaces.
class Summary {
  public:
    Summary(util::Composer& out, const util::TextStyle& style) : out_(out), style_(style) {}

    void add(util::TextRole role, std::string_view text) {
        separate();
        out_.append(style_.before(role));
        out_.append(text);
        out_.append(style_.after(role));
    }

    // Name and header fields.
    void add_headers(const Packet& packet) {
        separate();
        const util::TextRole role = role_of(packet);
        out_.append(style_.before(role));
        const std::size_t begin = out_.size();
        add_name(out_, packet);
        out_.append(name_width - std::min(name_width, out_.size() - begin), ' ');
        out_.append(style_.after(role));
        add_details(out_, packet);
    }

    void add_problems(const Packet& packet) {
        if (packet.icrc && packet.icrc->status == IcrcStatus::Bad)
            add(util::TextRole::Bad, bad_icrc(packet));
        if (packet.vcrc && packet.vcrc->status() == IcrcStatus::Bad)
            add(util::TextRole::Bad, bad_vcrc(*packet.vcrc));
        // If only payload or ICRC were cut off, all headers are present and the line is complete,
        // except for a management datagram, whose message is its payload.
        const bool is_told = packet.icrc && (!packet.mad || packet.cm);
        if (packet.truncated && !is_told)
            add(util::TextRole::Notice, packet.truncated->text());
        if (packet.malformed)
            add(util::TextRole::Bad, "malformed: " + packet.malformed->text());
    }

  private:
    void separate() {
        if (std::exchange(has_text_, true))
            out_.append(' ');
    }

    util::Composer& out_;
    const util::TextStyle& style_;
    bool has_text_ = false;
};

}  // namespace

void add_summary(util::Composer& out, const Packet& packet, const util::TextStyle& style,
                 util::Bytes frame) {
    Summary summary(out, style);
    if (!packet.bth && packet.not_roce)
        return summary.add(util::TextRole::Dim, other_summary(packet, frame));
    if (packet.bth)
        summary.add_headers(packet);
    summary.add_problems(packet);
    if (packet.outer)
        summary.add(util::TextRole::Dim, "[" + packet.outer->text() + "]");
}

std::string packet_summary(const Packet& packet, const util::TextStyle& style, util::Bytes frame) {
    std::string text;
    {
        util::Composer out(text);
        add_summary(out, packet, style, frame);
    }
    return text;
}

}  // namespace wire
