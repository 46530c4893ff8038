#include "wire/text/json.hpp"

#include <string>

#include "util/append.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"
#include "wire/tcp.hpp"
#include "wire/text/other.hpp"

namespace wire {
namespace {

void add_link(util::Json& json, const Packet& packet) {
    if (packet.ethernet)
        json["eth"] = {{"dst", text(packet.ethernet->dst)},
                       {"src", text(packet.ethernet->src)},
                       {"type", packet.ethernet->type}};
    for (const Vlan& tag : packet.vlans)
        json["vlan"].push_back(
            {{"priority", tag.priority}, {"dei", tag.dei}, {"id", tag.id}, {"etype", tag.type}});
    if (packet.sll)
        json["sll"] = {{"etype", packet.sll->protocol},
                       {"hatype", packet.sll->arphrd},
                       {"pkttype", packet.sll->packet_type}};
}

void add_network(util::Json& json, const Packet& packet) {
    if (const auto& ip = packet.ipv4)
        json["ip"] = {{"src", text(ip->src)}, {"dst", text(ip->dst)},    {"dscp", ip->dscp()},
                      {"ecn", ip->ecn()},     {"len", ip->total_length}, {"id", ip->id},
                      {"df", ip->df},         {"ttl", ip->ttl},          {"proto", ip->protocol}};
    if (const auto& ip = packet.ipv6)
        json["ipv6"] = {{"src", text(ip->src)},   {"dst", text(ip->dst)},
                        {"dscp", ip->dscp()},     {"ecn", ip->ecn()},
                        {"flow", ip->flow_label}, {"plen", ip->payload_length},
                        {"nxt", ip->next_header}, {"hlim", ip->hop_limit}};
    if (const auto& grh = packet.grh)
        json["grh"] = {{"ipver", grh->ipver},         {"tclass", grh->tclass},
                       {"flowlabel", grh->flowlabel}, {"paylen", grh->paylen},
                       {"nxthdr", grh->nxthdr},       {"hoplmt", grh->hoplmt},
                       {"sgid", text(grh->sgid)},     {"dgid", text(grh->dgid)}};
    if (const auto& udp = packet.udp)
        json["udp"] = {
            {"srcport", udp->src_port}, {"dstport", udp->dst_port}, {"length", udp->length}};
}

util::Json bth_json(const Packet& packet) {
    const Bth& bth = *packet.bth;
    return {
        {"opcode", bth.opcode},
        {"opcode_name", packet.opcode != nullptr ? util::Json(packet.opcode->name) : util::Json()},
        {"se", bth.se},
        {"m", bth.m},
        {"padcnt", bth.padcnt},
        {"tver", bth.tver},
        {"p_key", bth.p_key},
        {"fecn", bth.fecn},
        {"becn", bth.becn},
        {"destqp", bth.dest_qpn},
        {"a", bth.a},
        {"psn", bth.psn.value()}};
}

util::Json aeth_json(const Aeth& aeth) {
    util::Json json{{"syndrome", aeth.syndrome}, {"msn", aeth.msn}, {"type", name(aeth.kind())}};
    switch (aeth.kind()) {
        case AethKind::Ack:
            json["credits"] = aeth.credits() ? util::Json(*aeth.credits()) : util::Json();
            break;
        case AethKind::RnrNak:
            json["timer_ms"] = aeth.rnr_timer_ms().value_or(0);
            break;
        case AethKind::Nak:
            json["error"] = aeth.nak_name().value_or("Reserved");
            break;
        case AethKind::Reserved:
            break;
    }
    return json;
}

std::string digits_of(util::Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        util::append_hex(text, std::to_integer<std::uint64_t>(byte), 2);
    return text;
}

void add_extensions(util::Json& json, const Packet& packet) {
    if (packet.rdeth)
        json["rdeth"] = {{"eecnxt", packet.rdeth->eecnxt}};
    if (packet.dceth)
        json["dceth"] = {{"bytes", digits_of(packet.dceth->bytes)}};
    if (packet.deth)
        json["deth"] = {{"q_key", packet.deth->q_key}, {"srcqp", packet.deth->src_qpn}};
    if (packet.xrceth)
        json["xrceth"] = {{"xrcsrq", packet.xrceth->xrcsrq}};
    if (packet.feth)
        json["feth"] = {{"plt", packet.feth->plt}, {"sel", packet.feth->sel}};
    if (packet.reth)
        json["reth"] = {
            {"va", packet.reth->va}, {"r_key", packet.reth->rkey}, {"dmalen", packet.reth->dmalen}};
    if (const auto& atomic = packet.atomic_eth)
        json["atomiceth"] = {{"va", atomic->va},
                             {"r_key", atomic->rkey},
                             {"swapdt", atomic->swapdt},
                             {"cmpdt", atomic->cmpdt}};
    if (packet.aeth)
        json["aeth"] = aeth_json(*packet.aeth);
    if (packet.atomic_ack_eth)
        json["atomicacketh"] = {{"origremdt", packet.atomic_ack_eth->origremdt}};
    if (packet.immdt)
        json["immdt"] = packet.immdt->value;
    if (packet.ieth)
        json["ieth"] = packet.ieth->rkey;
}

util::Json mad_json(const Mad& mad) {
    return {{"baseversion", mad.base_version},
            {"mgmtclass", mad.mgmt_class},
            {"classversion", mad.class_version},
            {"method", mad.method},
            {"status", mad.status},
            {"classspecific", mad.class_specific},
            {"transactionid", mad.transaction_id},
            {"attributeid", mad.attribute_id},
            {"attributemodifier", mad.attribute_modifier}};
}

util::Json icrc_json(const Icrc& icrc) {
    util::Json json{{"value", icrc.value ? util::Json(*icrc.value) : util::Json()},
                    {"status", name(icrc.status)}};
    if (icrc.status == IcrcStatus::Bad && icrc.computed)
        json["computed"] = *icrc.computed;
    if (icrc.status == IcrcStatus::Unchecked)
        json["reason"] = icrc.reason;
    return json;
}

void add_notes(util::Json& json, const CaptureNotes& notes) {
    if (notes.interface_id)
        json["interface_id"] = *notes.interface_id;
    if (!notes.interface_name.empty())
        json["interface_name"] = util::printable(notes.interface_name);
    if (!notes.comment.empty())
        json["comment"] = util::printable(notes.comment);
}

}  // namespace

util::Json packet_json(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                       util::Bytes frame, std::size_t length, const CaptureNotes& notes) {
    util::Json json{{"frame", number},
                    {"time", std::chrono::duration<double>(time).count()},
                    {"t_ns", time.count()},
                    {"len", length},
                    {"caplen", frame.size()}};
    add_notes(json, notes);
    add_link(json, packet);
    add_network(json, packet);
    if (packet.bth)
        json["bth"] = bth_json(packet);
    add_extensions(json, packet);
    if (packet.mad)
        json["mad"] = mad_json(*packet.mad);
    if (packet.cm)
        json["cm"] = cm_json(*packet.cm);
    if (packet.icrc) {
        json["payload_len"] = packet.payload_length;
        json["icrc"] = icrc_json(*packet.icrc);
    }
    if (const auto tcp = tcp_segment(packet, frame))
        json["tcp"] = {{"srcport", tcp->src_port},
                       {"dstport", tcp->dst_port},
                       {"flags", tcp->flags},
                       {"len", tcp->payload_length}};
    json["not_roce"] = packet.not_roce ? util::Json(other_summary(packet, frame)) : util::Json();
    json["truncated"] = packet.truncated ? util::Json(packet.truncated->text()) : util::Json();
    json["malformed"] = packet.malformed ? util::Json(packet.malformed->text()) : util::Json();
    return json;
}

}  // namespace wire
