// Lesson 24 in the lab: which ranks connect to each other, in the logs and on the wire; and that no
// rank leaves a barrier before the last one has entered it.
#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lesson24_checks.hpp"
#include "support/step_checks.hpp"

namespace lesson24_test {

using support::LabRun;
using support::rows;

class Lesson24 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

// A packet of a WRITE with immediate data. flagged() returns each once, in capture order.
struct Flagged {
    std::uint64_t frame, psn, va, rkey, length, notice;
};
std::vector<Flagged> flagged(const LabRun& run, const std::string& where) {
    std::vector<Flagged> all;
    std::set<std::string> seen;
    for (const auto& row :
         rows(run, "frame,bth.psn,reth.va,reth.r_key,reth.dmalen,immdt,bth.destqp",
              "bth.opcode == 11 and " + where))
        if (seen.insert(row[1] + ' ' + row[6]).second)
            all.push_back({std::stoull(row[0]), std::stoull(row[1]),
                           std::stoull(row[2], nullptr, 0), std::stoull(row[3], nullptr, 0),
                           std::stoull(row[4]), std::stoull(row[5], nullptr, 0)});
    return all;
}
std::vector<Flagged> to_queue_pair(const LabRun& run, const std::string& address,
                                   std::uint64_t qpn) {
    return flagged(run, fmt::format("bth.destqp == {} and ip.dst == {}", qpn, address));
}
const Flagged& with_notice(const std::vector<Flagged>& all, std::uint64_t notice) {
    static const Flagged none{};
    const auto found = std::ranges::find(all, notice, &Flagged::notice);
    EXPECT_NE(found, all.end()) << fmt::format("{:#010x}", notice);
    return found == all.end() ? none : *found;
}

TEST_F(Lesson24, records_and_table_travel_by_write_and_the_flag_comes_behind_them) {
    const LabRun& run = support::plain_run("24");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
    const auto records = LabRun::all(run.server, "record");
    ASSERT_EQ(records.size(), 4U);
    const auto regions = LabRun::all(run.server, "mr");
    ASSERT_EQ(regions.size(), 5U) << "window and desk, and a slot for each other rank";
    EXPECT_EQ(regions[1].text("access").find("remote"), std::string_view::npos)
        << "the desk is nobody else's";

    std::map<std::uint64_t, std::uint64_t> to_server;  // a rank's queue pair -> rank 0's
    for (const auto& state : LabRun::all(run.client, "qp_state"))
        if (const auto dest_qpn = state.number("dest_qpn"))  // not in INIT
            to_server[state.number("qpn").value()] = *dest_qpn;
    for (const auto& place : LabRun::all(run.client, "rank")) {
        const auto rank = place.number("rank").value();
        const auto qpn = place.number("qpn").value();
        const runlog::Event& slot = regions.at(1 + rank);
        const runlog::Event& record = records.at(rank);

        const auto gathered = to_queue_pair(run, support::server_ip, to_server.at(qpn));
        const Flagged& mine = with_notice(gathered, rank << 16 | 1);
        EXPECT_EQ(mine.va, slot.number("va"));
        EXPECT_EQ(mine.rkey, slot.number("rkey"));
        EXPECT_EQ(mine.length, 128U);
        const Flagged& entry = with_notice(gathered, rank << 16 | 2);
        EXPECT_EQ(entry.va, slot.number("va").value() + 128);
        EXPECT_EQ(entry.length, 8U);
        ASSERT_EQ(gathered.size(), 6U) << "record, ready, three barriers and the end";
        for (std::size_t i = 0; i < gathered.size(); ++i)
            EXPECT_EQ(gathered[i].notice, rank << 16 | (i + 1));

        const auto published = to_queue_pair(run, support::client_ip, qpn);
        const Flagged& table = with_notice(published, 1);
        EXPECT_EQ(table.va, record.number("va"));
        EXPECT_EQ(table.rkey, record.number("rkey"));
        EXPECT_EQ(table.length, 4U * 128);
        EXPECT_GT(table.frame, mine.frame);
        ASSERT_EQ(published.size(), 6U);
        for (std::size_t i = 0; i < published.size(); ++i)
            EXPECT_EQ(published[i].notice, i + 1);
    }

    std::set<std::uint64_t> tables;
    for (const auto* log : {&run.server, &run.client})
        for (const auto& table : LabRun::all(*log, "table"))
            tables.insert(table.number("crc32").value());
    EXPECT_EQ(tables.size(), 1U) << "all four have the same one";
    EXPECT_EQ(LabRun::all(run.client, "table").size(), 3U);
}

TEST_F(Lesson24, ring_is_what_the_table_says_and_begins_after_all_are_ready) {
    const LabRun& run = support::plain_run("24");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const auto records = LabRun::all(run.server, "record");
    ASSERT_EQ(records.size(), 4U);
    std::uint64_t last_of_table = 0;
    std::uint64_t last_ready = 0;
    for (const auto& flag : flagged(run, "ip.src == " + support::server_ip))
        if (flag.notice == 1)
            last_of_table = std::max(last_of_table, flag.frame);
    for (const auto& flag : flagged(run, "ip.src == " + support::client_ip))
        if (flag.notice >> 30 == 0 && (flag.notice & 0xffff) == 2)
            last_ready = std::max(last_ready, flag.frame);
    ASSERT_GT(last_of_table, 0U);
    EXPECT_GT(last_ready, last_of_table);

    // The edges between the two machines: in the ring 0 to 1 and 3 to 0, in the second rounds 0 to
    // 2 and 2 to 0.
    struct Edge {
        std::size_t from, to;
        unsigned round;
    };
    for (const Edge& edge : {Edge{0, 1, 0}, {3, 0, 0}, {0, 2, 1}, {2, 0, 1}}) {
        const support::RankEnd out = support::ends_of(records[edge.from], "out").at(edge.round);
        const support::RankEnd in = support::ends_of(records[edge.to], "in").at(edge.round);
        const auto writes =
            to_queue_pair(run, edge.to == 0 ? support::server_ip : support::client_ip, in.qpn);
        ASSERT_EQ(writes.size(), edge.round == 0 ? 9U : 3U) << edge.from << " to " << edge.to;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            const Flagged& write = writes[i];
            EXPECT_EQ(write.psn, (out.psn + i) & 0xffffff);
            EXPECT_EQ(write.rkey, records[edge.to].number("rkey"));
            EXPECT_GT(write.frame, last_ready);
            const bool is_ring = edge.round == 0 && i < 6;
            const std::uint64_t number = is_ring ? i : i + 1 - (edge.round == 0 ? 6 : 0);
            EXPECT_EQ(write.notice, is_ring
                                        ? 1u << 31 | edge.from << 16 | number
                                        : 1u << 30 | edge.from << 16 | number << 8 | edge.round);
            EXPECT_EQ(write.length, is_ring ? 64U : 32U);
        }
    }
    for (const auto* log : {&run.server, &run.client})
        for (const auto& check : LabRun::all(*log, "check"))
            EXPECT_EQ(check.text("verdict"), "good");
    EXPECT_EQ(LabRun::all(run.client, "check").size(), 3U);
    EXPECT_EQ(LabRun::all(run.server, "check").size(), 1U);
}

TEST_F(Lesson24, nobody_leaves_a_barrier_before_the_straggler_has_entered_it) {
    const LabRun& run = support::plain_run("24");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    // The barriers: ready, three of each kind, end.
    support::expect_barriers_held({run.server, run.client}, 4, 8);
    const auto late = LabRun::all(run.client, "late");
    ASSERT_EQ(late.size(), 3U);
    for (const auto& event : late)
        EXPECT_EQ(event.number("rank"), 2U);
    // All ranks in the client's log use the same clock.
    std::size_t compared = 0;
    for (const auto& enter : LabRun::all(run.client, "enter"))
        for (const auto& leave : LabRun::all(run.client, "leave"))
            if (enter.number("rank") == 2U && leave.text("barrier") == enter.text("barrier")) {
                EXPECT_LT(enter.t_ns, leave.t_ns) << enter.text("barrier");
                ++compared;
            }
    EXPECT_EQ(compared, 8U * 3U) << "each barrier, for ranks 1 to 3";

    // Rank 2's notice for each barrier is on the wire before the release, also according to tshark.
    const auto lines =
        support::run({"tshark", "-r", run.file("wire.pcapng"), "-Y", "infiniband.bth.opcode == 11",
                      "-T", "fields", "-e", "ip.src", "-e", "infiniband.immdt"});
    ASSERT_EQ(lines.exit_code, 0) << lines.all();
    std::istringstream text(lines.out);
    std::vector<std::pair<std::string, std::uint64_t>> flags;
    for (std::string source, notice; text >> source >> notice;)
        flags.emplace_back(source, std::stoull(notice.substr(0, 8), nullptr, 16));
    for (std::uint64_t generation = 2; generation <= 6; ++generation) {
        const auto enters = std::ranges::find(
            flags, std::pair(support::client_ip, std::uint64_t{2} << 16 | generation));
        const auto leaves = std::ranges::find(flags, std::pair(support::server_ip, generation));
        ASSERT_NE(leaves, flags.end()) << generation << '\n' << lines.out;
        EXPECT_LT(enters, leaves) << generation;
    }
}

TEST_F(Lesson24, without_a_barrier_the_first_packet_is_dropped_until_its_receiver_is_ready) {
    const LabRun run = support::capture("24", {}, {"--no-barrier", "--late", "1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_every_packet_joined(run);
    const auto records = LabRun::all(run.server, "record");
    ASSERT_EQ(records.size(), 4U);
    const support::RankEnd out = support::ends_of(records[0], "out").at(0);
    const support::RankEnd in = support::ends_of(records[1], "in").at(0);
    const auto first = rows(run, "frame",
                            fmt::format("bth.destqp == {} and ip.dst == {} and bth.psn == {}",
                                        in.qpn, support::client_ip, out.psn));
    EXPECT_GE(first.size(), 3U) << "late by 300 ms, and the timeout is 67 ms";
    const auto* ring = LabRun::find(run.server, "ring");
    ASSERT_NE(ring, nullptr);
    EXPECT_GE(ring->number("took_us"), 150'000U);
    EXPECT_NE(run.text_of("timeline.txt").find("← server wr "), std::string::npos);
    EXPECT_NE(run.text_of("timeline.txt").find(", again"), std::string::npos);
}

TEST_F(Lesson24, any_number_of_ranks_meets_and_any_may_be_late) {
    for (const auto& [number, late] :
         {std::pair<unsigned, const char*>{2, "1"}, {3, "0"}, {16, "9"}}) {
        const LabRun run = support::capture(
            "24", {}, {"--ranks", std::to_string(number), "--late", late, "--barriers", "2"});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
        support::expect_barriers_held({run.server, run.client}, number, 6);
        EXPECT_EQ(LabRun::all(run.client, "check").size(), number - 1U);
        support::expect_every_packet_joined(run);
    }
}

}  // namespace lesson24_test
