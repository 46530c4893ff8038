// The words of a rule, one after the other, and what a word may stand for. For the rules' parser
// only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

struct Word {
    std::string_view text;  ///< empty at the end
    std::size_t at = 0;     ///< bytes from the rule's first
};

/// What reads a value takes the next word, and throws filter::SyntaxError with its column where it
/// is none.
class RuleWords {
  public:
    explicit RuleWords(std::string_view text) : text_(text), word_(next(0)) {}

    std::string_view text() const { return text_; }
    const Word& word() const { return word_; }  ///< the next one, not yet taken
    bool is_number() const;                     ///< it begins with a digit

    Word take();
    bool take_if(std::string_view text);
    /// Takes this word, and refuses any other.
    void expect(std::string_view text);

    std::uint64_t count(std::string_view of, std::uint64_t low, std::uint64_t high);
    /// "1st", "2nd", …, "first".
    std::uint64_t ordinal();
    /// "0.5%" is 0.005.
    double share();
    /// "200us", "20ms", "1s"; at most a minute.
    std::chrono::nanoseconds time();
    /// "500kbit/s", "10Mbit/s", "1Gbit/s", in bits a second.
    std::uint64_t rate();
    /// Decimal, or hexadecimal behind "0x".
    std::uint64_t value(std::uint64_t most);

    [[noreturn]] void refuse(const std::string& why) const { refuse(word_, why); }
    [[noreturn]] void refuse(const Word& word, const std::string& why) const;
    /// ", not 'WORD'", for a sentence about the next word; empty at the end.
    std::string instead() const;

    static constexpr std::uint64_t most_packets = 1'000'000'000;

  private:
    Word next(std::size_t from) const;

    std::string_view text_;
    Word word_;
};

}  // namespace emulator
