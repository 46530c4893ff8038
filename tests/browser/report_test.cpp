// Use of a run's page: read, search, filter and open packets, with the mouse and with the keyboard.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "browser/report_fixture.hpp"

namespace {

using browser_test::contains;
using browser_test::Report;
using browser_test::ReportedRun;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

TEST_F(Report, asks_nothing_of_the_network_and_has_no_errors) {
    const auto opened = open(run());
    auto& page = *opened;
    EXPECT_EQ(page.requests(), std::vector<std::string>{page.url()});
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(text_of(page, "h1"), "Lesson made");
}

TEST_F(Report, shows_every_row_of_the_timeline) {
    const auto opened = open(run());
    auto& page = *opened;
    EXPECT_EQ(shown(page), listed({}));
    EXPECT_GT(shown(page), few);
}

TEST_F(Report, finds_what_the_timeline_has) {
    struct Search {
        std::string typed;
        Words wanted, unwanted;
    };
    const std::vector<Search> searches{
        {"\"RDMA READ Request\"", {"rdma read request"}, {}},
        {"nak", {"nak"}, {}},
        {"post_send rdma_write", {"post_send", "rdma_write"}, {}},
        {", again", {",", "again"}, {}},
        {"acknowledge -nak", {"acknowledge"}, {"nak"}},
    };
    const auto opened = open(run());
    auto& page = *opened;
    for (const Search& search_for : searches) {
        search(page, search_for.typed);
        EXPECT_EQ(shown(page), listed(search_for.wanted, search_for.unwanted)) << search_for.typed;
        EXPECT_GT(shown(page), 0u) << search_for.typed;
        page.press("Escape");
    }
    EXPECT_EQ(shown(page), listed({}));
    search(page, "no-such-text");
    EXPECT_EQ(shown(page), 0u);
    EXPECT_EQ(page.evaluate("document.querySelectorAll('#rows .item').length"), 0);
}

TEST_F(Report, hides_a_kind_of_row_and_shows_it_again) {
    const auto opened = open(run());
    auto& page = *opened;
    page.click("[data-kind=client]");
    EXPECT_EQ(page.evaluate("document.querySelector('[data-kind=client]').ariaPressed"), "false");
    const auto events = listed({"  client   "});
    EXPECT_EQ(shown(page), listed({}) - events);
    page.click("[data-kind=client]");
    EXPECT_EQ(shown(page), listed({}));
}

TEST_F(Report, shows_only_losses_naks_and_errors_and_goes_from_one_to_the_next) {
    const auto opened = open(run());
    auto& page = *opened;
    page.click("#only-notable");
    const auto notable = shown(page);
    EXPECT_EQ(notable,
              listed({", again"}) + listed({", late"}) + listed({"nak"}, {", again", ", late"}));
    page.press("Escape");
    page.evaluate("document.activeElement.blur()");
    page.press("n");
    const auto first = selected(page);
    EXPECT_TRUE(first.find("NAK") != std::string::npos ||
                first.find("again") != std::string::npos || first.find("late") != std::string::npos)
        << first;
    page.press("n");
    EXPECT_NE(selected(page), first);
    page.press("p");
    EXPECT_EQ(selected(page), first);
}

TEST_F(Report, opens_a_packet_down_to_the_bytes_that_tshark_reads) {
    const auto opened = open(run());
    auto& page = *opened;
    for (const std::string words : {"\"WRITE Only\"", "\"READ Request\"", "\"Acknowledge\""}) {
        const auto frame = first_found(page, words);
        page.press("Enter");
        page.wait_until("document.querySelector('.item.active .bytes')");
        const Json layers = tshark(frame);
        // The hexadecimal column alone. A text column follows it in each line.
        const auto bytes = page.evaluate(
            "document.querySelector('.item.active .bytes').textContent.split('\\n')"
            ".map(line => line.slice(6, 53).replaceAll(' ', '')).join('')");
        EXPECT_EQ(bytes, layers.at("frame_raw").at(0)) << words;
        const std::string psn =
            layers.at("infiniband").at("infiniband.bth_tree").at("infiniband.bth.psn_raw").at(0);
        EXPECT_TRUE(contains(text_of(page, ".item.active .h-bth"), " = 0x" + psn)) << words;
        // The bytes with the colour of the BTH are the BTH's bytes.
        const std::string bth = layers.at("infiniband").at("infiniband.bth_raw").at(0);
        const auto coloured = page.evaluate(
            "[...document.querySelectorAll('.item.active .bytes .h-bth')].map(span => "
            "span.textContent).filter(text => /^[0-9a-f]{2}( [0-9a-f]{2})*$/.test(text))"
            ".join('').replaceAll(' ', '')");
        EXPECT_EQ(coloured, bth) << words;
        page.press("Enter");
        EXPECT_EQ(page.evaluate("document.querySelectorAll('.detail').length"), 0) << words;
        page.press("Escape");
    }
}

TEST_F(Report, lights_a_headers_bytes_where_the_pointer_is_on_it) {
    const auto opened = open(run());
    auto& page = *opened;
    first_found(page, "\"WRITE Only\"");
    page.press("Enter");
    page.wait_until("document.querySelector('.item.active .bytes')");
    page.move_to(page.centre_of(".item.active .headers .h-reth summary"));
    EXPECT_GT(page.evaluate("document.querySelectorAll('.bytes .h-reth.lit').length").get<int>(),
              0);
    EXPECT_EQ(page.evaluate("document.querySelectorAll('.bytes .h-bth.lit').length"), 0);
}

TEST_F(Report, leads_from_a_packet_to_its_work_request_and_on) {
    const auto opened = open(run());
    auto& page = *opened;
    first_found(page, "\"WRITE First\"");
    page.press("Escape");
    const auto request = page.evaluate("rows[ladder.list.active].request");
    ASSERT_GE(request.get<int>(), 0);
    page.press("w");
    EXPECT_TRUE(contains(selected(page), "post_send"));
    EXPECT_EQ(page.evaluate("rows[ladder.list.active].request"), request);
    page.press("w");
    EXPECT_TRUE(contains(selected(page), "WRITE First"));
    // All rows of the same request are highlighted, and no others.
    EXPECT_EQ(page.evaluate("[...document.querySelectorAll('#rows .item')].every(item => "
                            "item.classList.contains('kin') === (rows[item.dataset.id].request === "
                            "rows[ladder.list.active].request))"),
              true);
}

TEST_F(Report, opens_by_a_click_and_follows_a_link) {
    const auto opened = open(run());
    auto& page = *opened;
    search(page, "post_send");
    page.click("#rows .item .event");
    page.wait_until("document.querySelector('.detail [data-row]')");
    page.click(".detail [data-row]");
    EXPECT_TRUE(contains(selected(page), "RC RDMA"));
    EXPECT_EQ(shown(page), listed({}));  // the search had hidden it
}

TEST_F(Report, is_usable_by_keys_alone) {
    const auto opened = open(run());
    auto& page = *opened;
    search(page, "read");
    page.press("ArrowDown");
    page.press("Escape");
    page.press("Home");
    EXPECT_EQ(page.evaluate("ladder.list.active"), 0);
    page.press("ArrowDown");
    page.press("j");
    page.press("k");
    EXPECT_EQ(page.evaluate("ladder.list.active"), 1);
    page.press("End");
    EXPECT_EQ(page.evaluate("ladder.list.active"), listed({}) - 1);
    EXPECT_EQ(page.evaluate("document.getElementById(document.getElementById('rows')"
                            ".getAttribute('aria-activedescendant')) !== null"),
              true);
    page.press("?");
    EXPECT_EQ(page.evaluate("document.getElementById('help').open"), true);
    page.press("Escape");
    EXPECT_EQ(page.evaluate("document.getElementById('help').open"), false);
}

TEST_F(Report, shows_what_a_log_says_and_never_runs_it) {
    ReportedRun hostile(20);
    hostile.log(
        "client",
        R"({"t_ns":1,"role":"client","event":"note","text":"</script><img src=x onerror=alert(1)>{{run}}"})");
    hostile.report();
    const auto opened = open(hostile);
    auto& page = *opened;
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
    EXPECT_EQ(page.evaluate("document.images.length"), 0);
    search(page, "onerror");
    EXPECT_TRUE(contains(page.evaluate("[...document.querySelectorAll('#rows .item .event')]"
                                       ".map(part => part.textContent).join(' ')")
                             .get<std::string>(),
                         "</script><img src=x onerror=alert(1)>{{run}}"));
}

TEST_F(Report, keeps_secrets_of_tls_to_itself) {
    ReportedRun with_keys(20);
    with_keys.log(
        "client",
        R"({"t_ns":1,"role":"client","event":"tls_secret","line":"CLIENT_RANDOM abcdef 123456"})");
    with_keys.report();
    const auto opened = open(with_keys);
    auto& page = *opened;
    search(page, "tls_secret");
    EXPECT_EQ(shown(page), 1u);
    page.press("Enter");
    page.press("Enter");
    page.wait_until("document.querySelector('.item.active .fields')");
    EXPECT_EQ(text_of(page, ".item.active .fields"), "lineCLIENT_RANDOM");
    EXPECT_EQ(page.evaluate("Promise.all(rows.map(row => details.of(row.index)))"
                            ".then(all => JSON.stringify([all, rows, run]).includes('123456'))"),
              false);
}

TEST_F(Report, says_what_it_leaves_out) {
    ReportedRun long_run(200);
    EXPECT_TRUE(contains(long_run.report({"--packets", "50"}), "more are omitted"));
    const auto opened = open(long_run);
    auto& page = *opened;
    EXPECT_EQ(page.evaluate("rows.filter(row => row.isPacket).length"), 50);
    EXPECT_TRUE(contains(text_of(page, "#left-out"), "the run's first 50 packets"));
    EXPECT_TRUE(contains(text_of(page, "#left-out"), " after them are omitted"));
    EXPECT_EQ(page.evaluate("document.getElementById('left-out').hidden"), false);
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

}  // namespace
