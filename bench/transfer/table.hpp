// Reads the results of bench/transfer/run, compares them with the peers', and prints them.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/statistics.hpp"

namespace bench {

/// One measurement's figures, in the order of the repeats. Bandwidths in bytes per second,
/// latencies (p50) in nanoseconds.
struct Row {
    std::string test;
    std::string way;         ///< as bench/transfer/run names it: "single", "lists", "events"; "-"
    std::uint64_t size = 0;  ///< bytes of a message
    std::vector<double> ours;
    std::vector<double> peer;  ///< perftest's, or iperf3's; empty if it cannot do this
    /// Our CPU time per byte on each machine, in nanoseconds.
    std::vector<double> client_ns_a_byte;
    std::vector<double> server_ns_a_byte;

    bool is_latency() const { return test.ends_with("_lat"); }
    bool is_tcp() const { return test == "tcp"; }
    /// Ours over the peer's, repeat by repeat. Requires a peer.
    Spread ratio() const { return ratios(ours, peer); }
};

struct Transfers {
    nlohmann::json machine;
    std::vector<Row> rows;

    std::size_t repeats() const { return rows.empty() ? 0 : rows.front().ours.size(); }
};

/// Lines of JSON. Throws util::Error naming the line if one is invalid, or the sides of a row
/// differ.
Transfers read_transfers(std::istream& lines);

/// At most 100 columns.
std::string table(const Transfers& transfers);
/// The same for a document.
std::string markdown(const Transfers& transfers);
nlohmann::ordered_json json(const Transfers& transfers);

/// `document` with the text between its two marks replaced. Throws util::Error if they are missing.
std::string replace_section(const std::string& document, const std::string& section);

}  // namespace bench
