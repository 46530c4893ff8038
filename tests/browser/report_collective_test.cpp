// The chunks of lesson 26's all_reduces on the page of its reference run.
#include "browser/report_fixture.hpp"

namespace report_collective_test {

using browser_test::contains;

class ReportCollective : public browser_test::ReportTest {
  protected:
    void SetUp() override {
        ReportTest::SetUp();
        if (IsSkipped())
            return;
        const std::string file = temp_.str() + ".html";
        const auto made = support::run(
            {support::rocecap(), "report", "captures/samples/26_all_reduce", "-o", file});
        ASSERT_EQ(made.exit_code, 0) << made.all();
        std::unique_ptr<support::Page> page(new support::Page(browser().open(file)));
        page_ = std::move(page);
        page_->wait_until("document.documentElement.dataset.ready === 'yes'",
                          std::chrono::seconds(60));
    }
    void TearDown() override { std::filesystem::remove(temp_.str() + ".html"); }

    support::TempPath temp_{"report_collective"};
    std::unique_ptr<support::Page> page_;
};

TEST_F(ReportCollective, has_a_row_for_each_chunk_that_leads_to_its_packets) {
    auto& page = *page_;
    EXPECT_EQ(page.evaluate("rows.filter(row => row.isChunk).length"), 24);
    search(page, "\"all_reduce 2 · step 2 · chunk 1 · rank 1 → 0\"");
    // The chunk, its post, four packets, an ACK, and the completion.
    EXPECT_EQ(shown(page), 8U);
    EXPECT_EQ(page.evaluate("ladder.list.ids.filter(id => rows[id].isPacket).length"), 5);
    page.click("#rows .item .chunk");
    page.wait_until("document.querySelector('.item.active .detail [data-row]')");
    const std::string row = text_of(page, ".item.active > .row");
    EXPECT_TRUE(contains(row, "rank 1 → 0 · complete · done "));
    EXPECT_TRUE(contains(row, " ms after its first packet"));
    EXPECT_TRUE(
        contains(text_of(page, ".item.active .detail"), "client wr 1 RDMA_WRITE_WITH_IMM 4,096 B"));
    page.click(".item.active .detail [data-row]");
    EXPECT_EQ(page.evaluate("run.requests[rows[ladder.list.active].request].chunk.number"), 1);
    // The link also shows what a search hides. The chunks can be hidden as a kind.
    page.press("Escape");
    page.click("[data-kind=chunk]");
    EXPECT_EQ(page.evaluate("ladder.list.ids.some(id => rows[id].isChunk)"), false);
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

TEST_F(ReportCollective, shows_the_chunks_over_time_by_rank_and_inbox) {
    auto& page = *page_;
    EXPECT_EQ(page.evaluate("[...document.querySelectorAll('#collectives .name')].map(name => "
                            "name.textContent)"),
              nlohmann::json({"rank 0 → 1, inbox 0", "rank 0 → 1, inbox 1", "rank 1 → 0, inbox 0",
                              "rank 1 → 0, inbox 1"}));
    EXPECT_EQ(page.evaluate("document.querySelectorAll('#collectives button').length"), 24);
    page.evaluate("document.querySelector('#collectives button').click()");
    EXPECT_EQ(page.evaluate("rows[ladder.list.active].text.startsWith('all_reduce 1 · step 1 · "
                            "chunk 0 · rank 0 → 1')"),
              true);
}

TEST_F(ReportCollective, counts_chunks_neither_as_events_nor_in_the_logs) {
    auto& page = *page_;
    EXPECT_EQ(page.evaluate("rows.length - rows.filter(row => row.isChunk).length"),
              page.evaluate("run.kept.packets + run.kept.events"));
    EXPECT_EQ(page.evaluate("Number(document.getElementById('server-log').ariaRowCount) + "
                            "Number(document.getElementById('client-log').ariaRowCount)"),
              page.evaluate("run.kept.events"));
}

}  // namespace report_collective_test
