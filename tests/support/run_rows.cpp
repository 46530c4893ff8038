#include "support/run_rows.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace support {
namespace {

using timeline::PacketRow;
using timeline::WorkRequest;

class Collector : public timeline::RowVisitor {
  public:
    void event(const runlog::Event& event, std::int64_t t_ns, const WorkRequest* request) override {
        rows.push_back({t_ns, event, {}, 0, request});
    }
    void packet(const PacketRow& row, const wire::Packet& packet, const capture::Frame& frame,
                std::uint64_t number, const WorkRequest* request) override {
        EXPECT_EQ(row.t_ns, frame.time.count());
        EXPECT_TRUE(!row.key || row.key->psn == packet.bth->psn.value());
        rows.push_back({row.t_ns, {}, row, number, request});
    }

    std::vector<RunRow> rows;
};

}  // namespace

std::vector<RunRow> rows_of(timeline::FinishedRun& run) {
    Collector collector;
    run.each_row(collector);
    return collector.rows;
}

void expect_effects_after_causes(timeline::FinishedRun& run) {
    std::set<const WorkRequest*> posted, sent, answered;
    for (const RunRow& row : rows_of(run)) {
        if (row.request == nullptr)
            continue;
        const std::string what = fmt::format("wr {} at {}", row.request->wr_id, row.t_ns);
        if (row.is("post_send")) {
            posted.insert(row.request);
        } else if (row.is("wc")) {
            EXPECT_TRUE(answered.contains(row.request)) << what << ": completed before its answer";
        } else if (row.packet.cause->is_response) {
            EXPECT_TRUE(sent.contains(row.request)) << what << ": answered before it was asked";
            if (row.packet.cause->packet == row.packet.cause->packets)
                answered.insert(row.request);
        } else {
            EXPECT_TRUE(posted.contains(row.request)) << what << ": sent before it was posted";
            sent.insert(row.request);
        }
    }
    EXPECT_FALSE(answered.empty());
}

}  // namespace support
