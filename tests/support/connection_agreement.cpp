#include "support/connection_agreement.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "trace/explain/direction.hpp"
#include "trace/timeline/finished_run.hpp"

namespace support {
namespace {

using nlohmann::json;
using Way = std::tuple<std::string, std::string, std::uint32_t>;  // from, to, destination QPN

bool names_a_peer(const std::string& log) {
    std::ifstream file(log);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find("\"dest_qpn\"") != std::string::npos;
}

// Runs the command, which prints one JSON object per line.
std::vector<json> objects(Argv command, const std::vector<std::string>& logs) {
    command.insert(command.begin(), rocecap());
    command.emplace_back("--json");
    for (const std::string& log : logs)
        if (names_a_peer(log)) {
            command.emplace_back("--log");
            command.push_back(log);
        }
    const auto outcome = run(command);
    EXPECT_LE(outcome.exit_code, 1) << outcome.err;
    std::vector<json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(json::parse(line));
    return all;
}

// The first PSN of the direction's requests or responses; null if there are none.
json first_psn_of(const json& direction, const char* packets) {
    return direction.value(packets, json::object()).value("first_psn", json());
}

Way way_of(const json& direction) {
    return {direction["src"], direction["dst"], direction["destqp"]};
}

// In both outputs, the direction of a connection's first packet is first.
void expect_check_agrees(const std::vector<json>& flows, const json& checked) {
    std::vector<json> connections = checked["connections"];
    ASSERT_EQ(connections.size(), flows.size()) << checked;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const json& flow = flows[i];
        const json& forward = flow["directions"][0];
        const json& one = connections[i];
        EXPECT_EQ(way_of(forward), Way(one["from"], one["to"], one["to_qpn"])) << i;
        EXPECT_EQ(flow["paired_by"].is_null() ? json("") : flow["paired_by"], one["paired_by"])
            << flow;
        EXPECT_EQ(flow["path_mtu"].is_null() ? json(0) : flow["path_mtu"], one["path_mtu"]) << flow;
        if (flow["directions"].size() == 2) {
            EXPECT_EQ(flow["directions"][1]["destqp"], one["from_qpn"]) << flow;
        }
        for (std::size_t k = 0; k < flow["directions"].size(); ++k) {
            const json& half = one[k == 0 ? "forward" : "backward"];
            if (half["requests"] != 0 && !half["first_psn"].is_null()) {
                EXPECT_EQ(first_psn_of(flow["directions"][k], "requests"), half["first_psn"])
                    << flow;
            }
        }
    }
}

// If packets show a first PSN, it is that of the direction's first request or, if the sender did
// not use the PSN that it announced, that of the first response to it.
void expect_psns_agree(const std::vector<json>& flows, const std::vector<json>& psns) {
    for (const json& first : psns) {
        if (first["first_psn"].is_null() || first["readable"]["bth"].empty())
            continue;
        bool is_found = false;
        for (const json& flow : flows) {
            const json& directions = flow["directions"];
            for (std::size_t k = 0; k < directions.size(); ++k) {
                const json& to = directions[k];
                const json& back = directions[directions.size() - 1 - k];
                is_found |= to["destqp"] == first["dest_qpn"] &&
                            (first["qpn"].is_null() || to["srcqp"].is_null() ||
                             to["srcqp"] == first["qpn"]) &&
                            (first_psn_of(to, "requests") == first["first_psn"] ||
                             first_psn_of(back, "responses") == first["first_psn"]);
            }
        }
        EXPECT_TRUE(is_found) << first;
    }
}

// The queue pairs that sent a stream's packets according to the timeline.
class Senders : public timeline::RowVisitor {
  public:
    void event(const runlog::Event& /*event*/, std::int64_t /*t_ns*/,
               const timeline::WorkRequest* /*request*/) override {}
    void packet(const timeline::PacketRow& row, const wire::Packet& /*packet*/,
                const capture::Frame& /*frame*/, std::uint64_t /*number*/,
                const timeline::WorkRequest* /*request*/) override {
        if (!row.cause || !row.key || row.key->source_qpn)
            return;
        if (row.key->is_response) {
            EXPECT_EQ(row.cause->qpn, row.key->dest_qpn);
            return;
        }
        all[{row.source, row.destination, row.key->dest_qpn}].insert(row.cause->qpn);
    }

    std::map<Way, std::set<std::uint32_t>> all;
};

void expect_timeline_agrees(const std::vector<json>& flows, const std::string& capture,
                            const std::vector<std::string>& logs) {
    timeline::FinishedRun finished(timeline::trace_files(capture, logs));
    Senders senders;
    finished.each_row(senders, wire::IcrcCheck::Skip);
    std::map<Way, std::set<std::uint32_t>> expected;
    for (const json& flow : flows)
        for (const json& direction : flow["directions"])
            if (!direction["srcqp"].is_null())
                expected[way_of(direction)].insert(direction["srcqp"].get<std::uint32_t>());
    for (const auto& [way, qpns] : senders.all)
        for (const std::uint32_t qpn : qpns)
            EXPECT_TRUE(expected[way].contains(qpn))
                << qpn << " to " << std::get<2>(way) << " of " << std::get<1>(way);
}

// The queue pairs of the logs, and the rules' directions made of them and of the packets.
void expect_explain_agrees(const std::vector<json>& flows, const std::vector<json>& psns,
                           const std::string& capture, const std::vector<std::string>& paths) {
    timeline::TraceInput input(timeline::trace_files(capture, paths));
    explain::Logs logs;
    flow::Tracker tracker;
    explain::Traffic traffic;
    while (const auto event = input.next_event())
        logs.learn(*event);
    while (const auto frame = input.next_frame()) {
        const wire::Packet packet = capture::decode(*frame);
        const std::uint64_t stream = tracker.add(frame->time, packet, frame->original_length);
        traffic.add(frame->number, frame->time.count(), packet, stream, frame->bytes);
    }
    tracker.finish();
    traffic.settle(tracker);
    for (const explain::Direction& one : explain::directions_of(traffic, logs)) {
        if (one.stream == nullptr || one.requester == nullptr || !one.is_reliable())
            continue;
        const auto& key = one.stream->key;
        const Way way{flow::text(key.src), flow::text(key.dst), key.dest_qpn};
        bool is_found = false;
        for (const json& flow : flows)
            for (const json& direction : flow["directions"])
                is_found |= way_of(direction) == way && direction["srcqp"] == one.requester->qpn &&
                            (one.path_mtu == 0 || flow["path_mtu"] == one.path_mtu);
        EXPECT_TRUE(is_found) << one.where();
    }
    for (const json& first : psns)
        for (const explain::LoggedQueuePair& pair : logs.queue_pairs())
            if (first["from"] == json(pair.role) && pair.qpn == first["qpn"] && pair.sq_psn &&
                pair.dest_qpn == first["dest_qpn"] && logs.find(pair.role, pair.qpn).size() == 1) {
                EXPECT_EQ(pair.sq_psn->value(), first["first_psn"]) << first;
            }
}

}  // namespace

std::size_t expect_connections_agree(const std::string& capture,
                                     const std::vector<std::string>& logs) {
    SCOPED_TRACE(capture);
    std::vector<json> flows = objects({"flows", capture}, logs);
    std::erase_if(flows, [](const json& one) {
        return !one.contains("flow") || one["transport"] == "UD" || one["transport"] == "CNP";
    });
    const auto psns = objects({"psns", capture}, logs);
    expect_psns_agree(flows, psns);
    if (!logs.empty()) {
        expect_timeline_agrees(flows, capture, logs);
        expect_explain_agrees(flows, psns, capture, logs);
    }
    std::erase_if(flows, [](const json& one) { return one["transport"] != "RC"; });
    if (!flows.empty())
        expect_check_agrees(flows, objects({"check", capture}, logs).at(0));
    return flows.size();
}

}  // namespace support
