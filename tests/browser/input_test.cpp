// Keys and mouse actions, as the page's events report them.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "browser/browser_fixture.hpp"

namespace {

using browser_test::contains;
using browser_test::thrown_by;
using Json = nlohmann::json;

class Input : public browser_test::BrowserTest {
  protected:
    // Returns a page that records the value of `expression` for every event of these types.
    support::Page recorder(const std::string& types, const std::string& expression,
                           const std::string& html = "") {
        return page(html + "<script>window.seen = []; for (const type of '" + types +
                    "'.split(' ')) addEventListener(type, (event) => seen.push(" + expression +
                    "), {capture: true})</script>");
    }
};

TEST_F(Input, a_key_arrives_under_its_name) {
    auto page =
        recorder("keydown keyup", "`${event.type} ${event.key} ${event.code} ${event.keyCode}`");
    const std::vector<std::pair<std::string, std::string>> keys{
        {"a", "KeyA 65"},
        {"Z", "KeyZ 90"},
        {"7", "Digit7 55"},
        {"/", "Slash 191"},
        {"?", "Slash 191"},
        {"+", "Equal 187"},
        {" ", "Space 32"},
        {"Enter", "Enter 13"},
        {"Escape", "Escape 27"},
        {"ArrowUp", "ArrowUp 38"},
        {"ArrowDown", "ArrowDown 40"},
        {"ArrowLeft", "ArrowLeft 37"},
        {"ArrowRight", "ArrowRight 39"},
        {"PageDown", "PageDown 34"},
        {"Home", "Home 36"},
    };
    Json expected = Json::array();
    for (const auto& [key, code] : keys) {
        page.press(key);
        expected.push_back(fmt::format("keydown {} {}", key, code));
        expected.push_back(fmt::format("keyup {} {}", key, code));
    }
    EXPECT_EQ(page.evaluate("seen"), expected);
    EXPECT_TRUE(contains(thrown_by([&] { page.press("Eject"); }), "no key makes 'Eject'"));
}

TEST_F(Input, a_key_comes_with_the_keys_that_are_held) {
    auto page = recorder("keydown",
                         "[event.key, event.shiftKey, event.ctrlKey, event.altKey, event.metaKey, "
                         "event.isTrusted]");
    page.press("k", support::control_key);
    page.press("?");
    page.press("ArrowRight", support::shift_key | support::alt_key);
    page.press("x", support::meta_key);
    EXPECT_EQ(page.evaluate("seen"), Json::parse(R"([["k", false, true, false, false, true],
        ["?", true, false, false, false, true], ["ArrowRight", true, false, true, false, true],
        ["x", false, false, false, true, true]])"));
}

TEST_F(Input, keys_and_text_go_to_what_has_the_focus) {
    auto page = this->page(
        "<input id=one autofocus><input id=two><button>Go</button><script>"
        "document.querySelector('button').onclick = () => { window.gone = true }"
        "</script>");
    page.wait_until("document.activeElement.id === 'one'");
    for (const char* key : {"P", "s", "n", " ", "=", "Backspace", "1"})
        page.press(key);
    page.press("Tab");
    page.type("Größe 漢字");
    EXPECT_EQ(page.evaluate("[one.value, two.value]"), Json::parse(R"(["Psn 1", "Größe 漢字"])"));
    page.press("a", support::control_key);
    page.type("0x12");
    EXPECT_EQ(page.evaluate("two.value"), "0x12");
    page.press("Tab", support::shift_key);
    EXPECT_EQ(page.evaluate("document.activeElement.id"), "one");
    page.press("Tab");
    page.press("Tab");
    page.press("Enter");
    EXPECT_EQ(page.evaluate("window.gone"), true);
}

TEST_F(Input, a_click_goes_to_the_middle_of_what_is_there) {
    auto page = recorder("mousedown mouseup click",
                         "[event.type, event.target.id, event.clientX, event.clientY, "
                         "event.button, event.detail, event.isTrusted]",
                         "<style>#here { position: fixed; left: 100px; top: 40px; width: 50px; "
                         "height: 20px }</style><button id=here></button>");
    page.click("#here");
    EXPECT_EQ(page.evaluate("seen"), Json::parse(R"([["mousedown", "here", 125, 50, 0, 1, true],
                  ["mouseup", "here", 125, 50, 0, 1, true], ["click", "here", 125, 50, 0, 1, true]])"));
}

TEST_F(Input, a_click_scrolls_to_an_element_and_reaches_it_through_its_children) {
    auto page =
        recorder("click", "event.target.id",
                 "<div style='height: 5000px'></div><div style='overflow: auto; height: 60px'>"
                 "<div style='height: 900px'></div><a id=link><b id=inner>far below</b></a></div>");
    page.click("#link");
    EXPECT_EQ(page.evaluate("seen"), Json::parse(R"(["inner"])"));
}

TEST_F(Input, a_click_waits_for_what_moves) {
    auto page = recorder("click", "[event.target.id, event.clientX]",
                         "<style>@keyframes in { from { left: 500px } to { left: 0 } } #slow { "
                         "position: fixed; left: 0; top: 0; width: 20px; height: 20px; "
                         "animation: in 200ms linear }</style><button id=slow></button>");
    page.click("#slow");
    EXPECT_EQ(page.evaluate("seen"), Json::parse(R"([["slow", 10]])"));
}

TEST_F(Input, a_click_fails_where_a_person_could_not_click) {
    auto page = recorder("click", "event.target.id",
                         "<style>.cover { position: fixed; inset: 0; background: #0003 }</style>"
                         "<button id=under>under</button><button id=hidden hidden>hidden</button>"
                         "<div class=cover></div>");
    EXPECT_TRUE(
        contains(thrown_by([&] { page.click("#under"); }),
                 "<div class=\"cover\"></div> is on top of <button id=\"under\"></button>"));
    EXPECT_TRUE(contains(thrown_by([&] { page.click("#hidden"); }),
                         "<button id=\"hidden\" hidden=\"\"></button> is not shown"));
    EXPECT_TRUE(contains(thrown_by([&] { page.click("#nobody"); }), "nothing matches #nobody"));
    EXPECT_TRUE(contains(thrown_by([&] { page.click("##"); }), "SyntaxError"));
    EXPECT_EQ(page.evaluate("seen"), Json::array());
    page.evaluate("document.querySelector('.cover').remove()");
    page.click("#under");
    EXPECT_EQ(page.evaluate("seen"), Json::parse(R"(["under"])"));
}

TEST_F(Input, the_pointer_hovers_and_drags) {
    auto page = recorder("mousedown mousemove mouseup",
                         "[event.type, event.clientX, event.clientY, event.buttons]",
                         "<style>#plot { position: fixed; left: 0; top: 0; width: 400px; height: "
                         "400px } #plot:hover { outline: 1px solid }</style><div id=plot></div>");
    page.move_to({10, 20});
    EXPECT_EQ(page.evaluate("document.querySelector('#plot').matches(':hover')"), true);
    page.drag({50, 60}, {150, 260});
    const Json seen = page.evaluate("seen");
    EXPECT_EQ(seen.front(), Json::parse(R"(["mousemove", 10, 20, 0])"));
    EXPECT_EQ(seen.at(1), Json::parse(R"(["mousemove", 50, 60, 0])"));
    EXPECT_EQ(seen.at(2), Json::parse(R"(["mousedown", 50, 60, 1])"));
    EXPECT_EQ(seen.at(3), Json::parse(R"(["mousemove", 70, 100, 1])"));
    EXPECT_EQ(seen.at(seen.size() - 2), Json::parse(R"(["mousemove", 150, 260, 1])"));
    EXPECT_EQ(seen.back(), Json::parse(R"(["mouseup", 150, 260, 0])"));
}

}  // namespace
