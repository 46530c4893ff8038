// The web site of docs/site, opened as files, in a desktop and in a mobile viewport.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "browser/site_fixture.hpp"

namespace site_test {
namespace {

namespace fs = std::filesystem;
using browser_test::contains;
using nlohmann::json;

// One page of each kind.
constexpr std::array page_kinds{"index.html",
                                "examples/19_packet_loss/index.html",
                                "examples/19_packet_loss/sources.html",
                                "captures/samples/19_packet_loss/index.html",
                                "captures/samples/27nfs_read/index.html",
                                "captures/samples/index.html",
                                "docs/wire-format.html",
                                "docs/glossary.html",
                                "lab/config.html"};

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the code blocks of a document, without the indentation of list items.
std::vector<std::string> code_of(const fs::path& document) {
    std::vector<std::string> blocks;
    std::istringstream text(text_of(document));
    std::string::size_type indentation = 0;
    bool is_inside = false;
    for (std::string line; std::getline(text, line);) {
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos && line.compare(begin, 3, "```") == 0) {
            indentation = begin;
            is_inside = !is_inside;
            if (is_inside)
                blocks.emplace_back();
        } else if (is_inside) {
            blocks.back() += line.substr(std::min(indentation, line.size())) + '\n';
        }
    }
    for (std::string& block : blocks)
        block.pop_back();
    return blocks;
}

class Site : public browser_test::SiteTest {};

TEST_F(Site, begins_with_the_readme_and_has_every_document_in_its_contents) {
    auto page = open("index.html");
    EXPECT_EQ(page.evaluate("document.querySelector('main h1').textContent"), "RDMA Wire Lab");
    const auto entries = page.evaluate(
                                 "[...document.querySelectorAll('#contents > ul > li > a')]"
                                 ".map(a => a.getAttribute('href'))")
                             .get<std::vector<std::string>>();
    const auto place = [&](const char* file) { return std::ranges::find(entries, file); };
    EXPECT_EQ(entries.front(), "index.html");
    EXPECT_LT(place("docs/tutorial.html"), place("examples/01_cm_write_read/index.html"));
    EXPECT_LT(place("examples/02_cm_send_recv/index.html"),
              place("examples/03_cm_write_imm/index.html"));
    EXPECT_LT(place("examples/25_inference_batching/index.html"), place("docs/rocecap.html"));
    EXPECT_LT(place("docs/rocecap.html"), place("docs/wire-format.html"));
    EXPECT_LT(place("docs/wire-format.html"), place("CONTRIBUTING.html"));
    EXPECT_EQ(entries.size(),
              std::ranges::count(support::run({"git", "ls-files", "*.md", ":!tests"}).out, '\n'));
    expect_quiet(page);
}

TEST_F(Site, shows_code_as_the_document_and_the_source_have_it) {
    for (const auto& [document, file] :
         {std::pair{"examples/00_hello/README.md", "examples/00_hello/index.html"},
          std::pair{"examples/21_congestion/README.md", "examples/21_congestion/index.html"},
          std::pair{"docs/wire-format.md", "docs/wire-format.html"},
          std::pair{"docs/rocecap.md", "docs/rocecap.html"}}) {
        auto page = open(file);
        EXPECT_EQ(page.evaluate("[...document.querySelectorAll('pre > code')]"
                                ".map(code => code.textContent)"),
                  json(code_of(document)))
            << file;
    }
    auto page = open("examples/02_cm_send_recv/sources.html");
    const char* const block = "document.querySelector('#client\\\\.cpp ~ div code')";
    const std::string source = text_of("examples/02_cm_send_recv/client.cpp");
    EXPECT_EQ(page.evaluate(fmt::format("{}.textContent + '\\n'", block)), source);
    EXPECT_EQ(
        page.evaluate(fmt::format(
            "getSelection().selectAllChildren({}), getSelection().toString() + '\\n'", block)),
        source);
}

TEST_F(Site, finds_a_word_in_a_lesson_and_opens_the_place) {
    auto page = open("docs/concepts.html");
    page.press("/");
    page.type("rnr_retry");
    page.wait_until("document.querySelector('#results a[href*=\"examples/\"]')");
    EXPECT_EQ(page.evaluate("[...document.querySelectorAll('#results a')]"
                            ".every(a => /rnr_retry/i.test(a.textContent))"),
              true);
    page.follow("#results a[href*=\"02_cm_send_recv/index.html#\"]");
    EXPECT_EQ(page.evaluate("location.pathname.endsWith('/examples/02_cm_send_recv/index.html')"),
              true);
    EXPECT_EQ(page.evaluate("document.querySelector(location.hash).localName"), "h2");
    EXPECT_EQ(page.evaluate("document.querySelector('main').textContent.includes('rnr_retry')"),
              true);
    expect_quiet(page);
}

TEST_F(Site, searches_by_keys_alone) {
    auto page = open("examples/15_scatter_gather/sources.html");
    page.press("/");
    page.type("forged replayed zzz");
    page.wait_until("document.querySelector('#results p')?.textContent.startsWith('Nothing')");
    page.press("a", support::control_key);
    page.type("IBV_WR_ATOMIC_CMP_AND_SWP");
    page.wait_until("document.querySelectorAll('#results a').length > 1");
    page.press("ArrowDown");
    page.press("ArrowDown");
    EXPECT_EQ(
        page.evaluate("document.activeElement === document.querySelectorAll('#results a')[1]"),
        true);
    page.press("Escape");
    EXPECT_EQ(page.evaluate("document.getElementById('results').hidden"), true);
    expect_quiet(page);
}

TEST_F(Site, fits_a_telephone_and_asks_for_its_own_files_only) {
    for (const char* file : page_kinds) {
        auto page = open(file);
        page.set_viewport(390, 844);
        EXPECT_LE(page.evaluate("document.scrollingElement.scrollWidth").get<int>(), 390) << file;
        EXPECT_GE(page.evaluate("Math.min(...[...document.querySelectorAll('main img')]"
                                ".map(image => image.naturalWidth), 1)")
                      .get<int>(),
                  1)
            << file;
        expect_quiet(page);
    }
    auto page = open("index.html");
    page.set_viewport(390, 844);
    const char* const is_shown = "document.getElementById('contents').checkVisibility()";
    EXPECT_EQ(page.evaluate(is_shown), false);
    page.click("button[popovertarget]");
    EXPECT_EQ(page.evaluate(is_shown), true);
    page.click("#contents a[href='#documents']");
    EXPECT_EQ(page.evaluate(is_shown), false);
    expect_quiet(page);
}

// The lowest contrast of the text of these elements with its background, as defined by WCAG 2.
constexpr const char* least_contrast = R"((() => {
    const rgb = color => color.match(/[\d.]+/g).map(Number);
    const luminance = color => rgb(color).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = element => {
        const color = getComputedStyle(element).backgroundColor;
        return rgb(color)[3] === 0 ? ground(element.parentElement) : color;
    };
    return Math.min(...[...document.querySelectorAll('main p, main a, main td, main pre span, #contents a, #contents h2')]
        .map(element => [getComputedStyle(element).color, ground(element)].map(luminance).sort((a, b) => b - a))
        .map(([light, dark]) => (light + 0.05) / (dark + 0.05)));
})())";

TEST_F(Site, is_legible_in_the_light_and_in_the_dark) {
    for (const char* file : {"examples/19_packet_loss/index.html",
                             "examples/19_packet_loss/sources.html", "docs/glossary.html"}) {
        auto page = open(file);
        const char* const colours =
            "['background-color', 'color'].map(name => getComputedStyle(document.body)[name])";
        page.set_dark(false);
        const auto light = page.evaluate(colours);
        EXPECT_GE(page.evaluate(least_contrast).get<double>(), 4.5) << file;
        page.set_dark(true);
        const auto dark = page.evaluate(colours);
        EXPECT_NE(light[0], dark[0]);
        EXPECT_NE(light[1], dark[1]);
        EXPECT_GE(page.evaluate(least_contrast).get<double>(), 4.5) << file << ", dark";
    }
}

TEST_F(Site, opens_answers_and_the_packets_of_the_run_in_the_lesson) {
    auto page = open("examples/04_access_denied/index.html");
    const auto asked_for_run = [&] {
        return std::ranges::any_of(page.requests(), [](const std::string& url) {
            return contains(url, "samples/04_access_denied/report.html");
        });
    };
    const char* const answer =
        "document.querySelector('#exercises ~ details ol').checkVisibility()";
    EXPECT_EQ(page.evaluate(answer), false);
    page.click("#exercises ~ details summary");
    EXPECT_EQ(page.evaluate(answer), true);
    EXPECT_FALSE(asked_for_run());
    page.evaluate(
        "document.querySelector('details.run iframe').onload = () => { window.loaded = true }");
    page.click("details.run summary");
    page.wait_until("window.loaded");
    EXPECT_TRUE(asked_for_run());
    expect_quiet(page);
}

}  // namespace
}  // namespace site_test
