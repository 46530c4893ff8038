// The requests and errors of a page, from the events of DevTools.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace support {

/// Converts a Runtime.ExceptionDetails to text: the thrown value, its stack and location.
std::string exception_text(const nlohmann::json& details);

class PageRecord {
  public:
    /// Handles an event of the domains Network, Runtime, Log or Page, and ignores others.
    void hear(const nlohmann::json& event);

    const std::vector<std::string>& requests() const { return requests_; }
    const std::vector<std::string>& errors() const { return errors_; }

  private:
    std::vector<std::string> requests_, errors_;
};

}  // namespace support
