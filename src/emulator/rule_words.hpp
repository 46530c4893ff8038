// Tokenizer for the parser of rules.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

struct Word {
    std::string_view text;  ///< empty at the end
    std::size_t at = 0;     ///< offset in the rule, bytes
};

/// Functions that read a value take the next word. They throw filter::SyntaxError with the column
/// if the word is not valid.
class RuleWords {
  public:
    explicit RuleWords(std::string_view text) : text_(text), word_(next(0)) {}

    std::string_view text() const { return text_; }
    const Word& word() const { return word_; }  ///< the next word, not yet taken
    bool is_number() const;                     ///< the next word begins with a digit

    Word take();
    bool take_if(std::string_view text);
    /// Takes the next word if it is `text`; otherwise throws filter::SyntaxError.
    void expect(std::string_view text);

    std::uint64_t count(std::string_view of, std::uint64_t low, std::uint64_t high);
    /// "1st", "2nd", …, "first".
    std::uint64_t ordinal();
    /// "0.5%" is 0.005.
    double share();
    /// "200us", "20ms", "1s"; at most one minute.
    std::chrono::nanoseconds time();
    /// "500kbit/s", "10Mbit/s", "1Gbit/s", in bits per second.
    std::uint64_t rate();
    /// Decimal, or hexadecimal with the prefix "0x".
    std::uint64_t value(std::uint64_t most);

    [[noreturn]] void refuse(const std::string& why) const { refuse(word_, why); }
    [[noreturn]] void refuse(const Word& word, const std::string& why) const;
    /// Returns ", not 'WORD'" with the next word, for error messages; empty at the end.
    std::string instead() const;

    static constexpr std::uint64_t most_packets = 1'000'000'000;

  private:
    Word next(std::size_t from) const;

    std::string_view text_;
    Word word_;
};

}  // namespace emulator
