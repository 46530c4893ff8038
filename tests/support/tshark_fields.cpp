#include "support/tshark_fields.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace support {
namespace {

using nlohmann::json;
using enum Kind;

constexpr std::string_view req = "/cm/message=ConnectRequest";
constexpr std::string_view rep = "/cm/message=ConnectReply";
constexpr std::string_view rtu = "/cm/message=ReadyToUse";
constexpr std::string_view rej = "/cm/message=ConnectReject";
constexpr std::string_view dreq = "/cm/message=DisconnectRequest";
constexpr std::string_view drep = "/cm/message=DisconnectReply";

constexpr auto table = std::to_array<Field>({
    {"/frame", "frame.number"},
    {"/len", "frame.len"},
    {"/caplen", "frame.cap_len"},
    {"/outer/src", "ip.src", Text, 0, "outer ipv4"},
    {"/outer/dst", "ip.dst", Text, 0, "outer ipv4"},
    {"/outer/src", "ipv6.src", Text, 0, "outer ipv6"},
    {"/outer/dst", "ipv6.dst", Text, 0, "outer ipv6"},
    {"/vxlan/vni", "vxlan.vni", Number, 0, "/vxlan"},
    {"/geneve/vni", "geneve.vni", Number, 0, "/geneve"},
    {"/geneve/proto_type", "geneve.proto_type", Number, 0, "/geneve"},
    {"/gre/proto", "gre.proto", Number, 0, "/gre"},
    {"/gre/key", "gre.key", Number, 0, "/gre"},
    {"/erspan/spanid", "erspan.spanid", Number, 0, "/erspan"},
    {"/erspan/vlan", "erspan.vlan", Number, 0, "/erspan"},
    {"/mpls/label", "mpls.label", Number, Field::last, "/mpls"},
    {"/gtp/teid", "gtp.teid", Number, 0, "/gtp"},
    {"/pppoe/session_id", "pppoe.session_id", Number, 0, "/pppoe"},
    {"/macc/opcode", "macc.opcode"},
    {"/pause/pause_time", "macc.pause_time"},
    {"/pfc/enbv", "macc.cbfc.enbv"},
    {"/pfc/c0", "macc.cbfc.pause_time.c0"},
    {"/pfc/c1", "macc.cbfc.pause_time.c1"},
    {"/pfc/c2", "macc.cbfc.pause_time.c2"},
    {"/pfc/c3", "macc.cbfc.pause_time.c3"},
    {"/pfc/c4", "macc.cbfc.pause_time.c4"},
    {"/pfc/c5", "macc.cbfc.pause_time.c5"},
    {"/pfc/c6", "macc.cbfc.pause_time.c6"},
    {"/pfc/c7", "macc.cbfc.pause_time.c7"},
    {"/eth/dst", "eth.dst", Text},
    {"/eth/src", "eth.src", Text},
    {"/eth/type", "eth.type"},
    {"/sll/etype", "sll.etype"},
    {"/sll/hatype", "sll.hatype"},
    {"/sll/pkttype", "sll.pkttype"},
    {"/vlan/0/priority", "vlan.priority", Number, 0, "/eth/type=33024"},
    {"/vlan/0/dei", "vlan.dei", Flag, 0, "/eth/type=33024"},
    {"/vlan/0/id", "vlan.id", Number, 0, "/eth/type=33024"},
    {"/vlan/0/etype", "vlan.etype", Number, 0, "/eth/type=33024"},
    {"/vlan/0/priority", "ieee8021ad.priority", Number, 0, "/eth/type=34984"},
    {"/vlan/0/dei", "ieee8021ad.dei", Flag, 0, "/eth/type=34984"},
    {"/vlan/0/id", "ieee8021ad.id", Number, 0, "/eth/type=34984"},
    {"/vlan/1/priority", "vlan.priority", Number, 0, "/eth/type=34984"},
    {"/vlan/1/dei", "vlan.dei", Flag, 0, "/eth/type=34984"},
    {"/vlan/1/id", "vlan.id", Number, 0, "/eth/type=34984"},
    {"/vlan/1/etype", "vlan.etype", Number, 0, "/eth/type=34984"},
    {"/ip/src", "ip.src", Text},
    {"/ip/dst", "ip.dst", Text},
    {"/ip/dscp", "ip.dsfield.dscp"},
    {"/ip/ecn", "ip.dsfield.ecn"},
    {"/ip/len", "ip.len"},
    {"/ip/id", "ip.id"},
    {"/ip/df", "ip.flags.df", Flag},
    {"/ip/ttl", "ip.ttl"},
    {"/ip/proto", "ip.proto"},
    {"/ipv6/src", "ipv6.src", Text},
    {"/ipv6/dst", "ipv6.dst", Text},
    {"/ipv6/dscp", "ipv6.tclass.dscp"},
    {"/ipv6/ecn", "ipv6.tclass.ecn"},
    {"/ipv6/flow", "ipv6.flow"},
    {"/ipv6/plen", "ipv6.plen"},
    {"/ipv6/nxt", "ipv6.nxt"},
    {"/ipv6/hlim", "ipv6.hlim"},
    {"/grh/ipver", "infiniband.grh.ipver"},
    {"/grh/tclass", "infiniband.grh.tclass"},
    {"/grh/flowlabel", "infiniband.grh.flowlabel"},
    {"/grh/paylen", "infiniband.grh.paylen"},
    {"/grh/nxthdr", "infiniband.grh.nxthdr"},
    {"/grh/hoplmt", "infiniband.grh.hoplmt"},
    {"/grh/sgid", "infiniband.grh.sgid", Text},
    {"/grh/dgid", "infiniband.grh.dgid", Text},
    {"/udp/srcport", "udp.srcport"},
    {"/udp/dstport", "udp.dstport"},
    {"/udp/length", "udp.length"},
    {"/bth/opcode", "infiniband.bth.opcode"},
    {"/bth/se", "infiniband.bth.se", Flag},
    {"/bth/m", "infiniband.bth.m", Flag},
    {"/bth/padcnt", "infiniband.bth.padcnt"},
    {"/bth/tver", "infiniband.bth.tver"},
    {"/bth/p_key", "infiniband.bth.p_key"},
    {"/bth/destqp", "infiniband.bth.destqp"},
    {"/bth/a", "infiniband.bth.a", Flag},
    {"/bth/psn", "infiniband.bth.psn"},
    {"/rdeth/eecnxt", "infiniband.rdeth.eecnxt"},
    {"/deth/q_key", "infiniband.deth.q_key"},
    {"/deth/srcqp", "infiniband.deth.srcqp"},
    {"/reth/va", "infiniband.reth.va", Number, 0, "/reth"},
    {"/reth/r_key", "infiniband.reth.r_key", Number, 0, "/reth"},
    {"/reth/dmalen", "infiniband.reth.dmalen"},
    {"/atomiceth/va", "infiniband.reth.va", Number, 0, "/atomiceth"},
    {"/atomiceth/r_key", "infiniband.reth.r_key", Number, 0, "/atomiceth"},
    {"/atomiceth/swapdt", "infiniband.atomiceth.swapdt"},
    {"/atomiceth/cmpdt", "infiniband.atomiceth.cmpdt"},
    {"/aeth/syndrome", "infiniband.aeth.syndrome"},
    {"/aeth/msn", "infiniband.aeth.msn"},
    {"/atomicacketh/origremdt", "infiniband.atomicacketh.origremdt"},
    {"/immdt", "infiniband.immdt", Digits},
    {"/ieth", "infiniband.ieth", Digits},
    {"/icrc/value", "infiniband.invariant.crc"},
    {"/mad/baseversion", "infiniband.mad.baseversion"},
    {"/mad/mgmtclass", "infiniband.mad.mgmtclass"},
    {"/mad/classversion", "infiniband.mad.classversion"},
    {"/mad/method", "infiniband.mad.method"},
    {"/mad/status", "infiniband.mad.status"},
    {"/mad/classspecific", "infiniband.mad.classspecific"},
    {"/mad/transactionid", "infiniband.mad.transactionid"},
    {"/mad/attributeid", "infiniband.mad.attributeid"},
    {"/mad/attributemodifier", "infiniband.mad.attributemodifier"},
    {"/cm/localcommid", "infiniband.cm.req", Number, 0, req},
    {"/cm/serviceid", "infiniband.cm.req.serviceid", Number, 0, req},
    {"/cm/port", "infiniband.cm.req.serviceid.dport", Number, 0, req},
    {"/cm/localcaguid", "infiniband.cm.req.localcaguid", Number, 0, req},
    {"/cm/localqkey", "infiniband.cm.req.localqkey", Number, 0, req},
    {"/cm/localqpn", "infiniband.cm.req.localqpn", Number, 0, req},
    {"/cm/responderres", "infiniband.cm.req.responderres", Number, 0, req},
    {"/cm/initdepth", "infiniband.cm.req.initdepth", Number, 0, req},
    {"/cm/localeecn", "infiniband.cm.req.localeecn", Number, 0, req},
    {"/cm/remoteeecn", "infiniband.cm.req.remoteeecn", Number, 0, req},
    {"/cm/remoteresptout", "infiniband.cm.req.remoteresptout", Number, 0, req},
    {"/cm/transpsvctype", "infiniband.cm.req.transpsvctype", Number, 0, req},
    {"/cm/e2eflowctrl", "infiniband.cm.req.e2eflowctrl", Flag, 0, req},
    {"/cm/startpsn", "infiniband.cm.req.startpsn", Number, 0, req},
    {"/cm/localresptout", "infiniband.cm.req.localresptout", Number, 0, req},
    {"/cm/retrcount", "infiniband.cm.req.retrcount", Number, 0, req},
    {"/cm/pkey", "infiniband.cm.req.pkey", Number, 0, req},
    {"/cm/pppmtu", "infiniband.cm.req.pppmtu", Number, 0, req},
    {"/cm/rdcexist", "infiniband.cm.req.rdcexist", Flag, 0, req},
    {"/cm/rnrretrcount", "infiniband.cm.req.rnrretrcount", Number, 0, req},
    {"/cm/maxcmretr", "infiniband.cm.req.maxcmretr", Number, 0, req},
    {"/cm/srq", "infiniband.cm.req.srq", Flag, 0, req},
    {"/cm/ext_transport", "infiniband.cm.req.ext_transport", Number, 0, req},
    {"/cm/prim/locallid", "infiniband.cm.req.prim_locallid", Number, 0, req},
    {"/cm/prim/remotelid", "infiniband.cm.req.prim_remotelid", Number, 0, req},
    {"/cm/prim/localgid", "infiniband.cm.req.prim_localgid", Gid, 0, "v6 prim"},
    {"/cm/prim/remotegid", "infiniband.cm.req.prim_remotegid", Gid, 0, "v6 prim"},
    {"/cm/prim/localgid", "infiniband.cm.req.prim_localgid_ipv4", GidOfIpv4, 0, "v4 prim"},
    {"/cm/prim/remotegid", "infiniband.cm.req.prim_remotegid_ipv4", GidOfIpv4, 0, "v4 prim"},
    {"/cm/prim/flowlabel", "infiniband.cm.req.prim_flowlabel", Number, 0, req},
    {"/cm/prim/pktrate", "infiniband.cm.req.prim_pktrate", Number, 0, req},
    {"/cm/prim/tfcclass", "infiniband.cm.req.prim_tfcclass", Number, 0, req},
    {"/cm/prim/hoplim", "infiniband.cm.req.prim_hoplim", Number, 0, req},
    {"/cm/prim/sl", "infiniband.cm.req.prim_sl", Number, 0, req},
    {"/cm/prim/subnetlocal", "infiniband.cm.req.prim_subnetlocal", Flag, 0, req},
    {"/cm/prim/localacktout", "infiniband.cm.req.prim_localacktout", Number, 0, req},
    {"/cm/alt/locallid", "infiniband.cm.req.alt_locallid", Number, 0, req},
    {"/cm/alt/remotelid", "infiniband.cm.req.alt_remotelid", Number, 0, req},
    {"/cm/alt/localgid", "infiniband.cm.req.alt_localgid", Gid, 0, req},
    {"/cm/alt/remotegid", "infiniband.cm.req.alt_remotegid", Gid, 0, req},
    {"/cm/alt/flowlabel", "infiniband.cm.req.alt_flowlabel", Number, 0, req},
    {"/cm/alt/pktrate", "infiniband.cm.req.alt_pktrate", Number, 0, req},
    {"/cm/alt/tfcclass", "infiniband.cm.req.alt_tfcclass", Number, 0, req},
    {"/cm/alt/hoplim", "infiniband.cm.req.alt_hoplim", Number, 0, req},
    {"/cm/alt/sl", "infiniband.cm.req.alt_sl", Number, 0, req},
    {"/cm/alt/subnetlocal", "infiniband.cm.req.alt_subnetlocal", Flag, 0, req},
    {"/cm/alt/localacktout", "infiniband.cm.req.alt_localacktout", Number, 0, req},
    {"/cm/private", "infiniband.cm.req.private", Text, 0, "plain private"},
    {"/cm/ip_cm/majv", "infiniband.cm.req.ip_cm.majv", Number, 0, req},
    {"/cm/ip_cm/minv", "infiniband.cm.req.ip_cm.minv", Number, 0, req},
    {"/cm/ip_cm/ipv", "infiniband.cm.req.ip_cm.ipv", Number, 0, req},
    {"/cm/ip_cm/sport", "infiniband.cm.req.ip_cm.sport", Number, 0, req},
    {"/cm/ip_cm/sip", "infiniband.cm.req.ip_cm.sip4", Text, 0, "/cm/ip_cm/ipv=4"},
    {"/cm/ip_cm/dip", "infiniband.cm.req.ip_cm.dip4", Text, 0, "/cm/ip_cm/ipv=4"},
    {"/cm/ip_cm/sip", "infiniband.cm.req.ip_cm.sip6", Text, 0, "/cm/ip_cm/ipv=6"},
    {"/cm/ip_cm/dip", "infiniband.cm.req.ip_cm.dip6", Text, 0, "/cm/ip_cm/ipv=6"},
    {"/cm/private", "infiniband.cm.req.ip_cm.private", Text, 0, "/cm/ip_cm"},
    {"/cm/localcommid", "infiniband.cm.rep", Number, 0, rep},
    {"/cm/remotecommid", "infiniband.cm.rep.remotecommid", Number, 0, rep},
    {"/cm/localqkey", "infiniband.cm.rep.localqkey", Number, 0, rep},
    {"/cm/localqpn", "infiniband.cm.rep.localqpn", Number, 0, rep},
    {"/cm/localeecn", "infiniband.cm.rep.localeecn", Number, 0, rep},
    {"/cm/startpsn", "infiniband.cm.rep.startpsn", Number, 0, rep},
    {"/cm/respres", "infiniband.cm.rep.respres", Number, 0, rep},
    {"/cm/initdepth", "infiniband.cm.rep.initdepth", Number, 0, rep},
    {"/cm/tgtackdelay", "infiniband.cm.rep.tgtackdelay", Number, 0, rep},
    {"/cm/failoveracc", "infiniband.cm.rep.failoveracc", Number, 0, rep},
    {"/cm/e2eflowctrl", "infiniband.cm.rep.e2eflowctrl", Flag, 0, rep},
    {"/cm/rnrretrcount", "infiniband.cm.rep.rnrretrcount", Number, 0, rep},
    {"/cm/srq", "infiniband.cm.rep.srq", Flag, 0, rep},
    {"/cm/localcaguid", "infiniband.cm.rep.localcaguid", Number, 0, rep},
    {"/cm/private", "infiniband.cm.rep.private", Text, 0, rep},
    {"/cm/localcommid", "infiniband.cm.rtu.localcommid", Number, 0, rtu},
    {"/cm/remotecommid", "infiniband.cm.rtu.remotecommid", Number, 0, rtu},
    {"/cm/private", "infiniband.cm.rtu.private", Text, 0, rtu},
    {"/cm/localcommid", "infiniband.cm.rej.localcommid", Number, 0, rej},
    {"/cm/remotecommid", "infiniband.cm.rej.remotecommid", Number, 0, rej},
    {"/cm/msgrej", "infiniband.cm.rej.msgrej", Number, 0, rej},
    {"/cm/reason", "infiniband.cm.rej.reason", Number, 0, rej},
    {"/cm/private", "infiniband.cm.rej.private", Text, 0, rej},
    {"/cm/localcommid", "infiniband.cm.dreq.localcommid", Number, 0, dreq},
    {"/cm/remotecommid", "infiniband.cm.dreq.remotecommid", Number, 0, dreq},
    {"/cm/remoteqpn", "infiniband.cm.req.remoteqpneecn", Number, 0, dreq},
    {"/cm/private", "infiniband.cm.dreq.private", Text, 0, dreq},
    {"/cm/localcommid", "infiniband.cm.drsp.localcommid", Number, 0, drep},
    {"/cm/remotecommid", "infiniband.cm.drsp.remotecommid", Number, 0, drep},
    {"/cm/private", "infiniband.cm.drsp.private", Text, 0, drep},
    {"/nvme/qid", "nvme-rdma.cmd.qid", Number, 0, "/nvme/qid"},
    {"/nvme/cmd/opc", "nvme.cmd.opc", Number, 0, "/nvme/cmd/nsid"},
    {"/nvme/cmd/fctype", "nvme.fabrics.cmd.fctype"},
    {"/nvme/cmd/fuse_op", "nvme.cmd.fuse_op", Number, 0, "/nvme/cmd/nsid"},
    {"/nvme/cmd/psdt", "nvme.cmd.psdt", Number, 0, "/nvme/cmd/nsid"},
    {"/nvme/cmd/cid", "nvme.cmd.cid", Number, 0, "/nvme/cmd/nsid"},
    {"/nvme/cmd/cid", "nvme.fabrics.cmd.cid", Number, 0, "/nvme/cmd/fctype"},
    {"/nvme/cmd/nsid", "nvme.cmd.nsid"},
    {"/nvme/cmd/sgl1/type", "nvme.cmd.sgl.type"},
    {"/nvme/cmd/sgl1/subtype", "nvme.cmd.sgl.subtype"},
    {"/nvme/cmd/sgl1/addr", "nvme.cmd.sgl1.addr"},
    {"/nvme/cmd/sgl1/len", "nvme.cmd.sgl1.len"},
    {"/nvme/cmd/sgl1/key", "nvme.cmd.sgl1.key"},
    {"/nvme/cmd/slba", "nvme.cmd.slba"},
    {"/nvme/cmd/nlb", "nvme.cmd.nlb"},
    {"/nvme/cmd/connect/recfmt", "nvme.fabrics.cmd.connect.recfmt"},
    {"/nvme/cmd/connect/qid", "nvme.fabrics.cmd.connect.qid"},
    {"/nvme/cmd/connect/sqsize", "nvme.fabrics.cmd.connect.sqsize"},
    {"/nvme/cmd/connect/cattr", "nvme.fabrics.cmd.connect.cattr"},
    {"/nvme/cmd/connect/kato", "nvme.fabrics.cmd.connect.kato"},
    {"/nvme/cmd/property/size", "nvme.fabrics.cmd.prop_get_set.attrib.size"},
    {"/nvme/cmd/property/offset", "nvme.fabrics.cmd.prop_get_set.offset"},
    {"/nvme/cqe/sqhd", "nvme.cqe.sqhd"},
    {"/nvme/cqe/sqid", "nvme.cqe.sqid"},
    {"/nvme/cqe/cid", "nvme.cqe.cid"},
    {"/nvme/cqe/status", "nvme.cqe.status"},
    {"/nvme/cqe/sc", "nvme.cqe.status.sc"},
    {"/nvme/cqe/sct", "nvme.cqe.status.sct"},
    {"/nvme/cqe/dnr", "nvme.cqe.status.dnr", Flag},
    {"/nvme/cm/recfmt", "nvme-rdma.cm.req.recfmt", Number, 0, req},
    {"/nvme/cm/qid", "nvme-rdma.cm.req.qid"},
    {"/nvme/cm/hrqsize", "nvme-rdma.cm.req.hrqsize"},
    {"/nvme/cm/hsqsize", "nvme-rdma.cm.req.hsqsize"},
    {"/nvme/cm/cntlid", "nvme-rdma.cm.req.cntlid"},
    {"/nvme/cm/recfmt", "nvme-rdma.cm.rsp.recfmt", Number, 0, rep},
    {"/nvme/cm/crqsize", "nvme-rdma.cm.rsp.crqsize"},
    {"/nvme/cm/recfmt", "nvme-rdma.cm.rej.recfmt", Number, 0, rej},
    {"/nvme/cm/status", "nvme-rdma.cm.rej.status"},
    {"/rpcrdma/xid", "rpcordma.xid"},
    {"/rpcrdma/version", "rpcordma.version"},
    {"/rpcrdma/credits", "rpcordma.flow_control"},
    {"/rpcrdma/type", "rpcordma.msg_type"},
    {"/rpcrdma/reads", "rpcordma.reads_count"},
    {"/rpcrdma/writes", "rpcordma.writes_count"},
    {"/rpcrdma/replies", "rpcordma.reply_count"},
    {"/rpcrdma/segments/0/position", "rpcordma.position"},
    {"/rpcrdma/segments/0/handle", "rpcordma.rdma_handle"},
    {"/rpcrdma/segments/0/length", "rpcordma.rdma_length"},
    {"/rpcrdma/segments/0/offset", "rpcordma.rdma_offset"},
    {"/rpcrdma/segments/1/handle", "rpcordma.rdma_handle", Number, 1},
    {"/rpcrdma/segments/1/length", "rpcordma.rdma_length", Number, 1},
    {"/rpcrdma/segments/1/offset", "rpcordma.rdma_offset", Number, 1},
    {"/rpcrdma/segments/2/handle", "rpcordma.rdma_handle", Number, 2},
    {"/rpcrdma/segments/2/length", "rpcordma.rdma_length", Number, 2},
    {"/rpcrdma/segments/2/offset", "rpcordma.rdma_offset", Number, 2},
    {"/rpc/msgtyp", "rpc.msgtyp"},
    {"/rpc/program", "rpc.program"},
    {"/rpc/programversion", "rpc.programversion"},
    {"/rpc/procedure", "rpc.procedure"},
    {"/rpc/replystat", "rpc.replystat"},
    {"/rpc/state_accept", "rpc.state_accept"},
    {"/nfs/tag", "nfs.tag", Text},
    {"/nfs/minorversion", "nfs.minorversion"},
    {"/nfs/status", "nfs.nfsstat4", Number, 0, "/nfs/status"},
    {"/nfs/ops_count", "nfs.ops.count"},
    {"/nfs/opcode", "nfs.opcode"},
    {"/iser/flags", "iser.flags"},
    {"/iser/opcode", "iser.flags.opcode"},
    {"/iser/wsv", "iser.flags.wsv", Flag},
    {"/iser/rsv", "iser.flags.rsv", Flag},
    {"/iser/write_stag", "iser.write_stag"},
    {"/iser/write_base_offset", "iser.write_base_offset"},
    {"/iser/read_stag", "iser.read_stag"},
    {"/iser/read_base_offset", "iser.read_base_offset"},
    {"/iscsi/opcode", "iscsi.opcode"},
    {"/iscsi/datasegmentlength", "iscsi.datasegmentlength"},
    {"/iscsi/initiatortasktag", "iscsi.initiatortasktag"},
});

// Headers of which an encapsulation has its own in front.
constexpr std::array<std::string_view, 5> repeated_headers{"/eth/", "/vlan/", "/ip/", "/ipv6/",
                                                           "/udp/"};
constexpr unsigned wire_max_length = 1500;

bool has(const json& packet, std::string_view pointer) {
    const json::json_pointer at{std::string(pointer)};
    return packet.contains(at) && !packet.at(at).is_null();
}

std::string as_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_request(const json& packet) {
    return has(packet, "/cm") && as_text(packet.at("cm").at("message")) == "ConnectRequest";
}

}  // namespace

std::span<const Field> fields() {
    return table;
}

bool applies(const Field& field, const json& packet) {
    if (field.when.empty())
        return true;
    if (field.when == "plain private")
        return is_request(packet) && !has(packet, "/cm/ip_cm");
    // tshark takes a request's GIDs for IPv4 addresses where the packet itself is of IPv4.
    if (field.when.ends_with(" prim"))
        return is_request(packet) && has(packet, "/ip") == field.when.starts_with("v4");
    if (field.when.starts_with("outer "))
        return has(packet, "/outer/src") && (as_text(packet.at("outer").at("src")).find(':') !=
                                             std::string::npos) == field.when.ends_with("6");
    const auto equals = field.when.find('=');
    if (equals == std::string_view::npos)
        return has(packet, field.when);
    const auto pointer = field.when.substr(0, equals);
    return has(packet, pointer) && as_text(packet.at(json::json_pointer(std::string(pointer)))) ==
                                       field.when.substr(equals + 1);
}

bool is_repeated(const Field& field, const json& packet) {
    return has(packet, "/outer") &&
           std::ranges::any_of(repeated_headers, [&](std::string_view header) {
               return field.ours.starts_with(header);
           });
}

// Of Wireshark 4.0's packet-infiniband.c. The BTH and the layers below it are compared in every
// packet.
std::string left_out(const Field& field, const json& packet) {
    constexpr std::array<std::string_view, 9> behind_the_bth{"/rdeth",     "/deth", "/reth",
                                                             "/atomiceth", "/aeth", "/atomicacketh",
                                                             "/immdt",     "/ieth", "/icrc"};
    if (field.ours == "/eth/type" && has(packet, field.ours) &&
        packet.at("eth").at("type").get<unsigned>() <= wire_max_length)
        return "an LLC frame has a length in place of an EtherType: eth.len in tshark";
    const std::string_view last = field.ours.substr(field.ours.rfind('/') + 1);
    if (field.ours.starts_with("/cm/") && (last == "flowlabel" || last == "pktrate"))
        return "ConnectRequest: tshark takes 12 bits for a path's flow label, which has 20 (IBTA "
               "volume 1, 12.6.5; Linux include/rdma/ibta_vol1_c12.h)";
    const bool is_message =
        has(packet, "/rpcrdma/type") && as_text(packet.at("rpcrdma").at("type")) == "0";
    if ((field.ours.starts_with("/rpc/") || field.ours.starts_with("/nfs/")) && !is_message)
        return "tshark joins an RPC message from the RDMA WRITEs of a chunk";
    if (field.ours == "/icrc/value" && has(packet, "/rpcrdma/writes") &&
        as_text(packet.at("rpcrdma").at("writes")) != "0")
        return "tshark does not get to the ICRC behind an RPC reply whose data are in a chunk";
    if (field.ours.starts_with("/nvme/cm/") && is_request(packet) && has(packet, "/cm/ip_cm"))
        return "tshark does not take private data apart that follow rdma_cm's header";
    constexpr std::uint64_t nvme_write = 1;
    constexpr std::uint64_t nvme_read = 2;
    if (field.ours == "/nvme/cmd/slba" || field.ours == "/nvme/cmd/nlb")
        if (has(packet, "/nvme/cmd/opc") && packet.at("nvme").at("cmd").at("opc") != nvme_write &&
            packet.at("nvme").at("cmd").at("opc") != nvme_read)
            return "tshark reads the range of blocks of an NVMe Read and Write alone";
    if (field.ours.starts_with("/nvme/") && has(packet, "/bth") &&
        as_text(packet.at("bth").at("opcode_name")).find("First") != std::string::npos)
        return "tshark does not read an NVMe capsule in a SEND of several packets";
    if (field.ours == "/icrc/value" && has(packet, "/mad") && !has(packet, "/cm"))
        return "tshark does not get to the ICRC behind a management datagram of a class it does "
               "not "
               "take apart";
    const bool is_behind = std::ranges::any_of(
        behind_the_bth, [&](std::string_view header) { return field.ours.starts_with(header); });
    if (!has(packet, "/bth") || !is_behind)
        return "";
    const auto opcode = packet.at("bth").at("opcode").get<unsigned>();
    if (opcode == 0x1c || opcode == 0x1d || opcode == 0x5c)
        return "tshark does not know FLUSH and ATOMIC WRITE (IBTA annex A19)";
    constexpr unsigned transport_shift = 5;
    switch (opcode >> transport_shift) {
        case 4:
            return "CNP: tshark does not get to the ICRC";
        case 2:
            return "RD: tshark looks for the RDETH 8 bytes behind the BTH, where it follows at "
                   "once "
                   "(IBTA volume 1, 9.3.1)";
        case 5:
            return "tshark names XRC's opcodes (IBTA annex A14), but reads nothing behind the BTH";
        default:
            return "";
    }
}

}  // namespace support
