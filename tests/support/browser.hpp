// The installed chromium without a window, for pages that a test opens. It reaches no network.
#pragma once

#include <optional>
#include <string>

#include "support/browser_page.hpp"
#include "support/devtools.hpp"
#include "support/temp_path.hpp"

namespace support {

/// A running browser, with a profile of its own that ends with it; so do its processes. It takes
/// about a second to start, and a page a tenth of one: a suite shares it.
class Browser {
  public:
    /// The first on PATH of chromium, chromium-browser and google-chrome that can see the test's
    /// files.
    static std::optional<std::string> path();

    /// Why path() is nothing, as one sentence.
    static std::string why_none();

    Browser();

    pid_t pid() const { return devtools_.pid(); }

    /// Opens a file and waits until it is loaded. The page must end before the browser does.
    Page open(const std::string& file) { return {devtools_, file}; }

  private:
    TempPath profile_;
    DevTools devtools_;
};

}  // namespace support
