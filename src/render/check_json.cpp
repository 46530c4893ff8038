#include "render/check_json.hpp"

#include <fmt/format.h>

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
            {"copied", half.copied},
            {"lost", half.lost},
            {"doubled", half.doubled},
            {"reordered", half.reordered},
            {"corrupted", half.corrupted},
            {"changed", half.changed},
            {"first_psn", psn(half.first_psn)},
            {"first_psn_is_told", half.is_told},
            {"cut", half.cut},
            {"began_in_the_middle", half.began_in_the_middle},
            {"out_of_order", half.out_of_order},
            {"missing_psns", half.missing.psns},
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
                    {"seen", conformance::name(one.seen())},
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

util::Json finding_json(const conformance::Report& report, const CheckContext& context,
                        const conformance::Finding& one) {
    return {{"code", conformance::name(one.code)},
            {"frame", one.frame},
            {"connection", one.connection + 1},
            {"who", blamed(report, context, one)},
            {"section", section(one.code)},
            {"text", one.text},
            {"because", one.because}};
}

util::Json counter_json(const CounterRow& row) {
    return {{"host", row.host},
            {"counter", row.name},
            {"counted", row.counted},
            {"captured", row.captured},
            {"equal", row.is_equal()}};
}

util::Json captured_at(const conformance::Report& report, const CheckContext& context) {
    if (!report.one_point)
        return "both sides of the link";
    return report.one_point->host ? host_name(report, context, *report.one_point->host)
                                  : std::string("one place");
}

// An array, element by element: as one object, those of many connections take 4 kB each.
template <typename Element>
void write_list(const Write& write, const char* name, std::size_t count, Element element) {
    write(fmt::format(",\"{}\":[", name));
    for (std::size_t i = 0; i < count; ++i)
        write((i == 0 ? "" : ",") + element(i).dump());
    write("]");
}

}  // namespace

void check_json(const conformance::Report& report, const CheckContext& context,
                const Write& write) {
    write(fmt::format("{{\"frames\":{},\"captured_at\":{},\"not_judged\":{}", report.frames,
                      captured_at(report, context).dump(), report.not_judged));
    write_list(write, "connections", report.connections.size(),
               [&](std::size_t i) { return connection_json(report, context, i); });
    write_list(write, "recoveries", report.recoveries.size(),
               [&](std::size_t i) { return recovery_json(report.recoveries[i], context); });
    write_list(write, "deviations", report.findings.size(),
               [&](std::size_t i) { return finding_json(report, context, report.findings[i]); });
    write_list(write, "counters", context.counters.size(),
               [&](std::size_t i) { return counter_json(context.counters[i]); });
    util::Json counts = util::Json::object();
    for (const conformance::Finding& one : report.unknowable) {
        util::Json& count = counts[std::string(conformance::name(one.code))];
        count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
    }
    std::uint64_t left_out = 0;
    for (const conformance::LeftOut& more : report.left_out) {
        if (!more.is_unknowable) {
            left_out += more.count;
            continue;
        }
        util::Json& count = counts[std::string(conformance::name(more.code))];
        count = (count.is_null() ? 0 : count.get<std::uint64_t>()) + more.count;
    }
    if (left_out != 0)
        write(fmt::format(",\"deviations_left_out\":{}", left_out));
    if (report.recoveries_left_out != 0)
        write(fmt::format(",\"recoveries_left_out\":{}", report.recoveries_left_out));
    write(",\"cannot_be_judged\":" + counts.dump() + "}\n");
}

}  // namespace render
