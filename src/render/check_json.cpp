#include "render/check_json.hpp"

#include "render/check_names.hpp"
#include "render/flow_names.hpp"
#include "util/json.hpp"

namespace render {
namespace {

using conformance::ConnectionReport;
using conformance::HalfReport;
using conformance::Recovery;

template <typename T>
util::Json maybe(const std::optional<T>& value) {
    return value ? util::Json(*value) : util::Json(nullptr);
}

util::Json psn(const std::optional<wire::Psn>& value) {
    return value ? util::Json(value->value()) : util::Json(nullptr);
}

util::Json half_json(const HalfReport& half) {
    return {{"requests", half.requests},
            {"responses", half.responses},
            {"repeated", half.repeated},
            {"lost", half.lost},
            {"doubled", half.doubled},
            {"reordered", half.reordered},
            {"corrupted", half.corrupted},
            {"changed", half.changed},
            {"first_psn", psn(half.first_psn)},
            {"first_psn_is_told", half.is_told},
            {"began_in_the_middle", half.began_in_the_middle},
            {"silent_since", maybe(half.silent_since)},
            {"gave_up_after", maybe(half.gave_up_after)},
            {"deviations", half.findings},
            {"cannot_be_judged", half.unknowable}};
}

util::Json connection_json(const conformance::Report& report, const CheckContext& context,
                           std::size_t index) {
    const ConnectionReport& one = report.connections[index];
    return {{"connection", index + 1},
            {"from", flow::text(one.from, one.network)},
            {"from_name", host_name(report, context, one.from)},
            {"from_qpn", maybe(one.from_qpn)},
            {"to", flow::text(one.to, one.network)},
            {"to_name", host_name(report, context, one.to)},
            {"to_qpn", maybe(one.to_qpn)},
            {"paired_by", name(one.pairing)},
            {"path_mtu", one.path_mtu},
            {"forward", half_json(one.forward)},
            {"backward", half_json(one.backward)}};
}

util::Json recovery_json(const Recovery& one, const CheckContext& context) {
    util::Json json{{"frame", one.packet.frame},
                    {"connection", one.connection + 1},
                    {"direction", one.forward ? "forward" : "backward"},
                    {"event", conformance::name(one.packet.fate)},
                    {"opcode_name", one.packet.opcode->name},
                    {"psn", one.packet.psn.value()},
                    {"is_request", one.is_request},
                    {"predicted", conformance::name(one.predicted)},
                    {"seen", conformance::name(one.seen)},
                    {"recovered", how(one)},
                    {"verdict", conformance::name(one.verdict)},
                    {"detection_ns", maybe(one.detection_ns)},
                    {"reaction_ns", maybe(one.reaction_ns)},
                    {"behind", maybe(one.behind)},
                    {"nak", maybe(one.nak)},
                    {"ended_by", maybe(one.ended_by)},
                    {"text", evidence(one)}};
    if (one.resend)
        json["resend"] = {{"frame", one.resend->first.frame},
                          {"psn_first", one.resend->first.psn.value()},
                          {"psn_last", one.resend->last_psn.value()},
                          {"packets", one.resend->packets}};
    if (const auto rule = context.rules.find(one.packet.frame); rule != context.rules.end())
        json["rule"] = rule->second;
    return json;
}

util::Json captured_at(const conformance::Report& report, const CheckContext& context) {
    if (!report.one_point)
        return "both sides of the link";
    return report.one_point->host ? host_name(report, context, *report.one_point->host)
                                  : std::string("one place");
}

}  // namespace

util::Json check_json(const conformance::Report& report, const CheckContext& context) {
    util::Json json{{"frames", report.frames},
                    {"captured_at", captured_at(report, context)},
                    {"not_judged", report.not_judged}};
    for (const char* list : {"connections", "recoveries", "deviations", "counters"})
        json[list] = util::Json::array();
    for (std::size_t i = 0; i < report.connections.size(); ++i)
        json["connections"].push_back(connection_json(report, context, i));
    for (const Recovery& one : report.recoveries)
        json["recoveries"].push_back(recovery_json(one, context));
    for (const conformance::Finding& one : report.findings)
        json["deviations"].push_back({{"code", conformance::name(one.code)},
                                      {"frame", one.frame},
                                      {"connection", one.connection + 1},
                                      {"who", blamed(report, context, one)},
                                      {"section", section(one.code)},
                                      {"text", one.text},
                                      {"because", one.because}});
    json["cannot_be_judged"] = util::Json::object();
    for (const conformance::Finding& one : report.unknowable) {
        util::Json& count = json["cannot_be_judged"][std::string(conformance::name(one.code))];
        count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
    }
    for (const CounterRow& row : context.counters)
        json["counters"].push_back({{"host", row.host},
                                    {"counter", row.name},
                                    {"counted", row.counted},
                                    {"captured", row.captured},
                                    {"equal", row.is_equal()}});
    return json;
}

}  // namespace render
