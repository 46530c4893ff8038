// What a page asked for and what went wrong in it, as DevTools' events tell it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace support {

/// A Runtime.ExceptionDetails in words: what was thrown, its stack, and where.
std::string exception_text(const nlohmann::json& details);

class PageRecord {
  public:
    /// An event of the domains Network, Runtime, Log or Page; others are passed over.
    void hear(const nlohmann::json& event);

    const std::vector<std::string>& requests() const { return requests_; }
    const std::vector<std::string>& errors() const { return errors_; }

  private:
    std::vector<std::string> requests_, errors_;
};

}  // namespace support
