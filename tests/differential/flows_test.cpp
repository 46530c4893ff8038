// The counts of rocecap flows, compared with counts of tshark's fields.
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/traffic.hpp"
#include "differential/made_capture.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"

namespace {

using differential::MadeCapture;
using nlohmann::json;

constexpr std::uint32_t circle = 1U << 24;
constexpr std::uint32_t path_mtu = 256;  // of the synthetic traffic

/// All packets of one sender to one queue pair.
struct Counts {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t ce = 0;
    std::uint64_t cnps = 0;
    std::uint64_t acks = 0;
    std::uint64_t rnr_naks = 0;
    std::map<std::string, std::uint64_t> naks;
    // The requests of a connection.
    std::uint64_t requests = 0;
    std::uint32_t first_psn = 0;
    std::uint32_t last_psn = 0;

    bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& one) {
    out << one.packets << " packets, " << one.bytes << " bytes, " << one.ce << " CE, " << one.cnps
        << " CNPs, " << one.acks << " ACKs, " << one.rnr_naks << " RNR NAKs, " << one.requests
        << " requests " << one.first_psn << " to " << one.last_psn;
    for (const auto& [name, count] : one.naks)
        out << ", " << count << ' ' << name;
    return out;
}

using Key = std::string;  // source, destination, queue pair
using AllCounts = std::map<Key, Counts>;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);)
        parts.push_back(part);
    return parts;
}

std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

void count_answer(Counts& counts, std::uint32_t opcode, std::uint32_t syndrome) {
    constexpr std::uint32_t acknowledge = 0x11;
    constexpr std::array names{"PSN Sequence Error", "Invalid Request", "Remote Access Error",
                               "Remote Operational Error"};
    if (opcode != acknowledge)
        return;
    counts.acks += syndrome >> 5 == 0;
    counts.rnr_naks += syndrome >> 5 == 1;
    if (syndrome >> 5 == 3)
        ++counts.naks[names.at(syndrome & 31U)];
}

// RC opcodes below 0x0d and from 0x13 on are requests.
void count_request(Counts& counts, std::uint32_t opcode, std::uint32_t psn, std::uint32_t dmalen) {
    if (opcode >= 0x20 || (opcode >= 0x0d && opcode <= 0x12))
        return;
    constexpr std::uint32_t read_request = 0x0c;
    const std::uint32_t psns =
        opcode == read_request ? std::max(1U, (dmalen + path_mtu - 1) / path_mtu) : 1;
    const std::uint32_t last = (psn + psns - 1) % circle;
    if (counts.requests++ == 0) {
        counts.first_psn = psn;
        counts.last_psn = last;
    } else if ((last - counts.last_psn) % circle < circle / 2) {
        counts.last_psn = last;
    }
}

AllCounts counts_of_tshark(const std::string& capture) {
    support::Argv argv{"tshark", "-n",           "-r", capture,        "-T", "fields",
                       "-E",     "separator=/t", "-E", "occurrence=f", "-Y", "infiniband.bth"};
    for (const char* field :
         {"ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "infiniband.bth.destqp", "frame.len",
          "ip.dsfield.ecn", "ipv6.tclass.ecn", "infiniband.bth.opcode", "infiniband.bth.psn",
          "infiniband.reth.dmalen", "infiniband.aeth.syndrome"})
        argv.insert(argv.end(), {"-e", field});
    const auto outcome = support::run(argv, {}, std::chrono::minutes(3));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    AllCounts all;
    for (const std::string& row : split(outcome.out, '\n')) {
        auto cells = split(row, '\t');
        cells.resize(12);
        const std::uint32_t opcode = number(cells[8]);
        Counts& counts = all[cells[0] + cells[1] + " to " + cells[2] + cells[3] + " qp " +
                             std::to_string(number(cells[4]))];
        ++counts.packets;
        counts.bytes += number(cells[5]);
        counts.ce += number(cells[6]) + number(cells[7]) == 3;
        counts.cnps += opcode == 0x81;
        count_answer(counts, opcode, number(cells[11]));
        count_request(counts, opcode, number(cells[9]), number(cells[10]));
    }
    return all;
}

void add(Counts& counts, const json& direction, bool is_rc) {
    const json& responses = direction["responses"];
    const json& requests = direction["requests"];
    counts.packets += direction["packets"].get<std::uint64_t>();
    counts.bytes += direction["bytes"].get<std::uint64_t>();
    counts.ce += direction["marks"]["ce"].get<std::uint64_t>();
    counts.cnps += direction["marks"]["cnps"].get<std::uint64_t>();
    counts.acks += responses.value("acks", std::uint64_t{0});
    counts.rnr_naks += responses.value("rnr_naks", std::uint64_t{0});
    const json naks = responses.value("naks", json::object());
    for (const auto& [name, count] : naks.items())
        counts.naks[name] += count.get<std::uint64_t>();
    if (!is_rc || requests["packets"] == 0)
        return;
    counts.requests += requests["packets"].get<std::uint64_t>();
    counts.first_psn = requests["first_psn"].get<std::uint32_t>();
    counts.last_psn = requests["last_psn"].get<std::uint32_t>();
}

AllCounts counts_of_rocecap(const std::string& capture) {
    const auto outcome = support::run({support::rocecap(), "flows", "--json", capture});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    AllCounts all;
    for (const std::string& line : split(outcome.out, '\n')) {
        const json one = json::parse(line);
        for (const json& direction : one.value("directions", json::array()))
            if (direction["packets"] != 0)
                add(all[direction["src"].get<std::string>() + " to " +
                        direction["dst"].get<std::string>() + " qp " + direction["destqp"].dump()],
                    direction, one["transport"] == "RC");
    }
    return all;
}

TEST(Flows, count_what_tshark_sees) {
    constexpr int packets = 60'000;
    constexpr unsigned connections = 40;
    MadeCapture capture("flows");
    bench::Traffic traffic(connections);
    for (int i = 0; i < packets; ++i)
        capture.add(traffic.next().bytes);
    const AllCounts ours = counts_of_rocecap(capture.path());
    const AllCounts theirs = counts_of_tshark(capture.path());
    EXPECT_EQ(ours.size(), theirs.size());
    Counts sum;
    for (const auto& [key, counts] : theirs) {
        ASSERT_TRUE(ours.contains(key)) << key;
        EXPECT_EQ(ours.at(key), counts) << key;
        sum.packets += counts.packets;
        sum.ce += counts.ce;
        sum.cnps += counts.cnps;
        sum.rnr_naks += counts.rnr_naks;
        for (const auto& [name, count] : counts.naks)
            sum.naks[name] += count;
    }
    std::printf("%zu directions compared, %llu packets\n", theirs.size(),
                static_cast<unsigned long long>(sum.packets));
    EXPECT_GE(theirs.size(), 2U * connections);
    // The capture contains all that is compared.
    EXPECT_GT(sum.ce, 0U);
    EXPECT_GT(sum.cnps, 0U);
    EXPECT_GT(sum.rnr_naks, 0U);
    EXPECT_GT(sum.naks["PSN Sequence Error"], 0U);
}

}  // namespace
