#include <array>

#include "filter/field_tables.hpp"
#include "filter/getter.hpp"

namespace filter {
namespace {

using wire::CmApr;
using wire::CmDrep;
using wire::CmDreq;
using wire::CmLap;
using wire::CmMra;
using wire::CmRej;
using wire::CmRep;
using wire::CmReq;
using wire::CmRtu;
using wire::CmSidrRep;
using wire::CmSidrReq;
using wire::IpCm;
using wire::Mad;
using wire::Packet;
using wire::Smp;
using enum Kind;

Value message(const View& view) {
    if (!view.packet.cm)
        return {};
    const std::string_view name = view.packet.cm->name();
    return name.empty() ? Value(Null()) : name;
}

Value has_paths(const View& view) {
    return cm_message<CmReq>(view) != nullptr ? Value(true) : Value();
}

// A field that no member has: `Width` bits of the message from `Bit` on.
template <typename Kept, unsigned Bit, unsigned Width>
struct In {
    using Message = Kept;
    static Value of(util::FixedBytes<Mad::data_size> data) {
        if constexpr (Width == 1)
            return wire::number_at<Bit, Width>(data) != 0;
        else if constexpr (Width == 8 * wire::Gid::size)
            return wire::Gid::at<Bit / 8>(data);
        else
            return wire::number_at<Bit, Width>(data);
    }
};

/// Reads the field of the message that the packet has. Each field is of another message.
template <typename... Fields>
Value bits(const View& view) {
    Value value;
    const auto read = [&]<typename Part>(Part) {
        if (cm_message<typename Part::Message>(view) != nullptr)
            value = Part::of(*view.packet.cm->data);
    };
    if (view.packet.cm && view.packet.cm->data)
        (read(Fields()), ...);
    return value;
}

const IpCm* ip_cm_of(const View& view) {
    const auto* req = cm_message<CmReq>(view);
    const auto* sidr = cm_message<CmSidrReq>(view);
    const auto* ip = req != nullptr ? &req->ip_cm : sidr != nullptr ? &sidr->ip_cm : nullptr;
    return ip != nullptr && *ip ? &**ip : nullptr;
}

template <auto... Members>
Value ip_cm(const View& view) {
    const IpCm* ip = ip_cm_of(view);
    return ip != nullptr ? follow(*ip, Members...) : Value();
}

template <auto V4, auto V6>
Value ip_cm_address(const View& view) {
    const IpCm* ip = ip_cm_of(view);
    if (ip == nullptr)
        return {};
    return ip->ip_version == 4 ? follow(*ip, V4) : follow(*ip, V6);
}
Value port(const View& view) {
    const auto* req = cm_message<CmReq>(view);
    const auto* sidr = cm_message<CmSidrReq>(view);
    const auto* service = req != nullptr    ? &req->ip_service
                          : sidr != nullptr ? &sidr->ip_service
                                            : nullptr;
    return service != nullptr && *service ? Value(std::uint64_t{(*service)->port}) : Value();
}

Value mad_name(const View& view) {
    if (!view.packet.mad || view.packet.mad->is_cm())
        return {};
    view.scratch = view.packet.mad->text();
    return view.scratch.empty() ? Value() : Value(std::string_view(view.scratch));
}
bool is_directed(const View& view) {
    return view.packet.smp && view.packet.mad->is_directed();
}
template <auto Member>
Value directed(const View& view) {
    return is_directed(view) ? follow(*view.packet.mad, Member) : Value();
}
template <auto Member>
Value directed_lid(const View& view) {
    return is_directed(view) ? follow(*view.packet.smp, Member) : Value();
}

constexpr auto cm_table = std::to_array<Field>({
    {"mad", Present, "management datagram", has<&Packet::mad>},
    {"mad.baseversion", Hex2, "base version, 1", in<&Packet::mad, &Mad::base_version>},
    {"mad.mgmtclass", Hex2, "class: 7 is the connection manager",
     in<&Packet::mad, &Mad::mgmt_class>},
    {"mad.classversion", Hex2, "class version", in<&Packet::mad, &Mad::class_version>},
    {"mad.method", Hex2, "method", in<&Packet::mad, &Mad::method>},
    {"mad.status", Hex4, "status", in<&Packet::mad, &Mad::status>},
    {"mad.classspecific", Hex4, "class specific", in<&Packet::mad, &Mad::class_specific>},
    {"mad.transactionid", Hex16, "transaction ID", in<&Packet::mad, &Mad::transaction_id>},
    {"mad.attributeid", Hex4, "attribute: the message", in<&Packet::mad, &Mad::attribute_id>},
    {"mad.attributemodifier", Hex8, "attribute modifier",
     in<&Packet::mad, &Mad::attribute_modifier>},
    {"mad.name", Text, "\"SA Get(PathRecord)\"; not of the connection manager", mad_name},
    {"smp", Present, "subnet management packet", has<&Packet::smp>},
    {"smp.mkey", Hex16, "management key", in<&Packet::smp, &Smp::mkey>,
     in_wireshark("infiniband.smplid.mkey")},
    {"smp.d", Flag, "directed route: the packet returns", directed<&Mad::is_returning>,
     in_wireshark("infiniband.smpdirected.d")},
    {"smp.hoppointer", Hex2, "directed route: index of the current hop",
     directed<&Mad::hop_pointer>, in_wireshark("infiniband.smpdirected.hoppointer")},
    {"smp.hopcount", Hex2, "directed route: number of hops", directed<&Mad::hop_count>,
     in_wireshark("infiniband.smpdirected.hopcount")},
    {"smp.drslid", Hex4, "directed route: LID before the first hop", directed_lid<&Smp::drslid>,
     in_wireshark("infiniband.smpdirected.drslid")},
    {"smp.drdlid", Hex4, "directed route: LID after the last hop", directed_lid<&Smp::drdlid>,
     in_wireshark("infiniband.smpdirected.drdlid")},

    {"cm", Present, "message of the connection manager", has<&Packet::cm>},
    {"cm.message", Text, "ConnectRequest, ConnectReply, ReadyToUse, ...", message},
    {"cm.localcommid", Hex8, "the sender's communication ID",
     cm<&CmReq::local_comm_id, &CmRep::local_comm_id, &CmRtu::local_comm_id, &CmRej::local_comm_id,
        &CmMra::local_comm_id, &CmDreq::local_comm_id, &CmDrep::local_comm_id,
        &CmLap::local_comm_id, &CmApr::local_comm_id>},
    {"cm.remotecommid", Hex8, "the receiver's communication ID",
     cm<&CmRep::remote_comm_id, &CmRtu::remote_comm_id, &CmRej::remote_comm_id,
        &CmMra::remote_comm_id, &CmDreq::remote_comm_id, &CmDrep::remote_comm_id,
        &CmLap::remote_comm_id, &CmApr::remote_comm_id>},
    {"cm.requestid", Hex8, "of a service ID resolution",
     cm<&CmSidrReq::request_id, &CmSidrRep::request_id>},
    {"cm.status", Decimal, "of a ServiceIDResReqResp or an AlternatePathResponse",
     cm<&CmSidrRep::status, &CmApr::status>},
    {"cm.status_name", Text, "\"Valid QPN\", ...", cm<&CmSidrRep::status_name>},
    {"cm.qpn", Hex6, "the queue pair of a service", cm<&CmSidrRep::qpn>},
    {"cm.remoteqpn", Hex6, "the receiver's queue pair",
     cm<&CmDreq::remote_qpn, &CmLap::remote_qpn>},
    {"cm.alt_localgid", Kind::Ipv6, "alternate path", bits<In<CmLap, 8 * 24, 128>>},
    {"cm.alt_remotegid", Kind::Ipv6, "alternate path", bits<In<CmLap, 8 * 40, 128>>},
    {"cm.msgrej", Decimal, "rejected message: 0 REQ, 1 REP, 2 none", cm<&CmRej::message_rejected>},
    {"cm.reason", Decimal, "reason of the rejection", cm<&CmRej::reason>},
    {"cm.reason_name", Text, "\"Invalid Service ID\", ...", cm<&CmRej::reason_name>},
    {"cm.ari", Bytes, "additional reject information", cm<&CmRej::ari>},
    {"cm.msgmraed", Decimal, "received message: 0 REQ, 1 REP, 2 LAP", cm<&CmMra::message_mraed>},
    {"cm.servtimeout", Decimal, "the response takes up to 4.096 us * 2^n",
     bits<In<CmMra, 8 * 9, 5>>},
    {"cm.serviceid", Hex16, "requested service",
     cm<&CmReq::service_id, &CmSidrReq::service_id, &CmSidrRep::service_id>},
    {"cm.qkey", Hex8, "the queue key of a service", cm<&CmSidrRep::q_key>},
    {"cm.localcaguid", Hex16, "the sender's adapter",
     bits<In<CmReq, 8 * 16, 64>, In<CmRep, 8 * 28, 64>>},
    {"cm.localqkey", Hex8, "the sender's queue key",
     bits<In<CmReq, 8 * 28, 32>, In<CmRep, 8 * 8, 32>>},
    {"cm.localqpn", Hex6, "the sender's queue pair", cm<&CmReq::local_qpn, &CmRep::local_qpn>},
    {"cm.responderres", Decimal, "READs and atomics that the sender serves at a time",
     cm<&CmReq::responder_resources>},
    {"cm.respres", Decimal, "the same in a ConnectReply", cm<&CmRep::responder_resources>},
    {"cm.initdepth", Decimal, "READs and atomics that the sender requests at a time",
     cm<&CmReq::initiator_depth, &CmRep::initiator_depth>},
    {"cm.localeecn", Hex6, "end-to-end context (RD)",
     bits<In<CmReq, 8 * 36, 24>, In<CmRep, 8 * 16, 24>>},
    {"cm.remoteeecn", Hex6, "end-to-end context (RD)", bits<In<CmReq, 8 * 40, 24>>},
    {"cm.remoteresptout", Decimal, "the receiver must respond within 4.096 us * 2^n",
     bits<In<CmReq, 8 * 43, 5>>},
    {"cm.transpsvctype", Decimal, "0 RC, 1 UC, 2 RD, 3 see ext_transport",
     cm<&CmReq::transport_service_type>},
    {"cm.e2eflowctrl", Flag, "flow control by credits",
     bits<In<CmReq, 8 * 43 + 7, 1>, In<CmRep, 8 * 26 + 7, 1>>},
    {"cm.startpsn", Kind::Psn, "PSN of the first packet to the sender",
     cm<&CmReq::starting_psn, &CmRep::starting_psn>},
    {"cm.localresptout", Decimal, "the sender responds within 4.096 us * 2^n",
     bits<In<CmReq, 8 * 47, 5>>},
    {"cm.retrcount", Decimal, "retries", cm<&CmReq::retry_count>},
    {"cm.pkey", Hex4, "partition key", cm<&CmReq::p_key, &CmSidrReq::p_key>},
    {"cm.pppmtu", Decimal, "path MTU: 1 to 5 for 256 to 4096 bytes", cm<&CmReq::path_mtu>},
    {"cm.rdcexist", Flag, "an RD channel exists", bits<In<CmReq, 8 * 50 + 4, 1>>},
    {"cm.rnrretrcount", Decimal, "retries after an RNR NAK; 7: no limit",
     bits<In<CmReq, 8 * 50 + 5, 3>, In<CmRep, 8 * 27, 3>>},
    {"cm.maxcmretr", Decimal, "retries of CM messages", bits<In<CmReq, 8 * 51, 4>>},
    {"cm.srq", Flag, "shared receive queue",
     bits<In<CmReq, 8 * 51 + 4, 1>, In<CmRep, 8 * 27 + 3, 1>>},
    {"cm.tgtackdelay", Decimal, "ACKs take up to 4.096 us * 2^n", bits<In<CmRep, 8 * 26, 5>>},
    {"cm.failoveracc", Decimal, "alternate path accepted", bits<In<CmRep, 8 * 26 + 5, 2>>},
    {"cm.ext_transport", Decimal, "1 XRC", cm<&CmReq::extended_transport>},
    {"cm.prim", Present, "primary path", has_paths},
    {"cm.prim.locallid", Hex4, "primary path", bits<In<CmReq, 8 * 52, 16>>},
    {"cm.prim.remotelid", Hex4, "primary path", bits<In<CmReq, 8 * 54, 16>>},
    {"cm.prim.localgid", Kind::Ipv6, "primary path", bits<In<CmReq, 8 * 56, 128>>},
    {"cm.prim.remotegid", Kind::Ipv6, "primary path", bits<In<CmReq, 8 * 72, 128>>},
    {"cm.prim.flowlabel", Hex6, "primary path", bits<In<CmReq, 8 * 88, 20>>},
    {"cm.prim.pktrate", Decimal, "primary path", bits<In<CmReq, 8 * 91 + 2, 6>>},
    {"cm.prim.tfcclass", Decimal, "primary path", bits<In<CmReq, 8 * 92, 8>>},
    {"cm.prim.hoplim", Decimal, "primary path", bits<In<CmReq, 8 * 93, 8>>},
    {"cm.prim.sl", Decimal, "primary path", bits<In<CmReq, 8 * 94, 4>>},
    {"cm.prim.subnetlocal", Flag, "primary path", bits<In<CmReq, 8 * 94 + 4, 1>>},
    {"cm.prim.localacktout", Decimal, "primary path: ACKs within 4.096 us * 2^n",
     cm<&CmReq::local_ack_timeout>},
    {"cm.alt", Present, "alternate path", has_paths},
    {"cm.alt.locallid", Hex4, "alternate path", bits<In<CmReq, 8 * 96, 16>>},
    {"cm.alt.remotelid", Hex4, "alternate path", bits<In<CmReq, 8 * 98, 16>>},
    {"cm.alt.localgid", Kind::Ipv6, "alternate path", bits<In<CmReq, 8 * 100, 128>>},
    {"cm.alt.remotegid", Kind::Ipv6, "alternate path", bits<In<CmReq, 8 * 116, 128>>},
    {"cm.alt.flowlabel", Hex6, "alternate path", bits<In<CmReq, 8 * 132, 20>>},
    {"cm.alt.pktrate", Decimal, "alternate path", bits<In<CmReq, 8 * 135 + 2, 6>>},
    {"cm.alt.tfcclass", Decimal, "alternate path", bits<In<CmReq, 8 * 136, 8>>},
    {"cm.alt.hoplim", Decimal, "alternate path", bits<In<CmReq, 8 * 137, 8>>},
    {"cm.alt.sl", Decimal, "alternate path", bits<In<CmReq, 8 * 138, 4>>},
    {"cm.alt.subnetlocal", Flag, "alternate path", bits<In<CmReq, 8 * 138 + 4, 1>>},
    {"cm.alt.localacktout", Decimal, "alternate path: ACKs within 4.096 us * 2^n",
     bits<In<CmReq, 8 * 139, 5>>},
    {"cm.port", Decimal, "rdma_cm's port in the service ID", port},
    {"cm.ip_cm", Present, "rdma_cm's header before the private data", ip_cm<>},
    {"cm.ip_cm.majv", Decimal, "rdma_cm's header: version", ip_cm<&IpCm::major_version>},
    {"cm.ip_cm.minv", Decimal, "rdma_cm's header: version", ip_cm<&IpCm::minor_version>},
    {"cm.ip_cm.ipv", Decimal, "rdma_cm's header: 4 or 6", ip_cm<&IpCm::ip_version>},
    {"cm.ip_cm.sport", Decimal, "rdma_cm's header: source port", ip_cm<&IpCm::src_port>},
    {"cm.ip_cm.sip", Ip, "rdma_cm's header: source", ip_cm_address<&IpCm::src_ipv4, &IpCm::src>},
    {"cm.ip_cm.dip", Ip, "rdma_cm's header: destination",
     ip_cm_address<&IpCm::dst_ipv4, &IpCm::dst>},
    {"cm.private", Bytes, "private data of the program",
     cm<&CmReq::private_data, &CmRep::private_data, &CmRtu::private_data, &CmRej::private_data,
        &CmMra::private_data, &CmDreq::private_data, &CmDrep::private_data,
        &CmSidrReq::private_data, &CmSidrRep::private_data, &CmLap::private_data,
        &CmApr::private_data>},
});

}  // namespace

std::span<const Field> cm_fields() {
    return cm_table;
}

}  // namespace filter
