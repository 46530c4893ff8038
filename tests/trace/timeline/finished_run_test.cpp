#include "trace/timeline/finished_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/synthetic_run.hpp"
#include "support/run_rows.hpp"
#include "support/temp_path.hpp"
#include "tools/rocecap/synthetic_run.hpp"
#include "trace/timeline/first_psn_search.hpp"
#include "trace/timeline/timeline.hpp"

namespace finished_run_test {

using namespace std::chrono_literals;
using bench::RunShape;
using support::rows_of;
using support::RunRow;
using timeline::FinishedRun;
using timeline::PacketRow;
using timeline::WorkRequest;

std::string text(std::int64_t t_ns, const runlog::Event& event) {
    return fmt::format("{} {}", t_ns, runlog::to_json(event));
}

std::string text(const PacketRow& row) {
    std::string text = fmt::format("{} {} to {}", row.t_ns, row.source, row.destination);
    if (const auto& cause = row.cause)
        text += fmt::format(": {} QP {} wr {} {} {} B, {} of {}, posted {}, {} {}", cause->role,
                            cause->qpn, cause->wr_id, cause->opcode, cause->length, cause->packet,
                            cause->packets, cause->posted_ns, cause->is_response,
                            static_cast<int>(cause->seen));
    if (const auto& set_up = row.set_up)
        text += fmt::format(": {} {} {}", static_cast<int>(set_up->by), set_up->role,
                            set_up->qpn.value_or(0));
    return text;
}

std::vector<std::string> texts_of(FinishedRun& run) {
    std::vector<std::string> all;
    for (const RunRow& row : rows_of(run))
        all.push_back(row.event ? text(row.t_ns, *row.event) : text(row.packet));
    return all;
}

// Returns the rows of a live timeline that holds all rows and returns them at once.
std::vector<std::string> live_texts_of(const std::string& path) {
    timeline::TraceInput directory(timeline::trace_files(path));
    timeline::Timeline live(directory.files().info.offsets, "server");
    while (true) {
        auto item = directory.next();
        if (std::holds_alternative<std::monostate>(item))
            break;
        if (auto* event = std::get_if<runlog::Event>(&item)) {
            live.add(std::move(*event), {});
        } else {
            const auto& frame = std::get<capture::Frame>(item);
            live.add(timeline::row_of(capture::decode(frame), frame.bytes, frame.time.count(), {}),
                     {});
        }
    }
    std::vector<std::string> all;
    for (const timeline::Row& row : live.take({})) {
        const auto* event = std::get_if<runlog::Event>(&row.what);
        all.push_back(event != nullptr ? text(row.t_ns, *event)
                                       : text(std::get<PacketRow>(row.what)));
    }
    return all;
}

class FinishedRunTest : public testing::Test {
  protected:
    std::string path_of(const RunShape& shape) const {
        bench::make_synthetic_run(temp_.str(), shape);
        return temp_.str();
    }
    std::string capture() const { return temp_.str() + "/wire.pcapng"; }

    support::TempPath temp_{"finished_run"};
};

TEST_F(FinishedRunTest, gives_the_rows_that_a_timeline_of_the_same_run_gives) {
    for (const RunShape& shape :
         {RunShape{.packets = 3000}, RunShape{.packets = 3000, .client_ahead = 7s},
          RunShape{.packets = 3000, .client_ahead = -50ms, .measured_ahead = -49ms},
          RunShape{.packets = 3000, .hides_psns = true}, RunShape{.packets = 3000, .wr_ids = 1}}) {
        const std::string path = path_of(shape);
        FinishedRun run(path);
        EXPECT_EQ(texts_of(run), live_texts_of(path));
    }
}

TEST_F(FinishedRunTest, joins_all_packets_of_a_log_that_hides_its_psns) {
    FinishedRun run(path_of({.packets = 20'000, .hides_psns = true}));
    EXPECT_GE(run.joins().packets, 20'000U);
    EXPECT_EQ(run.joins().joined, run.joins().packets);
    for (const RunRow& row : rows_of(run))
        ASSERT_TRUE(row.event || row.request != nullptr) << row.number;
}

// If the first packets were lost, the packets are joined to the same work requests, whether or not
// the log hides the PSNs.
TEST_F(FinishedRunTest, finds_the_first_psn_also_where_the_first_packets_were_lost) {
    for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U})
        for (const unsigned lost : {1U, 2U, 5U}) {
            SCOPED_TRACE(fmt::format("seed {}, {} lost", seed, lost));
            const auto packets = [&](bool hides) {
                FinishedRun run(path_of(
                    {.packets = 300, .lost_first = lost, .hides_psns = hides, .seed = seed}));
                EXPECT_EQ(run.joins().joined, run.joins().packets);
                std::vector<std::string> all;
                for (const RunRow& row : rows_of(run))
                    if (!row.event)
                        all.push_back(text(row.packet));
                return all;
            };
            EXPECT_EQ(packets(true), packets(false));
        }
}

TEST_F(FinishedRunTest, names_the_work_request_of_each_post_packet_and_completion) {
    FinishedRun run(path_of({.packets = 2000}));
    const auto requests = run.work_requests();
    const std::set<const WorkRequest*> known(requests.begin(), requests.end());
    std::set<const WorkRequest*> posted, passed, completed;
    for (const RunRow& row : rows_of(run)) {
        if (row.request == nullptr) {
            EXPECT_TRUE(row.event && !row.is("post_send") && !row.is("wc")) << row.number;
            continue;
        }
        EXPECT_TRUE(known.contains(row.request));
        if (row.event)
            EXPECT_EQ(row.event->number("wr_id"), row.request->wr_id);
        else
            EXPECT_EQ(row.packet.cause->wr_id, row.request->wr_id);
        (row.is("post_send") ? posted : row.is("wc") ? completed : passed).insert(row.request);
    }
    EXPECT_EQ(posted, known);
    EXPECT_EQ(passed, known);
    EXPECT_EQ(completed, known);
}

TEST_F(FinishedRunTest, a_receives_completion_belongs_to_no_work_request) {
    const std::string path = path_of({.packets = 10});
    std::ofstream(path + "/client.jsonl", std::ios::app)
        << runlog::to_json({1, "client", "wc", {{"qpn", 0x12U}, {"wr_id", 1U}, {"opcode", "RECV"}}})
        << "\n";
    FinishedRun run(path);
    EXPECT_EQ(rows_of(run).front().request, nullptr);
    EXPECT_EQ(rows_of(run).front().event->text("opcode"), "RECV");
}

TEST_F(FinishedRunTest, effects_follow_their_causes_whatever_the_clocks_say) {
    for (const auto ahead : {-3600s, -1s, 0s, 1s, 3600s})
        for (const std::int64_t error_ns : {-100'000'000, -30'000, 0, 30'000, 100'000'000}) {
            const std::chrono::nanoseconds error(error_ns);
            FinishedRun run(path_of({.packets = 5000,
                                     .client_ahead = ahead,
                                     .measured_ahead = ahead + error,
                                     .hides_psns = error == 30us}));
            SCOPED_TRACE(fmt::format("{} s ahead, {} ns off", ahead.count(), error.count()));
            support::expect_effects_after_causes(run);
        }
}

TEST_F(FinishedRunTest, effects_follow_their_causes_where_wr_ids_are_used_again) {
    for (const std::int64_t error_ns : {-100'000'000, 100'000'000}) {
        FinishedRun run(path_of(
            {.packets = 5000, .measured_ahead = std::chrono::nanoseconds(error_ns), .wr_ids = 1}));
        SCOPED_TRACE(fmt::format("{} ns off", error_ns));
        support::expect_effects_after_causes(run);
    }
}

// What one pass over a run saw beside the join.
class Witness : public timeline::FirstPass {
  public:
    void begin(const FinishedRun& run) override {
        run.each_logged_event([this](const runlog::Event&) { ++events; });
    }
    void packet(const PacketRow& row, const wire::Packet& /*packet*/,
                const capture::Frame& frame) override {
        EXPECT_EQ(row.t_ns, frame.time.count());
        EXPECT_FALSE(row.has_cause());
        numbers.push_back(frame.number);
    }

    std::size_t events = 0;
    std::vector<std::uint64_t> numbers;
};

// Also where the first PSNs that it assumed were wrong, and where packets are joined later.
TEST_F(FinishedRunTest, its_first_pass_shows_each_packet_once) {
    for (const RunShape& shape : {RunShape{.packets = 300},
                                  RunShape{.packets = 300, .lost_first = 2, .hides_psns = true}}) {
        Witness witness;
        FinishedRun run(timeline::trace_files(path_of(shape)), &witness);
        EXPECT_EQ(witness.numbers.size(), run.joins().packets);
        EXPECT_TRUE(std::ranges::is_sorted(witness.numbers, std::less_equal<>()));
        EXPECT_EQ(run.decoded(), run.joins().packets);
        std::size_t events = 0;
        std::int64_t last = 0;
        run.each_event([&](const runlog::Event&, std::int64_t t_ns) {
            EXPECT_LE(last, t_ns);
            last = t_ns;
            ++events;
        });
        EXPECT_EQ(witness.events, events);
    }
}

TEST_F(FinishedRunTest, frames_have_the_causes_of_the_rows) {
    FinishedRun run(path_of({.packets = 300, .lost_first = 2, .hides_psns = true}));
    std::vector<std::optional<timeline::PostedRequest>> causes, frames;
    for (const RunRow& row : rows_of(run))
        if (!row.event)
            causes.push_back(row.packet.cause);
    run.each_frame(
        [&](const capture::Frame&, const PacketRow& row) { frames.push_back(row.cause); });
    EXPECT_EQ(frames, causes);
}

TEST_F(FinishedRunTest, decodes_each_packet_to_join_it_and_again_only_for_rows) {
    FinishedRun run(path_of({.packets = 300}));
    const std::uint64_t packets = run.joins().packets;
    run.each_frame([](const capture::Frame&, const PacketRow&) {});
    EXPECT_EQ(run.decoded(), packets);
    rows_of(run);
    EXPECT_EQ(run.decoded(), 2 * packets);

    timeline::TraceInput input(timeline::trace_files(run.files().name));
    EXPECT_EQ(timeline::first_psns(input).packets, packets);
    EXPECT_EQ(input.decoded(), packets);
}

TEST_F(FinishedRunTest, can_be_gone_through_again) {
    FinishedRun run(path_of({.packets = 500}));
    EXPECT_EQ(texts_of(run), texts_of(run));
}

TEST_F(FinishedRunTest, a_packet_that_comes_after_the_first_pass_is_not_shown) {
    RunShape shape{.packets = 1000};
    const std::string path = path_of(shape);
    support::TempPath longer("longer_run");
    shape.packets = 1200;
    bench::make_synthetic_run(longer.str(), shape);

    FinishedRun run(path);
    const auto before = texts_of(run);
    // Appends more packets to the same capture.
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(capture()));
    std::ifstream more(longer.str() + "/wire.pcapng", std::ios::binary);
    more.seekg(size);
    std::ofstream(capture(), std::ios::app | std::ios::binary) << more.rdbuf();
    EXPECT_EQ(texts_of(run), before);
    EXPECT_GE(FinishedRun(path).joins().packets, 1200U);
}

TEST_F(FinishedRunTest, a_capture_that_breaks_off_gives_its_whole_packets) {
    const std::string path = path_of({.packets = 300});
    const auto whole = FinishedRun(path).joins().packets;
    std::filesystem::resize_file(capture(), std::filesystem::file_size(capture()) - 10);
    FinishedRun run(path);
    EXPECT_NE(run.capture_damage().find("ends inside the block"), std::string::npos);
    EXPECT_EQ(run.joins().packets, whole - 1);
    EXPECT_EQ(texts_of(run), live_texts_of(path));
    EXPECT_NE(run.capture_damage().find("ends inside the block"), std::string::npos);
}

TEST_F(FinishedRunTest, a_run_without_a_capture_has_its_events) {
    const std::string path = path_of({.packets = 300, .client_ahead = 5ms, .measured_ahead = 5ms});
    std::filesystem::remove(capture());
    std::ofstream(path + "/server.jsonl", std::ios::app) << "what?\n";
    FinishedRun run(path);
    EXPECT_FALSE(run.has_capture());
    EXPECT_EQ(run.capture_damage(), "");
    EXPECT_EQ(run.skipped_lines(), 1U);
    EXPECT_EQ(run.shift_of("client"), -5'000'000);
    EXPECT_EQ(run.info().step, "made");
    const auto all = texts_of(run);
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(all, live_texts_of(path));
}

TEST_F(FinishedRunTest, a_capture_without_packets_is_a_capture) {
    FinishedRun run(path_of({.packets = 0}));
    EXPECT_TRUE(run.has_capture());
    rows_of(run);
    EXPECT_TRUE(run.has_capture());
    EXPECT_EQ(run.capture_damage(), "");
}

TEST(FinishedRun, what_a_later_packet_tells_is_used_for_an_earlier_one) {
    rocecap_test::SyntheticRun made("told_later");
    made.log("server", "ready", {{"port", 18515U}});
    made.log_states("secret", "secret");
    made.log("client", "post_send",
             {{"qpn", 0x12U},
              {"wr_id", 1U},
              {"opcode", "RDMA_WRITE"},
              {"psn_offset_first", 0U},
              {"psn_offset_last", 0U}});
    made.tcp({});
    made.packet(0x11, 0x0deeed, true);
    made.packet(0x0a, 0x0deeed);
    made.packet(0x0a, 0x123456);
    made.keep_capture();
    FinishedRun run(made.path());
    EXPECT_EQ(run.joins().joined, 2U);
    EXPECT_EQ(run.joins().set_up, 1U);
    EXPECT_EQ(run.joins().causeless(), 1U);
    EXPECT_EQ(texts_of(run), live_texts_of(made.path()));
}

TEST(FinishedRun, at_the_same_time_the_post_comes_first_then_its_packet_then_the_completion) {
    rocecap_test::SyntheticRun made("equal_times");
    made.log_states(0x54b40dU, 0x0deeedU);
    made.packet(0x0a, 0x0deeed);        // at 1 s of the capture's clock
    made.packet(0x11, 0x0deeed, true);  // 1 µs later
    made.keep_capture();
    const auto log = [&](const char* role, std::int64_t t_ns, const char* name,
                         runlog::Fields fields) {
        std::ofstream(made.path() + "/" + role + ".jsonl", std::ios::app)
            << runlog::to_json({t_ns, role, name, std::move(fields)}) << "\n";
    };
    log("server", 1'000'000'000, "note", {{"text", "beside it"}});
    log("client", 1'000'000'000, "post_send",
        {{"qpn", 0x12U},
         {"wr_id", 1U},
         {"opcode", "RDMA_WRITE"},
         {"psn_first", 0x0deeedU},
         {"psn_last", 0x0deeedU}});
    log("client", 1'000'001'000, "wc", {{"qpn", 0x12U}, {"wr_id", 1U}, {"status", "SUCCESS"}});

    FinishedRun run(made.path());
    std::vector<std::string> order;
    for (const RunRow& row : rows_of(run))
        if (row.t_ns >= 1'000'000'000)
            order.push_back(row.event ? row.event->name : fmt::format("packet {}", row.number));
    EXPECT_EQ(order, (std::vector<std::string>{"post_send", "packet 1", "note", "packet 2", "wc"}));
}

// The log has it where it returned: after the call inside it.
TEST(FinishedRun, a_call_stands_where_it_began_and_replaces_its_beginning) {
    rocecap_test::SyntheticRun made("begun");
    const auto log = [&](std::int64_t t_ns, const char* name, runlog::Fields fields) {
        fields.emplace_back("tid", 7U);
        std::ofstream(made.path() + "/client.jsonl", std::ios::app)
            << runlog::to_json({t_ns, "client", name, std::move(fields)}) << "\n";
    };
    made.keep_capture();
    log(10, "begun", {{"call", "rdma_connect"}});
    log(20, "qp_state", {{"qpn", 0x12U}, {"state", "RTS"}, {"took_us", 1U}});
    log(10, "cm_call", {{"call", "rdma_connect"}, {"took_us", 300'000U}});
    log(30, "begun", {{"call", "rdma_disconnect"}});
    FinishedRun run(made.path());
    std::vector<std::string> order;
    for (const RunRow& row : rows_of(run))
        if (row.event && !row.is("device"))
            order.push_back(row.event->name);
    EXPECT_EQ(order, (std::vector<std::string>{"cm_call", "qp_state", "begun"}));
}

}  // namespace finished_run_test
