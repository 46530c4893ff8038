// Shared by the browser tests: one browser for each suite, one page for each test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/browser.hpp"
#include "support/temp_path.hpp"

namespace browser_test {

class BrowserTest : public testing::Test {
  protected:
    void SetUp() override {
        if (!support::Browser::path())
            GTEST_SKIP() << support::Browser::why_none();
    }

    static support::Browser& browser() {
        static support::Browser shared;
        return shared;
    }

    /// Writes a file with this HTML and opens it. Changes of the page do not affect other tests.
    support::Page page(const std::string& html, const std::string& name = "page.html") {
        std::filesystem::create_directories(folder_.str());
        const std::string file = folder_.str() + "/" + name;
        std::ofstream(file) << "<!doctype html><meta charset=utf-8><title>page</title>" << html;
        return browser().open(file);
    }

  private:
    support::TempPath folder_{"pages"};
};

/// Returns the message of the std::runtime_error that `call` throws, or an empty string.
template <typename Call>
std::string thrown_by(Call call) {
    try {
        call();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

}  // namespace browser_test
