// Pages that rocecap report creates from synthetic runs, opened in a browser.
#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/synthetic_run.hpp"
#include "browser/browser_fixture.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace browser_test {

/// A run with losses and NAKs, and its report. Tests that only read it share it.
class ReportedRun {
  public:
    explicit ReportedRun(std::uint64_t packets) : temp_(fmt::format("reported_{}", packets)) {
        bench::make_synthetic_run(path(), {.packets = packets,
                                           .client_ahead = std::chrono::milliseconds(3),
                                           .measured_ahead = std::chrono::milliseconds(2)});
    }

    std::string path() const { return temp_.str(); }
    std::string file() const { return path() + "/report.html"; }

    /// Creates the report of the run and returns the program's output.
    std::string report(const support::Argv& more = {}) const { return report_of(path(), more); }
    /// Creates a report of the capture and the logs in `more`, and returns the program's output.
    std::string report_capture(support::Argv more = {}) const {
        more.insert(more.end(), {"-o", file()});
        return report_of(path() + "/wire.pcapng", more);
    }
    void log(const std::string& role, const std::string& line) const {
        std::ofstream(path() + "/" + role + ".jsonl", std::ios::app) << line << '\n';
    }

  private:
    static std::string report_of(const std::string& what, const support::Argv& more) {
        support::Argv argv{support::rocecap(), "report", what};
        argv.insert(argv.end(), more.begin(), more.end());
        const auto outcome = support::run(argv, {}, std::chrono::seconds(120));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return outcome.err;
    }

    support::TempPath temp_;
};

class ReportTest : public BrowserTest {
  protected:
    static constexpr std::uint64_t few = 4000;

    static const ReportedRun& run() {
        static const auto shared = [] {
            auto made = std::make_unique<ReportedRun>(few);
            made->report();
            return made;
        }();
        return *shared;
    }

    static std::unique_ptr<support::Page> open(const ReportedRun& run) {
        std::unique_ptr<support::Page> page(new support::Page(browser().open(run.file())));
        page->wait_until("document.documentElement.dataset.ready === 'yes'",
                         std::chrono::seconds(60));
        return page;
    }

    /// Returns the number of displayed rows, as the page prints it.
    static std::uint64_t shown(support::Page& page) {
        return page
            .evaluate(
                "Number(document.getElementById('count').textContent.split(' ')[0].replace(',', "
                "''))")
            .get<std::uint64_t>();
    }

    static std::string text_of(support::Page& page, const std::string& selector) {
        return page
            .evaluate(
                fmt::format("document.querySelector('{}')?.textContent ?? 'nothing'", selector))
            .get<std::string>();
    }

    static void search(support::Page& page, const std::string& words) {
        page.press("/");
        page.type(words);
    }
};

/// Returns the events and packets that rocecap timeline lists, in lower case.
inline std::vector<std::string> listing(const ReportedRun& run) {
    std::istringstream out(support::run({support::rocecap(), "timeline", run.path()}).out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(out, line) && !line.empty();) {
        std::ranges::transform(line, line.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        lines.push_back(line);
    }
    return lines;
}

/// Compares the page with the timeline of the run and with tshark.
class Report : public ReportTest {
  protected:
    static std::uint64_t listed(const std::vector<std::string>& wanted,
                                const std::vector<std::string>& unwanted = {}) {
        static const auto lines = listing(run());
        const auto count = std::ranges::count_if(lines, [&](const std::string& line) {
            const auto is_in = [&](const std::string& word) {
                return line.find(word) != std::string::npos;
            };
            return std::ranges::all_of(wanted, is_in) && std::ranges::none_of(unwanted, is_in);
        });
        return static_cast<std::uint64_t>(count);
    }

    /// Returns tshark's fields of a frame.
    static nlohmann::json tshark(std::uint64_t frame) {
        const auto outcome =
            support::run({"tshark", "-r", run().path() + "/wire.pcapng", "-Y",
                          fmt::format("frame.number=={}", frame), "-T", "jsonraw"});
        return nlohmann::json::parse(outcome.out).at(0).at("_source").at("layers");
    }

    static std::string selected(support::Page& page) {
        return text_of(page, "#rows .item.active > .row");
    }

    /// Selects the first packet that a search finds, and returns its frame number.
    static std::uint64_t first_found(support::Page& page, const std::string& words) {
        search(page, words);
        page.press("Enter");
        return page.evaluate("rows[ladder.list.active].frame").get<std::uint64_t>();
    }
};

}  // namespace browser_test
