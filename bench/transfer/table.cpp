#include "bench/transfer/table.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "util/error.hpp"

namespace bench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view begin_mark = "<!-- make bench: begin -->\n";
constexpr std::string_view end_mark = "<!-- make bench: end -->\n";

Row& row_of(Transfers& transfers, const std::string& test, const std::string& way,
            std::uint64_t size) {
    const auto found = std::ranges::find_if(transfers.rows, [&](const Row& row) {
        return row.test == test && row.way == way && row.size == size;
    });
    if (found != transfers.rows.end())
        return *found;
    transfers.rows.emplace_back();
    transfers.rows.back().test = test;
    transfers.rows.back().way = way;
    transfers.rows.back().size = size;
    return transfers.rows.back();
}

void take(Transfers& transfers, const Json& line) {
    if (line.contains("machine")) {
        transfers.machine = line.at("machine");
        return;
    }
    const auto size = line.at("size").get<std::uint64_t>();
    Row& row = row_of(transfers, line.at("test"), line.at("way"), size);
    const double value = line.at(row.is_latency() ? "p50_ns" : "bytes_per_s");
    if (line.at("tool") != "ours") {
        row.peer.push_back(value);
        return;
    }
    row.ours.push_back(value);
    const double bytes = static_cast<double>(size) * line.at("iterations").get<double>();
    row.client_ns_a_byte.push_back(line.at("client_busy_ns").get<double>() / bytes);
    row.server_ns_a_byte.push_back(line.at("server_busy_ns").get<double>() / bytes);
}

double median(const std::vector<double>& values) {
    return percentile(values, 50);
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t unit = 1024;
    if (bytes >= unit * unit && bytes % (unit * unit) == 0)
        return fmt::format("{} MiB", bytes / unit / unit);
    if (bytes >= unit && bytes % unit == 0)
        return fmt::format("{} KiB", bytes / unit);
    return fmt::format("{} B", bytes);
}

std::string value_text(const Row& row, const std::vector<double>& values) {
    constexpr double mebi = 1 << 20;
    constexpr double ns_in_us = 1000;
    if (values.empty())
        return "";
    return row.is_latency() ? fmt::format("{:.1f} us", median(values) / ns_in_us)
                            : fmt::format("{:.2f} MiB/s", median(values) / mebi);
}

std::string ratio_text(const Row& row) {
    if (row.peer.empty())
        return "";
    const Spread spread = row.ratio();
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", spread.median, spread.q1, spread.q3);
}

std::string_view peer_name(const Row& row) {
    if (row.peer.empty())
        return "";
    return row.is_tcp() ? "iperf3" : "perftest";
}

// The two halves of the repeats must agree to two digits; more are not reproducible.
std::string_view verdict(const Row& row) {
    if (row.peer.empty())
        return "";
    constexpr double half_a_digit = 0.005;
    const Spread ratio = row.ratio();
    if (ratio.q1 <= 1 + half_a_digit && ratio.q3 >= 1 - half_a_digit)
        return "no difference";
    return (ratio.median > 1) == row.is_latency() ? "slower" : "faster";
}

// CPU time per byte, RDMA's over TCP's, in the largest bandwidth measurements of the programs that
// sleep while they wait.
struct Cost {
    const Row* row;
    double client, server;
    double over_tcp;  // of both machines together; 0 if TCP was not measured
};

std::vector<Cost> costs(const Transfers& transfers) {
    constexpr std::uint64_t least = std::uint64_t{64} * 1024;
    std::vector<Cost> all;
    double tcp = 0;
    for (const Row& row : transfers.rows)
        if (row.is_tcp())
            tcp = median(row.client_ns_a_byte) + median(row.server_ns_a_byte);
    for (const Row& row : transfers.rows)
        if (row.is_tcp() || (row.way == "events" && row.size >= least)) {
            const double client = median(row.client_ns_a_byte);
            const double server = median(row.server_ns_a_byte);
            all.push_back({&row, client, server, tcp > 0 ? (client + server) / tcp : 0});
        }
    return all;
}

}  // namespace

Transfers read_transfers(std::istream& lines) {
    Transfers transfers;
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number)
        try {
            take(transfers, Json::parse(line));
        } catch (const Json::exception&) {
            throw util::Error(fmt::format(
                "line {} is not a result of bench/transfer/run: measure again.", number));
        }
    for (const Row& row : transfers.rows)
        if (row.ours.empty() || (!row.peer.empty() && row.ours.size() != row.peer.size()))
            throw util::Error(
                fmt::format("{} of {} was not measured as often on both sides: measure again.",
                            row.test, size_text(row.size)));
    return transfers;
}

std::string table(const Transfers& transfers) {
    constexpr std::string_view line = "{:<10}{:<7}{:>8}{:>14}{:>14}  {:<9}{:<21}{}\n";
    std::string text = fmt::format(
        "medians of {} repeats, in turns; ours over the peer's repeat by repeat: median (half of "
        "them)\n",
        transfers.repeats());
    text += fmt::format(line, "", "", "message", "ours", "peer", "", "ours over peer", "ours is");
    for (const Row& row : transfers.rows)
        text +=
            fmt::format(line, row.test, row.way, size_text(row.size), value_text(row, row.ours),
                        value_text(row, row.peer), peer_name(row), ratio_text(row), verdict(row));
    text += "\nCPU time per byte, ns, of the whole machine\n";
    text += fmt::format("{:<10}{:>8}{:>16}{:>16}  {}\n", "", "message", "client", "server",
                        "both, over TCP's");
    for (const Cost& cost : costs(transfers))
        text += fmt::format("{:<10}{:>8}{:>16.2f}{:>16.2f}  {:.2f}\n", cost.row->test,
                            size_text(cost.row->size), cost.client, cost.server, cost.over_tcp);
    return text;
}

std::string markdown(const Transfers& transfers) {
    const auto fact = [&](const char* name) {
        const Json value = transfers.machine.value(name, Json("?"));
        return value.is_string() ? value.get<std::string>() : value.dump();
    };
    std::string text = fmt::format(
        "Measured on {}: {}, on a host with {} CPUs; perftest {}, iperf3 {}. Medians of {} "
        "repeats.\n\n"
        "| test | way | message | ours | peer's | | ours over peer's (half of the repeats) | ours "
        "is |\n"
        "|---|---|---:|---:|---:|---|---|---|\n",
        fact("date"), fact("machines"), fact("host_processors"), fact("perftest"), fact("iperf3"),
        transfers.repeats());
    for (const Row& row : transfers.rows)
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", row.test, row.way,
                        size_text(row.size), value_text(row, row.ours), value_text(row, row.peer),
                        peer_name(row), ratio_text(row), verdict(row));
    text +=
        "\n| CPU time per byte | message | client | server | both, over TCP's |\n"
        "|---|---:|---:|---:|---:|\n";
    for (const Cost& cost : costs(transfers))
        text += fmt::format("| {} | {} | {:.2f} ns | {:.2f} ns | {:.2f} |\n", cost.row->test,
                            size_text(cost.row->size), cost.client, cost.server, cost.over_tcp);
    return text;
}

nlohmann::ordered_json json(const Transfers& transfers) {
    nlohmann::ordered_json all{{"machine", transfers.machine}, {"repeats", transfers.repeats()}};
    for (const Row& row : transfers.rows) {
        nlohmann::ordered_json figures{{"test", row.test},
                                       {"way", row.way},
                                       {"size", row.size},
                                       {"unit", row.is_latency() ? "ns, p50" : "bytes/s"},
                                       {"ours", row.ours},
                                       {"client_ns_a_byte", row.client_ns_a_byte},
                                       {"server_ns_a_byte", row.server_ns_a_byte}};
        if (!row.peer.empty()) {
            const Spread spread = row.ratio();
            figures["peer_name"] = peer_name(row);
            figures["peer"] = row.peer;
            figures["ratio"] = {{"q1", spread.q1}, {"median", spread.median}, {"q3", spread.q3}};
        }
        all["rows"].push_back(std::move(figures));
    }
    return all;
}

std::string replace_section(const std::string& document, const std::string& section) {
    const std::size_t begin = document.find(begin_mark);
    const std::size_t end = document.find(end_mark);
    if (begin == std::string::npos || end == std::string::npos || end < begin)
        throw util::Error(
            "the document lacks the lines '<!-- make bench: begin -->' and '<!-- make bench: end "
            "-->', between which the results belong.");
    return document.substr(0, begin + begin_mark.size()) + section + document.substr(end);
}

}  // namespace bench
