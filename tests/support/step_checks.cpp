#include "support/step_checks.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/connection_agreement.hpp"
#include "support/tool.hpp"
#include "support/tshark.hpp"
#include "support/verdict_agreement.hpp"

namespace support {

std::set<std::uint32_t> psns_of(const runlog::Event& post) {
    std::set<std::uint32_t> psns;
    const auto first = static_cast<std::uint32_t>(post.number("psn_first").value());
    const auto last = static_cast<std::uint32_t>(post.number("psn_last").value());
    for (std::uint32_t psn = first;; psn = (psn + 1) & 0xffffff) {
        psns.insert(psn);
        if (psn == last)
            return psns;
    }
}

void expect_whole(const LabRun& run) {
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
    const auto agreement = compare_with_tshark(run.file("wire.pcapng"));
    EXPECT_EQ(agreement.mismatches, 0U) << agreement.text();
    const auto packets = tshark_packets(run.file("wire.pcapng"));
    ASSERT_FALSE(packets.empty());
    const auto verified = support::run({rocecap(), "verify", run.file("wire.pcapng")});
    EXPECT_EQ(verified.exit_code, 0) << verified.all();
    EXPECT_NE(verified.out.find("ICRC: " + std::to_string(packets.size()) + " good, 0 bad"),
              std::string::npos)
        << verified.out;
}

void expect_connections_agree(const LabRun& run) {
    expect_connections_agree(run.file("wire.pcapng"),
                             {run.file("client.jsonl"), run.file("server.jsonl")});
    expect_verdicts_agree({run.dir});
}

void expect_counted(const LabRun& run) {
    const auto& counters = run.info["hosts"]["server"]["counters"];
    std::int64_t counted = 0;
    for (const auto& [port, after] : counters["after"].items())
        for (const char* name : {"sent_pkts", "rcvd_pkts"})
            counted += after[name].get<std::int64_t>() -
                       counters["before"][port][name].get<std::int64_t>();
    EXPECT_EQ(static_cast<std::int64_t>(tshark_packets(run.file("wire.pcapng")).size()), counted);
}

void expect_nothing_lost_and_all_understood(const LabRun& run) {
    expect_counted(run);
    expect_whole(run);
    const auto packets = tshark_packets(run.file("wire.pcapng")).size();
    EXPECT_EQ(run.info["capture"]["packets"], packets);
    EXPECT_EQ(compare_with_tshark(run.file("wire.pcapng")).packets, packets);
    expect_connections_agree(run);
}

std::size_t joined_packets(const LabRun& run) {
    const std::string timeline = run.text_of("timeline.txt");
    std::smatch match;
    const std::regex joined("([0-9]+) belong to a work request");
    if (!std::regex_search(timeline, match, joined))
        return 0;
    return std::stoull(match[1]);
}

void expect_every_packet_joined(const LabRun& run) {
    const auto packets = tshark_packets(run.file("wire.pcapng"));
    const auto connected = static_cast<std::size_t>(std::ranges::count_if(
        packets, [](const TsharkPacket& packet) { return packet.dest_qpn > 1; }));
    EXPECT_GT(connected, 0U);
    EXPECT_EQ(joined_packets(run), connected) << run.text_of("timeline.txt");
}

Rows rows(const LabRun& run, const std::string& fields, const std::string& where) {
    const auto decoded = support::run(
        {rocecap(), "decode", run.file("wire.pcapng"), "--fields", fields, "--where", where});
    EXPECT_EQ(decoded.exit_code, 0) << decoded.all();
    Rows all;
    std::istringstream lines(decoded.out);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> cells;
        std::istringstream text(line);
        for (std::string cell; std::getline(text, cell, '\t');)
            cells.push_back(cell);
        all.push_back(std::move(cells));
    }
    return all;
}

Rows rows_once(const LabRun& run, const std::string& fields, const std::string& where) {
    constexpr std::ptrdiff_t of_identity = 3;
    std::set<std::vector<std::string>> seen;
    Rows once;
    for (const auto& row : rows(run, "bth.opcode,bth.destqp,bth.psn," + fields, where))
        if (seen.insert({row.begin(), row.begin() + of_identity}).second)
            once.emplace_back(row.begin() + of_identity, row.end());
    return once;
}

void expect_one_sentence(const Outcome& outcome, int exit_code, const std::string& says) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.all();
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
}

std::vector<std::string> notes(const std::vector<runlog::Event>& log, std::string_view part) {
    std::vector<std::string> found;
    for (const auto& event : LabRun::all(log, "note"))
        if (const auto text = event.text("text"); text.find(part) != std::string::npos)
            found.emplace_back(text);
    return found;
}

std::vector<std::string> statuses(const std::vector<runlog::Event>& log) {
    std::vector<std::string> all;
    for (const runlog::Event& completion : LabRun::all(log, "wc"))
        all.emplace_back(completion.text("status"));
    return all;
}

}  // namespace support
