// The connection manager's messages as JSON. Keys are Wireshark's (infiniband.cm.req.startpsn and
// so on) but for three it names differently in each message: localcommid, remotecommid and, in a
// DisconnectRequest, remoteqpn. SIDR and LAP messages, which it does not take apart, are named
// alike.
//
//   ConnectRequest     localcommid serviceid localcaguid localqkey localqpn responderres initdepth
//                      localeecn remoteeecn remoteresptout transpsvctype e2eflowctrl startpsn
//                      localresptout pkey retrcount pppmtu rdcexist rnrretrcount maxcmretr srq
//                      ext_transport prim alt port ip_cm private
//                      pppmtu is the code: 1..5 for 256..4096 bytes; port: of rdma_cm's services
//                      prim, alt: locallid remotelid localgid remotegid flowlabel pktrate tfcclass
//                      hoplim sl subnetlocal localacktout
//                      ip_cm: majv minv ipv sport sip dip
//   ConnectReply       localcommid remotecommid localqkey localqpn localeecn startpsn respres
//                      initdepth tgtackdelay failoveracc e2eflowctrl rnrretrcount srq localcaguid
//                      private
//   ReadyToUse, DisconnectReply                     localcommid remotecommid private
//   DisconnectRequest  localcommid remotecommid remoteqpn private
//   ConnectReject      localcommid remotecommid msgrej reason reason_name ari private
//   MsgRcptAck         localcommid remotecommid msgmraed servtimeout private
//   ServiceIDResReq    requestid pkey serviceid port ip_cm private
//   ServiceIDResReqResp  requestid status status_name qpn serviceid qkey private
//   LoadAlternatePath  localcommid remotecommid remoteqpn alt_localgid alt_remotegid private
//   AlternatePathResponse  localcommid remotecommid status private
#include <string>
#include <variant>

#include <fmt/format.h>

#include "util/json.hpp"
#include "wire/text/json.hpp"

namespace wire {
namespace {

std::string hex(util::Bytes bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte byte : bytes)
        fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

util::Json path_json(const CmPath& path) {
    return {{"locallid", path.local_lid},
            {"remotelid", path.remote_lid},
            {"localgid", text(path.local_gid)},
            {"remotegid", text(path.remote_gid)},
            {"flowlabel", path.flow_label},
            {"pktrate", path.packet_rate},
            {"tfcclass", path.traffic_class},
            {"hoplim", path.hop_limit},
            {"sl", path.sl},
            {"subnetlocal", path.subnet_local},
            {"localacktout", path.local_ack_timeout}};
}

// Both are there only in messages of rdma_cm's services.
template <typename Message>
void add_ip(util::Json& json, const Message& message) {
    if (message.ip_service)
        json["port"] = message.ip_service->port;
    if (const auto& ip = message.ip_cm) {
        const bool v4 = ip->ip_version == 4;
        json["ip_cm"] = {{"majv", ip->major_version},
                         {"minv", ip->minor_version},
                         {"ipv", ip->ip_version},
                         {"sport", ip->src_port},
                         {"sip", v4 ? text(ip->src_ipv4()) : text(ip->src)},
                         {"dip", v4 ? text(ip->dst_ipv4()) : text(ip->dst)}};
    }
}

template <typename Message>
util::Json comm_ids(const Message& message) {
    return {{"localcommid", message.local_comm_id}, {"remotecommid", message.remote_comm_id}};
}

struct Fields {
    util::Json operator()(std::monostate) const { return util::Json::object(); }

    util::Json operator()(const CmReq& req) const {
        util::Json json{{"localcommid", req.local_comm_id},
                        {"serviceid", req.service_id},
                        {"localcaguid", req.local_ca_guid},
                        {"localqkey", req.local_q_key},
                        {"localqpn", req.local_qpn},
                        {"responderres", req.responder_resources},
                        {"initdepth", req.initiator_depth},
                        {"localeecn", req.local_eecn},
                        {"remoteeecn", req.remote_eecn},
                        {"remoteresptout", req.remote_cm_response_timeout},
                        {"transpsvctype", req.transport_service_type},
                        {"e2eflowctrl", req.end_to_end_flow_control},
                        {"startpsn", req.starting_psn.value()},
                        {"localresptout", req.local_cm_response_timeout},
                        {"retrcount", req.retry_count},
                        {"pkey", req.p_key},
                        {"pppmtu", req.path_mtu},
                        {"rdcexist", req.rdc_exists},
                        {"rnrretrcount", req.rnr_retry_count},
                        {"maxcmretr", req.max_cm_retries},
                        {"srq", req.srq},
                        {"ext_transport", req.extended_transport},
                        {"prim", path_json(req.primary)},
                        {"alt", path_json(req.alternate)}};
        add_ip(json, req);
        return json;
    }
    util::Json operator()(const CmRep& rep) const {
        util::Json json = comm_ids(rep);
        json.update({{"localqkey", rep.local_q_key},
                     {"localqpn", rep.local_qpn},
                     {"localeecn", rep.local_eecn},
                     {"startpsn", rep.starting_psn.value()},
                     {"respres", rep.responder_resources},
                     {"initdepth", rep.initiator_depth},
                     {"tgtackdelay", rep.target_ack_delay},
                     {"failoveracc", rep.failover_accepted},
                     {"e2eflowctrl", rep.end_to_end_flow_control},
                     {"rnrretrcount", rep.rnr_retry_count},
                     {"srq", rep.srq},
                     {"localcaguid", rep.local_ca_guid}});
        return json;
    }
    util::Json operator()(const CmRej& rej) const {
        util::Json json = comm_ids(rej);
        json.update({{"msgrej", rej.message_rejected},
                     {"reason", rej.reason},
                     {"reason_name", rej.reason_name()},
                     {"ari", hex(rej.ari)}});
        return json;
    }
    util::Json operator()(const CmMra& mra) const {
        util::Json json = comm_ids(mra);
        json.update({{"msgmraed", mra.message_mraed}, {"servtimeout", mra.service_timeout}});
        return json;
    }
    util::Json operator()(const CmRtu& rtu) const { return comm_ids(rtu); }
    util::Json operator()(const CmDreq& dreq) const {
        util::Json json = comm_ids(dreq);
        json["remoteqpn"] = dreq.remote_qpn;
        return json;
    }
    util::Json operator()(const CmDrep& drep) const { return comm_ids(drep); }
    util::Json operator()(const CmSidrReq& sidr) const {
        util::Json json{
            {"requestid", sidr.request_id}, {"pkey", sidr.p_key}, {"serviceid", sidr.service_id}};
        add_ip(json, sidr);
        return json;
    }
    util::Json operator()(const CmSidrRep& sidr) const {
        return {{"requestid", sidr.request_id},      {"status", sidr.status},
                {"status_name", sidr.status_name()}, {"qpn", sidr.qpn},
                {"serviceid", sidr.service_id},      {"qkey", sidr.q_key}};
    }
    util::Json operator()(const CmLap& lap) const {
        util::Json json = comm_ids(lap);
        json.update({{"remoteqpn", lap.remote_qpn},
                     {"alt_localgid", text(lap.alternate_local_gid)},
                     {"alt_remotegid", text(lap.alternate_remote_gid)}});
        return json;
    }
    util::Json operator()(const CmApr& apr) const {
        util::Json json = comm_ids(apr);
        json["status"] = apr.status;
        return json;
    }
};

struct PrivateData {
    util::Bytes operator()(std::monostate) const { return {}; }
    template <typename Message>
    util::Bytes operator()(const Message& message) const {
        return message.private_data;
    }
};

}  // namespace

util::Json cm_json(const Cm& cm) {
    util::Json json{{"message", cm.name().empty() ? util::Json() : util::Json(cm.name())}};
    json.update(std::visit(Fields{}, cm.body));
    if (!cm.as<std::monostate>())
        json["private"] = hex(std::visit(PrivateData{}, cm.body));
    return json;
}

}  // namespace wire
