#include "render/flow_json.hpp"

#include "render/flow_names.hpp"
#include "util/json.hpp"

namespace render {
namespace {

template <typename Value>
util::Json or_null(bool is_known, Value value) {
    return is_known ? util::Json(value) : util::Json();
}

util::Json latency_json(const flow::LatencySummary& latency) {
    if (latency.count == 0)
        return {};
    const bool has_percentiles = latency.left_out < latency.count;
    return {{"count", latency.count},
            {"p50", has_percentiles ? util::Json(latency.p50) : util::Json()},
            {"p99", has_percentiles ? util::Json(latency.p99) : util::Json()},
            {"max", latency.max},
            {"left_out", latency.left_out}};
}

util::Json messages_json(const flow::MessageCounts& counts) {
    util::Json json = util::Json::object();
    for (std::size_t kind = 0; kind < counts.size(); ++kind)
        if (counts[kind] != 0)
            json[std::string(name(static_cast<flow::MessageKind>(kind)))] = counts[kind];
    return json;
}

util::Json requests_json(const flow::Requests& requests, bool is_sequenced) {
    const bool has_packets = requests.packets != 0;
    const auto of_any = [&](auto value) { return or_null(has_packets, value); };
    const auto of_sequence = [&](auto value) {
        return or_null(has_packets && is_sequenced, value);
    };
    util::Json rkeys = util::Json::array();
    for (const std::uint32_t rkey : requests.rkeys)
        rkeys.push_back(rkey);
    return {{"packets", requests.packets},
            {"first_psn", of_any(requests.first_psn.value())},
            {"last_psn", of_any(requests.last_psn.value())},
            {"psns", of_sequence(requests.psns)},
            {"psns_per_second", of_sequence(requests.psns_per_second)},
            {"retransmitted", of_sequence(requests.repeats)},
            {"copied", of_sequence(requests.copies)},
            {"late", of_sequence(requests.late)},
            {"gaps", of_sequence(requests.gaps)},
            {"missing", of_sequence(requests.missing)},
            {"restarts", of_sequence(requests.restarts)},
            {"r_keys", rkeys},
            {"other_r_keys", requests.rkeys.others()},
            {"ack", latency_json(requests.ack)},
            {"read_first", latency_json(requests.read_first)},
            {"read_last", latency_json(requests.read_last)},
            {"unmeasured", requests.unmeasured}};
}

util::Json responses_json(const flow::Responses& responses) {
    const bool has_packets = responses.packets != 0;
    const auto of_any = [&](auto value) { return or_null(has_packets, value); };
    util::Json naks = util::Json::object();
    for (std::size_t code = 0; code < responses.naks.size(); ++code)
        if (responses.naks[code] != 0)
            naks[std::string(nak_name(code))] = responses.naks[code];
    return {{"packets", responses.packets},
            {"first_psn", of_any(responses.first_psn.value())},
            {"last_psn", of_any(responses.last_psn.value())},
            {"acks", responses.acks},
            {"counted_acks", responses.counted_acks},
            {"psns_acked", responses.psns_acked},
            {"most_acked", responses.most_acked},
            {"naks", naks},
            {"rnr_naks", responses.rnr_naks},
            {"repeated", responses.repeats},
            {"late", responses.late},
            {"gaps", responses.gaps},
            {"missing", responses.missing}};
}

util::Json direction_json(const flow::Direction& direction,
                          const flow::Conversation& conversation) {
    return {{"src", text(direction.src, conversation.network)},
            {"dst", text(direction.dst, conversation.network)},
            {"destqp", direction.dest_qpn},
            {"srcqp", direction.src_qpn ? util::Json(*direction.src_qpn) : util::Json()},
            {"packets", direction.packets},
            {"bytes", direction.wire_bytes},
            {"payload_bytes", direction.payload_bytes},
            {"first_ns", direction.first_ns},
            {"last_ns", direction.last_ns},
            {"malformed", direction.malformed},
            {"messages", messages_json(direction.messages)},
            {"requests", requests_json(direction.requests, conversation.is_sequenced)},
            {"responses", responses_json(direction.responses)},
            {"marks",
             {{"ce", direction.marks.ce},
              {"fecn", direction.marks.fecn},
              {"becn", direction.marks.becn},
              {"cnps", direction.marks.cnps}}},
            {"icrc", {{"checked", direction.icrc_checked}, {"bad", direction.icrc_bad}}}};
}

}  // namespace

util::Json flow_json(const flow::Conversation& conversation) {
    const std::string_view paired_by = name(conversation.pairing);
    util::Json json{
        {"flow", conversation.number},
        {"transport", name(conversation.transport)},
        {"network", name(conversation.network)},
        {"paired_by", paired_by.empty() ? util::Json() : util::Json(paired_by)},
        {"paired_by_guess", flow::is_guess(conversation.pairing)},
        {"path_mtu", conversation.path_mtu != 0 ? util::Json(conversation.path_mtu) : util::Json()},
        {"captured_twice", conversation.is_doubled},
        {"directions", util::Json::array()}};
    json["directions"].push_back(direction_json(conversation.forward, conversation));
    if (conversation.backward)
        json["directions"].push_back(direction_json(*conversation.backward, conversation));
    return json;
}

util::Json flow_totals_json(const flow::Totals& totals) {
    return {{"totals",
             {{"packets", totals.packets},
              {"not_roce", totals.not_roce},
              {"unreadable", totals.unreadable},
              {"malformed", totals.malformed},
              {"evicted_streams", totals.evicted_streams},
              {"evicted_packets", totals.evicted_packets},
              {"evicted_bytes", totals.evicted_bytes}}}};
}

}  // namespace render
