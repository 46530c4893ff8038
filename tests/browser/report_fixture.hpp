// Pages that rocecap report creates from synthetic runs, opened in a browser.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

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

}  // namespace browser_test
