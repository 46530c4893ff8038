#include "support/wire_document.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "wire/sample_frames.hpp"

namespace support {
namespace {

namespace fs = std::filesystem;

// The build directory is below the repository.
fs::path document_path() {
    const fs::path name = "docs/wire-format.md";
    fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    while (!fs::exists(folder / name) && folder.has_relative_path())
        folder = folder.parent_path();
    return folder / name;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? ""
                                      : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "| a | b |"
Cells cells_of(const std::string& line) {
    Cells cells;
    for (std::size_t from = 1, bar = 0; (bar = line.find('|', from)) != std::string::npos;
         from = bar + 1)
        cells.push_back(trimmed(line.substr(from, bar - from)));
    return cells;
}

class Reader {
  public:
    explicit Reader(WireDocument& document) : document_(document) {}

    void line(const std::string& line) {
        ++number_;
        if (line.starts_with("```"))
            fence();
        else if (inside_)
            dumped(line);
        else if (line.starts_with("|"))
            table_row(line);
        else
            prose(line);
    }

  private:
    void fence() {
        inside_ = !inside_;
        Cutter caption(caption_);
        const std::string what = caption.until(" `");
        const std::string name = caption.until("`:");
        is_masked_ = what == "Masked";
        const bool is_named = inside_ && (is_masked_ || what == "Packet");
        bytes_ = nullptr;
        if (!is_named)
            return;
        bytes_ = &(is_masked_ ? document_.masked : document_.packets)[name];
        if (!bytes_->empty())
            fail("this packet stands here twice");
        repeats_ = false;
    }

    // "0010  45 00 ...", or "*" for lines like the one before.
    void dumped(const std::string& line) {
        if (bytes_ == nullptr)
            return;
        if (is_masked_)
            return append(line.substr(0, line.find('#')));
        if (line == "*") {
            repeats_ = true;
            return;
        }
        const auto offset = std::stoul(line, nullptr, 16);
        while (repeats_ && bytes_->size() < offset) {
            const std::vector<std::byte> last(bytes_->end() - row_size, bytes_->end());
            bytes_->insert(bytes_->end(), last.begin(), last.end());
        }
        repeats_ = false;
        if (bytes_->size() != offset)
            fail("the offset does not fit the bytes before it");
        append(line.substr(4));
    }

    void append(const std::string& hex) {
        const auto bytes = wire_test::from_hex(hex);
        bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
    }

    void table_row(const std::string& line) {
        if (!in_table_)
            document_.tables.push_back({caption_, number_, cells_of(line), {}});
        else if (!line.starts_with("|---"))
            document_.tables.back().rows.push_back(cells_of(line));
        in_table_ = true;
    }

    void prose(const std::string& line) {
        in_table_ = false;
        if (!line.empty())
            caption_ = line;
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error("docs/wire-format.md, line " + std::to_string(number_) + ": " +
                                 why);
    }

    static constexpr std::ptrdiff_t row_size = 16;

    WireDocument& document_;
    std::size_t number_ = 0;
    std::string caption_;
    bool inside_ = false;
    bool in_table_ = false;
    bool is_masked_ = false;
    bool repeats_ = false;
    std::vector<std::byte>* bytes_ = nullptr;
};

WireDocument read() {
    std::ifstream file(document_path());
    if (!file)
        throw std::runtime_error("cannot read docs/wire-format.md");
    WireDocument document;
    document.text.assign(std::istreambuf_iterator<char>(file), {});
    std::istringstream lines(document.text);
    Reader reader(document);
    for (std::string line; std::getline(lines, line);)
        reader.line(line);
    return document;
}

}  // namespace

std::optional<Range> range_of(std::string_view text) {
    const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
        std::size_t value = 0;
        const auto end = digits.data() + digits.size();
        const auto result = std::from_chars(digits.data(), end, value);
        return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
    };
    const auto dash = text.find('-');
    const auto first = number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
    if (!first || !last)
        return std::nullopt;
    return Range{std::min(*first, *last), std::max(*first, *last)};
}

std::string Cutter::until(std::string_view mark) {
    const auto at = rest_.find(mark);
    failed_ = failed_ || at == std::string_view::npos;
    std::string before(rest_.substr(0, at));
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + mark.size());
    return before;
}

std::string Table::head() const {
    std::string head;
    for (const std::string& cell : header)
        head += (head.empty() ? "" : " | ") + cell;
    return head;
}

std::vector<const Table*> WireDocument::with_head(std::string_view head) const {
    std::vector<const Table*> found;
    for (const Table& table : tables)
        if (table.head() == head)
            found.push_back(&table);
    return found;
}

const WireDocument& wire_document() {
    static const WireDocument document = read();
    return document;
}

}  // namespace support
