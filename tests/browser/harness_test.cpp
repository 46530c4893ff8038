// Tests of the browser harness, on small pages with known behaviour.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include "browser/browser_fixture.hpp"

namespace {

using browser_test::contains;
using browser_test::thrown_by;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Harness : public browser_test::BrowserTest {};

TEST_F(Harness, returns_what_a_script_comes_to) {
    auto page = this->page("<p id=word>naïve – Größe 漢字 🦀</p>");
    EXPECT_EQ(page.evaluate("1 + 2"), 3);
    EXPECT_EQ(page.evaluate("document.querySelector('#word').textContent"),
              "naïve – Größe 漢字 🦀");
    EXPECT_EQ(page.evaluate("const word = '\\u{1f980}'; word"), "🦀");
    EXPECT_EQ(page.evaluate("'🦀'.codePointAt(0)"), 0x1f980);
    EXPECT_EQ(page.evaluate("({list: [1.5, null, 'x'], on: true})"),
              Json::parse(R"({"list": [1.5, null, "x"], "on": true})"));
    EXPECT_EQ(page.evaluate("new Promise((done) => setTimeout(() => done('later'), 20))"), "later");
    EXPECT_EQ(page.evaluate("undefined"), nullptr);
    EXPECT_EQ(page.evaluate("0 / 0"), "NaN");
    const std::string long_text(3'000'000, 'x');
    EXPECT_EQ(page.evaluate("'" + long_text + "'.length"), long_text.size());
    EXPECT_EQ(page.evaluate("'x'.repeat(3000000)"), long_text);
}

TEST_F(Harness, throws_what_a_script_throws_with_its_stack_and_the_script) {
    auto page =
        this->page("<script>function broken() { throw new TypeError('no ring'); }</script>");
    const auto error = thrown_by([&] { page.evaluate("1 + broken()"); });
    EXPECT_TRUE(contains(error, "TypeError: no ring\n    at broken (file:///")) << error;
    EXPECT_TRUE(contains(error, "in: 1 + broken()"));
    EXPECT_TRUE(contains(thrown_by([&] { page.evaluate("1 +"); }), "SyntaxError"));
    EXPECT_EQ(page.errors(), Strings{}) << "the caller has been told";
}

TEST_F(Harness, throws_what_a_promise_rejects_with) {
    auto page = this->page("");
    EXPECT_TRUE(contains(thrown_by([&] { page.evaluate("Promise.reject(new Error('too far'))"); }),
                         "Error: too far\n    at"));
    EXPECT_TRUE(contains(thrown_by([&] { page.evaluate("Promise.reject('a word')"); }), "a word"));
}

TEST_F(Harness, a_page_that_works_has_no_errors_and_asks_for_itself_only) {
    const std::string dot =
        "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E";
    auto page = this->page("<p>fine<img src=" + dot +
                           "><script>console.log('fine'); console.warn('nearly')</script>");
    EXPECT_EQ(page.errors(), Strings{});
    EXPECT_EQ(page.requests(), (Strings{page.url(), dot}));
}

TEST_F(Harness, tells_the_errors_of_a_page) {
    auto page = this->page(
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src "
        "'unsafe-inline'\"><img src=data:image/gif;base64,R0lGODlhAQABAAAAACw=>"
        "<script>console.error('about', {a: 1}, new Error('inner'), 4);</script>"
        "<script>console.assert(1 === 2, 'not the same')</script>"
        "<script>Promise.reject(new Error('nobody caught it'))</script>"
        "<script>\nnot_there.call()</script>");
    page.wait_until("document.readyState === 'complete'");
    const Strings errors = page.errors();
    std::string all;
    for (const std::string& error : errors)
        all += error + "\n";
    EXPECT_EQ(errors.size(), 5U) << all;
    EXPECT_TRUE(contains(all, "console.error: about Object Error: inner\n"));
    EXPECT_TRUE(contains(all, "console.assert: not the same\n"));
    EXPECT_TRUE(contains(all, "Uncaught (in promise) Error: nobody caught it\n"));
    EXPECT_TRUE(contains(all, "Uncaught ReferenceError: not_there is not defined\n"));
    EXPECT_TRUE(contains(all, "page.html:2)\n"));
    EXPECT_TRUE(contains(all, "violates the following Content Security Policy directive"));
}

TEST_F(Harness, tells_and_dismisses_a_dialog) {
    auto page = this->page("");
    EXPECT_EQ(page.evaluate("confirm('Sure?')"), false);
    EXPECT_EQ(page.errors(), Strings{"dialog: Sure?"});
}

TEST_F(Harness, works_under_a_policy_that_forbids_scripts) {
    auto page = this->page(
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><p>still");
    page.wait_until("document.querySelector('p').textContent === 'still'");
    page.click("p");
    EXPECT_EQ(page.errors(), Strings{});
}

TEST_F(Harness, waits_until_something_becomes_true) {
    auto page = this->page(
        "<script>setTimeout(() => document.body.append(document.createElement('hr')), "
        "50)</script>");
    page.wait_until("document.querySelector('hr').tagName === 'HR'");
    page.wait_until("Promise.resolve(true)");
}

TEST_F(Harness, says_what_it_waited_for_in_vain) {
    using std::chrono_literals::operator""ms;
    auto page = this->page("<script>window.count = 7; console.error('stuck')</script>");
    const auto never = thrown_by([&] { page.wait_until("window.count === 8", 50ms); });
    EXPECT_TRUE(contains(never, "waited 50 ms in vain for window.count === 8")) << never;
    EXPECT_TRUE(contains(never, "at last it was: false\nthe page says: console.error: stuck"));
    EXPECT_TRUE(contains(thrown_by([&] { page.wait_until("absent.x", 50ms); }),
                         "at last it was: ReferenceError: absent is not defined"));
    EXPECT_TRUE(contains(thrown_by([&] { page.wait_until("new Promise(() => {})", 50ms); }),
                         "at last it was: not known"));
    EXPECT_TRUE(contains(thrown_by([&] { page.wait_until("1 +", 50ms); }), "SyntaxError"));
}

TEST_F(Harness, a_page_is_light_until_it_is_set_dark) {
    auto page = this->page(
        "<style>:root { color-scheme: light dark; --ink: black }"
        "@media (prefers-color-scheme: dark) { :root { --ink: white } }</style>");
    const std::string ink = "getComputedStyle(document.documentElement).getPropertyValue('--ink')";
    const std::string dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    EXPECT_EQ(page.evaluate(dark), false);
    EXPECT_EQ(page.evaluate(ink), "black");
    page.set_dark(true);
    EXPECT_EQ(page.evaluate(dark), true);
    EXPECT_EQ(page.evaluate(ink), "white");
    page.set_dark(false);
    EXPECT_EQ(page.evaluate(dark), false);
}

TEST_F(Harness, a_page_has_the_viewport_it_is_given) {
    auto page = this->page("<p>wide");
    const std::string size = "[innerWidth, innerHeight, devicePixelRatio]";
    EXPECT_EQ(page.evaluate(size), Json::parse("[1280, 800, 1]"));
    page.set_viewport(390, 844, 2);
    EXPECT_EQ(page.evaluate(size), Json::parse("[390, 844, 2]"));
}

std::string base64(const std::vector<std::byte>& bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(text.data()),
        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
    return text;
}

unsigned big_endian(const std::vector<std::byte>& bytes, std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + 4; ++i)
        value = value << 8U | std::to_integer<unsigned>(bytes.at(i));
    return value;
}

// https://www.w3.org/TR/png/: an 8-byte signature, then IHDR with the width and the height.
TEST_F(Harness, a_screenshot_is_a_picture_of_the_viewport) {
    auto page = this->page(
        "<style>body { margin: 0 } div { width: 50vw; height: 100vh; background: #ff0000 }"
        "html { background: #0000ff }</style><div></div>");
    page.set_viewport(300, 200, 2);
    const std::vector<std::byte> png = page.screenshot();
    ASSERT_GT(png.size(), 24U);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(png.data()), 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(png.data()) + 12, 4), "IHDR");
    EXPECT_EQ(big_endian(png, 16), 600U);
    EXPECT_EQ(big_endian(png, 20), 400U);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(png.data()) + png.size() - 8, 4), "IEND");
    const Json colours = page.evaluate(
        "(async () => { const image = new Image(); image.src = 'data:image/png;base64," +
        base64(png) +
        "'; await image.decode(); const canvas = new OffscreenCanvas(600, 400);"
        "const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);"
        "return [[298, 5], [302, 395]].map(([x, y]) => [...context.getImageData(x, y, 1, 1).data])"
        "})()");
    EXPECT_EQ(colours, Json::parse("[[255, 0, 0, 255], [0, 0, 255, 255]]"));
}

TEST_F(Harness, a_page_keeps_its_storage_to_itself) {
    auto first = page("");
    first.evaluate("localStorage.setItem('seen', 'yes')");
    auto second = page("");
    EXPECT_EQ(second.evaluate("localStorage.getItem('seen')"), nullptr);
    EXPECT_EQ(first.evaluate("localStorage.getItem('seen')"), "yes");
}

TEST_F(Harness, opens_a_file_whose_name_a_url_would_read_differently) {
    auto page = this->page("<p>here", "a #1 100%41?x=ü.html");
    EXPECT_EQ(page.evaluate("document.querySelector('p').textContent"), "here");
    EXPECT_EQ(page.requests(), Strings{page.url()});
    EXPECT_TRUE(contains(thrown_by([] { browser().open("/nonexistent/page.html"); }),
                         "file:///nonexistent/page.html: net::ERR_FILE_NOT_FOUND"));
    EXPECT_EQ(page.evaluate("document.title"), "page") << "another page goes on";
}

TEST_F(Harness, tells_what_a_page_costs) {
    const std::string work = "const end = performance.now() + 30; while (performance.now() < end);";
    auto page =
        this->page("<p>one<p>two<button>Work</button><script>" + work +
                   "document.querySelector('button').onclick = () => { " + work + " }</script>");
    auto before = page.metrics();
    // performance.now() has steps of 0.1 ms.
    EXPECT_GE(before["ScriptDuration"], 0.0299);
    EXPECT_GT(before["JSHeapUsedSize"], 100'000);
    EXPECT_GT(before["Nodes"], 8);
    page.click("button");
    EXPECT_GE(page.metrics()["ScriptDuration"], before["ScriptDuration"] + 0.0299);
}

}  // namespace
