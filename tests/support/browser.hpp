// The installed chromium, headless, for pages that a test opens. It has no access to a network.
#pragma once

#include <optional>
#include <string>

#include "support/browser_page.hpp"
#include "support/devtools.hpp"
#include "support/temp_path.hpp"

namespace support {

/// A running browser with a temporary profile. The destructor ends its processes. A suite shares
/// it, because it takes about a second to start, and a page only a tenth of a second.
class Browser {
  public:
    /// Returns the first of chromium, chromium-browser and google-chrome on PATH that can read the
    /// test's files.
    static std::optional<std::string> path();

    /// Returns the reason why path() is nullopt, as one sentence.
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
