#include "report/summary.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "report/other.hpp"

namespace report {
namespace {

constexpr std::size_t name_width = 28;

// Words with a space before each; the line begins with the padded name.
class Words {
  public:
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        text_.push_back(' ');
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

Role role_of(const wire::Packet& packet) {
    if (packet.aeth && packet.aeth->kind() == wire::AethKind::Nak)
        return Role::Bad;
    if (packet.aeth && packet.aeth->kind() == wire::AethKind::RnrNak)
        return Role::Notice;
    if (packet.mad)
        return Role::Connection;
    if (packet.opcode == nullptr)
        return Role::Plain;
    if (packet.opcode->operation == wire::Operation::Cnp)
        return Role::Notice;
    return packet.opcode->is_response() ? Role::Response : Role::Request;
}

std::string name_of(const wire::Packet& packet) {
    if (packet.cm && !packet.cm->name().empty())
        return fmt::format("CM {}", packet.cm->name());
    if (packet.mad)
        return fmt::format("MAD class 0x{:02x}", packet.mad->mgmt_class);
    if (packet.opcode != nullptr)
        return std::string(packet.opcode->name);
    return fmt::format(
        "{} opcode 0x{:02x}",
        wire::is_manufacturer_opcode(packet.bth->opcode) ? "manufacturer's" : "reserved",
        packet.bth->opcode);
}

void add_bth(Words& words, const wire::Bth& bth) {
    words.add("psn 0x{:06x} qp 0x{:06x}", bth.psn, bth.dest_qpn);
    if (bth.a)
        words.add("ack-req");
    if (bth.se)
        words.add("solicited");
    if (bth.fecn)
        words.add("fecn");
    if (bth.becn)
        words.add("becn");
}

void add_atomic(Words& words, const wire::AtomicEth& atomic, const wire::OpcodeInfo* opcode) {
    words.add("va 0x{:x} rkey 0x{:08x}", atomic.va, atomic.rkey);
    if (opcode != nullptr && opcode->operation == wire::Operation::FetchAdd)
        words.add("add {}", atomic.swapdt);
    else
        words.add("compare {} swap {}", atomic.cmpdt, atomic.swapdt);
}

void add_extensions(Words& words, const wire::Packet& packet) {
    if (packet.rdeth)
        words.add("eecnxt 0x{:06x}", packet.rdeth->eecnxt);
    if (packet.deth)
        words.add("q_key 0x{:08x} src-qp 0x{:06x}", packet.deth->q_key, packet.deth->src_qpn);
    if (packet.xrceth)
        words.add("srq 0x{:06x}", packet.xrceth->xrcsrq);
    if (packet.feth)
        words.add("flush {} plt 0x{:x}", packet.feth->sel_name(), packet.feth->plt);
    if (packet.reth)
        words.add("va 0x{:x} rkey 0x{:08x} len {}", packet.reth->va, packet.reth->rkey,
                  packet.reth->dmalen);
    if (packet.atomic_eth)
        add_atomic(words, *packet.atomic_eth, packet.opcode);
    if (packet.aeth)
        words.add("{}", aeth_text(*packet.aeth));
    if (packet.atomic_ack_eth)
        words.add("original {}", packet.atomic_ack_eth->origremdt);
    if (packet.immdt)
        words.add("imm 0x{:08x}", packet.immdt->value);
    if (packet.ieth)
        words.add("invalidate rkey 0x{:08x}", packet.ieth->rkey);
}

// A message's first packet has its length in the RETH; the others say how much they carry.
void add_payload(Words& words, const wire::Packet& packet) {
    const bool said = packet.reth && packet.reth->dmalen == packet.payload_length;
    if (packet.icrc && packet.payload_length != 0 && !said)
        words.add("payload {}", packet.payload_length);
}

std::string problems(const wire::Packet& packet, const Style& style) {
    std::string text;
    if (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad)
        text += ' ' + style(Role::Bad, fmt::format("ICRC 0x{:08x} is wrong: 0x{:08x} expected",
                                                   packet.icrc->value.value_or(0),
                                                   packet.icrc->computed.value_or(0)));
    // Where only payload or ICRC were cut off, every header is here and there is nothing to say;
    // but a management datagram's payload is what it has to say.
    const bool is_told = packet.icrc && (!packet.mad || packet.cm);
    if (packet.truncated && !is_told)
        text += ' ' + style(Role::Notice, packet.truncated->text());
    if (packet.malformed)
        text += ' ' + style(Role::Bad, "malformed: " + packet.malformed->text());
    return text;
}

}  // namespace

std::string aeth_text(const wire::Aeth& aeth) {
    switch (aeth.kind()) {
        case wire::AethKind::Ack:
            return aeth.credits() ? fmt::format("ACK credits {} msn {}", *aeth.credits(), aeth.msn)
                                  : fmt::format("ACK msn {}", aeth.msn);
        case wire::AethKind::RnrNak:
            return fmt::format("RNR NAK {} ms msn {}", aeth.rnr_timer_ms().value_or(0), aeth.msn);
        case wire::AethKind::Nak: {
            std::string name(aeth.nak_name().value_or("reserved"));
            std::ranges::transform(name, name.begin(), [](unsigned char c) {
                return static_cast<char>(std::tolower(c));
            });
            return fmt::format("NAK {} msn {}", name, aeth.msn);
        }
        case wire::AethKind::Reserved:
            break;
    }
    return fmt::format("reserved syndrome 0x{:02x} msn {}", aeth.syndrome, aeth.msn);
}

std::string packet_summary(const wire::Packet& packet, const Style& style, util::Bytes frame) {
    if (!packet.bth) {
        if (packet.not_roce)
            return style(Role::Dim, other_summary(packet, frame));
        std::string text = problems(packet, style);
        return text.empty() ? text : text.substr(1);
    }
    Words words;
    if (packet.cm) {
        words.add("{}", cm_details(*packet.cm));
    } else {
        add_bth(words, *packet.bth);
        add_extensions(words, packet);
        if (packet.mad)
            words.add("{} attribute 0x{:04x}", packet.mad->method_name(), packet.mad->attribute_id);
        else
            add_payload(words, packet);
    }
    return style(role_of(packet), padded(name_of(packet), name_width)) + words.text() +
           problems(packet, style);
}

}  // namespace report
