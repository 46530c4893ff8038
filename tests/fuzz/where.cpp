// Input: a text, parsed both as a display filter and as a list of fields.
#include "filter/where.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/sample_view.hpp"
#include "fuzz/check.hpp"

namespace {

// Returns a few packets of different kinds. Every execution matches all of them.
std::vector<query_test::Sample> samples() {
    std::vector<query_test::Sample> all;
    const auto frames = wire_test::sample_set();
    for (std::size_t i = 0; i < frames.size(); i += 23)
        all.emplace_back(frames[i]);
    const auto& last = frames.back().bytes;
    all.emplace_back(std::vector(last.begin(), last.begin() + 40), last.size(), frames.back().link);
    return all;
}

void check_error(const filter::SyntaxError& error, std::string_view text) {
    const std::string marked = error.marked();
    if (marked.empty())  // the filter has no text to mark
        return fuzz::require(text.find_first_not_of(" \t\r\n") == std::string_view::npos,
                             "a filter is marked");
    fuzz::require(error.column() >= 1 && error.column() <= text.size() + 1 && error.width() >= 1,
                  "an error is in the filter");
    fuzz::require(std::ranges::count(marked, '\n') == 2, "a mark is two lines");
    fuzz::require(std::string_view(error.what()).find("column " + std::to_string(error.column())) !=
                      std::string_view::npos,
                  "a sentence has its column: " + std::string(error.what()));
}

void check_filter(std::string_view text) {
    const auto filter = filter::Where::parse(text);
    std::optional<filter::Where> opposite;
    try {
        opposite = filter::Where::parse("not (" + std::string(text) + ")");
    } catch (const filter::SyntaxError& error) {
        fuzz::require(std::string_view(error.what()).find("nested") != std::string_view::npos,
                      "a filter has an opposite: " + std::string(error.what()));
    }
    static std::vector<query_test::Sample> all = samples();
    for (auto& sample : all)
        fuzz::require(
            !opposite || filter.matches(sample.view()) != opposite->matches(sample.view()),
            "a packet matches the filter or its opposite");
    fuzz::require(!opposite || filter.needs_icrc() == opposite->needs_icrc(),
                  "a filter needs what its opposite needs");
}

void check_row(std::string_view names) {
    try {
        const filter::Row row(names, filter::Row::Format::Tsv);
        const std::string header = row.header();
        fuzz::require(std::ranges::count(header, '\t') == std::ranges::count(names, ','),
                      "a header has all names");
    } catch (const util::Error& error) {
        fuzz::require(std::string_view(error.what()).ends_with('.'), "an error is a sentence");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        check_filter(text);
    } catch (const filter::SyntaxError& error) {
        check_error(error, text);
    }
    check_row(text);
    return 0;
}
