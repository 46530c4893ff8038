// Selects the interface of a capture whose packets are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace capture {

class InterfaceChoice {
  public:
    /// `text`: a number, a name or a description; empty: all interfaces.
    explicit InterfaceChoice(std::string text = {}) : text_(std::move(text)) {}

    bool is_all() const { return text_.empty(); }
    const std::string& text() const { return text_; }

    bool takes(std::uint32_t number, std::string_view name, std::string_view description) const {
        return is_all() || text_ == std::to_string(number) || text_ == name || text_ == description;
    }

  private:
    std::string text_;
};

}  // namespace capture
