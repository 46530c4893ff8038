#include "render/chunk_table.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "trace/timeline/finished_run.hpp"

namespace chunk_table_test {

std::string table_of(const std::string& lesson) {
    return render::chunk_table(timeline::FinishedRun("captures/samples/" + lesson).matcher());
}

TEST(ChunkTable, lists_the_chunks_of_each_all_reduce_by_step_and_rank) {
    const std::string table = table_of("26_all_reduce");
    EXPECT_TRUE(table.starts_with("\nall_reduce 1\n  step 1  rank 0 → 1  chunk 0, its own "));
    EXPECT_NE(table.find(R"(all_reduce 2
  step 1  rank 0 → 1  chunk 0, its own      4096 B  PSN 0x8b457d to 0x8b4580  done after 9.8 ms
  step 1  rank 1 → 0  chunk 2, its own      4096 B  PSN 0x8b457d to 0x8b4580  done after 13.3 ms
)"),
              std::string::npos)
        << table;
    EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 3 + 24);
}

TEST(ChunkTable, is_empty_without_an_all_reduce) {
    EXPECT_EQ(table_of("23_parameter_server"), "");
}

TEST(ChunkTable, leaves_out_what_the_log_does_not_have) {
    timeline::Matcher run({}, "server");
    run.learn({0, "client", "joined", {{"rank", 1U}, {"ranks", 2U}, {"chunks", 4U}}});
    run.learn({0, "client", "collective", {{"iteration", 1U}}});
    run.learn({0,
               "client",
               "post_send",
               {{"qpn", 0x11U},
                {"wr_id", 1U},
                {"opcode", "RDMA_WRITE_WITH_IMM"},
                {"len", 8U},
                {"psn_offset_first", 0U},
                {"psn_offset_last", 0U}}});
    EXPECT_EQ(render::chunk_table(run),
              "\nall_reduce 1\n  step 1  rank 1 → 0  chunk 2, its own      8 B\n");
}

}  // namespace chunk_table_test
