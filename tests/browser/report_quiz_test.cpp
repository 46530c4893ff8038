// "What comes next?" of a run's page, played with the keyboard and with the mouse: the link emulator
// drops a packet, and five packets are asked for.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "browser/report_fixture.hpp"
#include "tools/rocecap/lost_packet.hpp"

namespace {

using browser_test::contains;
using browser_test::ReportedRun;

class ReportQuiz : public browser_test::ReportTest {
  protected:
    static std::unique_ptr<support::Page> open_lost_packet() {
        static const rocecap_test::LostPacket run;
        static const auto outcome = support::run({support::rocecap(), "report", run.path()});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::unique_ptr<support::Page> page(
            new support::Page(browser().open(run.path() + "/report.html")));
        page->wait_until("document.documentElement.dataset.ready === 'yes'");
        return page;
    }

    static std::string score(support::Page& page) { return text_of(page, "#quiz-score"); }
    static std::string verdict(support::Page& page) { return text_of(page, "#quiz-verdict"); }
    // The text that a reader sees, without what is hidden.
    static std::string visible(support::Page& page) {
        return page.evaluate("document.body.innerText").get<std::string>();
    }
    static bool is_shown(support::Page& page, const std::string& selector) {
        return page
            .evaluate(
                fmt::format("document.querySelector('{}').getClientRects().length > 0", selector))
            .get<bool>();
    }
    // Chooses a kind by a number of steps from the first one, and types the PSN.
    static void answer_by_keys(support::Page& page, const char* arrow, int steps,
                               const std::string& psn) {
        for (int step = 0; step < steps; ++step)
            page.press(arrow);
        page.press("Tab");
        page.type(psn);
        page.press("Enter");
    }
    static void answer_by_mouse(support::Page& page, const std::string& kind,
                                const std::string& psn) {
        const int index =
            page.evaluate(fmt::format("run.quiz.kinds.indexOf('{}')", kind)).get<int>();
        page.click(fmt::format("#quiz-kinds input[value=\"{}\"]", index));
        if (!psn.empty()) {
            page.click("#quiz-psn");
            page.type(psn);
        }
        page.click("#quiz-question [type=submit]");
    }
};

TEST_F(ReportQuiz, is_played_with_the_keyboard_and_left_with_the_page_as_it_was) {
    const auto opened = open_lost_packet();
    auto& page = *opened;
    search(page, "rdma");
    page.press("Enter");
    const auto rows_before = shown(page);
    const auto state = [&] {
        return page.evaluate(
            "JSON.stringify([scrollY, ladder.list.active, byId('search').value, "
            "document.querySelectorAll('#rows .item').length, byId('rows').scrollTop, "
            "[...document.querySelectorAll('nav, main > section')].map(one => "
            "one.getClientRects().length > 0)])");
    };
    const auto before = state();
    page.press("q");
    EXPECT_TRUE(is_shown(page, "#quiz-question"));
    EXPECT_EQ(score(page), "5 questions");
    EXPECT_EQ(text_of(page, "#quiz-sender"),
              "The client sends the next packet. Which kind and PSN?");
    answer_by_keys(page, "ArrowRight", 1, "5");
    EXPECT_EQ(score(page), "1 asked: 1 right, 0 nearly, 0 wrong");
    EXPECT_EQ(verdict(page), "right. Frame 6 is write PSN +5.");
    answer_by_keys(page, "ArrowLeft", 3, "4");
    EXPECT_EQ(score(page), "2 asked: 1 right, 0 nearly, 1 wrong");
    EXPECT_EQ(verdict(page),
              "wrong: the last packet did not have the PSN that the responder expects: it sends a "
              "NAK. Frame 7 is nak PSN +4, not ack PSN +4.");
    page.press("Escape");
    EXPECT_FALSE(is_shown(page, "#quiz"));
    EXPECT_TRUE(is_shown(page, "nav"));
    page.wait_until(fmt::format("document.querySelectorAll('#rows .item').length === {}",
                                nlohmann::json::parse(before.get<std::string>()).at(3).get<int>()));
    EXPECT_EQ(state(), before);
    EXPECT_EQ(shown(page), rows_before);
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

TEST_F(ReportQuiz, is_played_with_the_mouse_and_gives_hints) {
    const auto opened = open_lost_packet();
    auto& page = *opened;
    page.click("#quiz-start");
    page.click("#quiz-hint-button");
    EXPECT_TRUE(contains(text_of(page, "#quiz-hint"), "The server expects PSN +4 next."));
    answer_by_mouse(page, "write", "");
    EXPECT_EQ(verdict(page), "right. Frame 6 is write PSN +5.");
    EXPECT_EQ(text_of(page, "#quiz-hint"), "");
    answer_by_mouse(page, "nak", "5");
    EXPECT_EQ(verdict(page),
              "nearly: a NAK's PSN is the one that the responder expects. "
              "Frame 7 is nak PSN +4, not nak PSN +5.");
    EXPECT_EQ(score(page), "2 asked: 1 right, 1 nearly, 0 wrong");
    EXPECT_EQ(page.evaluate("byId('quiz-psn').value"), "") << "a question begins without an answer";
    page.click("#quiz-leave");
    EXPECT_FALSE(is_shown(page, "#quiz"));
    EXPECT_TRUE(is_shown(page, "#psn-plot"));
    page.click("#quiz-start");
    EXPECT_EQ(score(page), "5 questions") << "a new quiz begins at the start";
    answer_by_mouse(page, "write", "4");
    EXPECT_TRUE(contains(verdict(page), "nearly: until it learns of a loss, the requester "));
    page.click("#quiz-leave");
    page.click("#quiz-start");
    answer_by_mouse(page, "write", "6");
    EXPECT_TRUE(contains(verdict(page), "nearly: requests have consecutive PSNs. "));
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

TEST_F(ReportQuiz, shows_a_packet_only_after_its_answer) {
    const auto opened = open_lost_packet();
    auto& page = *opened;
    EXPECT_TRUE(contains(visible(page), "NAK"));
    page.click("#quiz-start");
    const std::string first = visible(page);
    EXPECT_TRUE(contains(first, "RC Acknowledge PSN +2"));
    EXPECT_TRUE(contains(first, "RC RDMA WRITE First PSN +3"));
    EXPECT_TRUE(contains(first, "The link emulator: drop RC RDMA WRITE Middle PSN +4"));
    for (const char* answer : {"PSN +5", "NAK", "0xc19"})
        EXPECT_FALSE(contains(first, answer)) << first;
    for (const char* key : {"n", "p", "w", "/", "q"})
        page.press(key);  // these would show rows of the ladder
    EXPECT_EQ(visible(page), first);
    EXPECT_EQ(page.evaluate("ladder.list.active"), -1);
    answer_by_mouse(page, "write", "5");
    EXPECT_TRUE(contains(visible(page), "RC RDMA WRITE Last PSN +5"));
    EXPECT_FALSE(contains(visible(page), "NAK"));
    answer_by_mouse(page, "nak", "4");
    EXPECT_TRUE(contains(visible(page), "NAK psn sequence error"));
}

TEST_F(ReportQuiz, needs_a_kind_and_shows_packets_without_an_answer_up_to_the_end) {
    const auto opened = open_lost_packet();
    auto& page = *opened;
    page.press("q");
    page.click("#quiz-psn");
    page.type("5");
    page.press("Enter");
    EXPECT_EQ(score(page), "5 questions") << "there is no answer without a kind";
    for (int question = 0; question < 5; ++question) {
        EXPECT_TRUE(is_shown(page, "#quiz-question"));
        page.click("#quiz-show");
    }
    EXPECT_FALSE(is_shown(page, "#quiz-question"));
    EXPECT_EQ(score(page), "5 asked: 0 right, 0 nearly, 0 wrong, 5 shown without a prediction");
    EXPECT_TRUE(contains(text_of(page, "#quiz-packets"), "The run ends here."));
    EXPECT_EQ(page.evaluate("document.querySelectorAll('#quiz-packets .step').length"), 17);
    page.press("Enter");  // the focus is on "Leave"
    EXPECT_FALSE(is_shown(page, "#quiz"));
}

TEST_F(ReportQuiz, fits_a_phone_without_scrolling_sideways) {
    const auto opened = open_lost_packet();
    auto& page = *opened;
    page.set_viewport(400, 800);
    page.press("q");
    answer_by_mouse(page, "nak", "5");
    for (const char* box : {"document.documentElement", "byId('quiz-packets')"})
        EXPECT_EQ(page.evaluate(fmt::format("{0}.scrollWidth <= {0}.clientWidth", box)), true)
            << box;
}

TEST_F(ReportQuiz, is_not_offered_without_a_packet_to_ask_for) {
    ReportedRun logs_only(20);
    std::filesystem::remove(logs_only.path() + "/wire.pcapng");
    logs_only.report();
    const auto opened = open(logs_only);
    auto& page = *opened;
    EXPECT_FALSE(is_shown(page, "#quiz-start"));
    page.press("q");
    EXPECT_FALSE(is_shown(page, "#quiz"));
    EXPECT_TRUE(is_shown(page, "#ladder"));
    EXPECT_EQ(page.errors(), std::vector<std::string>{});
}

}  // namespace
