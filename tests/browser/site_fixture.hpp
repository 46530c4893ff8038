// The web site of docs/site, built once for all tests, and its pages in a browser.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "browser/browser_fixture.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace browser_test {

/// Runs docs/site/build of the project in `tree`, which contains the documents.
inline support::Outcome build_site(const std::string& tree, const std::string& out,
                                   const support::Argv& environment = {}) {
    support::Argv all = environment;
    all.push_back("SITE_ROCECAP=" + support::rocecap());
    return support::run({"/bin/bash", tree + "/docs/site/build", out}, all,
                        std::chrono::seconds(300));
}

class SiteTest : public BrowserTest {
  protected:
    void SetUp() override {
        if (support::run({"which", "pandoc"}).exit_code != 0)
            GTEST_SKIP() << "pandoc is not installed: lab/install-packages site installs it.";
        BrowserTest::SetUp();
        if (IsSkipped())
            return;
        ASSERT_EQ(built().outcome.exit_code, 0) << built().outcome.err;
    }

    static std::filesystem::path site() { return built().folder.path(); }

    static support::Page open(const std::string& file) {
        return browser().open((site() / file).string());
    }

    /// Expects that the page had no errors and requested only files.
    static void expect_quiet(support::Page& page) {
        EXPECT_EQ(page.errors(), std::vector<std::string>{}) << page.url();
        for (const std::string& url : page.requests())
            EXPECT_TRUE(url.starts_with("file:")) << url << " on " << page.url();
    }

  private:
    struct Built {
        support::TempPath folder{"site"};
        support::Outcome outcome = build_site(".", folder.str());
    };
    static const Built& built() {
        static const Built once;
        return once;
    }
};

}  // namespace browser_test
