#include "support/excerpts.hpp"

#include <algorithm>
#include <fstream>
#include <regex>

namespace support {
namespace {

namespace fs = std::filesystem;

Excerpt begin_excerpt(std::string source) {
    Excerpt excerpt;
    std::smatch match;
    if (std::regex_match(source, match, std::regex("(.*), if (.*)"))) {
        excerpt.condition = match[2];
        source = std::string(match[1]);
    }
    constexpr std::string_view another = ", another run";
    if (source.ends_with(another)) {
        excerpt.is_of_another_run = true;
        source.resize(source.size() - another.size());
    }
    excerpt.source = std::move(source);
    return excerpt;
}

}  // namespace

std::vector<Excerpt> excerpts_of(const fs::path& document) {
    std::ifstream file(document);
    std::vector<Excerpt> excerpts;
    std::string source;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        std::smatch match;
        if (std::regex_match(line, match, std::regex("<!-- from: (.*) -->"))) {
            source = match[1];
        } else if (line.starts_with("```")) {
            inside = !inside && !source.empty();
            if (inside)
                excerpts.push_back(begin_excerpt(source));
            source.clear();
        } else if (inside) {
            excerpts.back().lines.push_back(line);
        }
    }
    return excerpts;
}

std::vector<std::string> documents() {
    std::vector<std::string> found{"README.md"};
    for (const char* folder : {"docs", "examples", "lab", "captures", "wireshark"})
        if (fs::exists(folder))
            for (const auto& entry : fs::recursive_directory_iterator(folder))
                if (entry.path().extension() == ".md")
                    found.push_back(entry.path().string());
    std::ranges::sort(found);
    return found;
}

}  // namespace support
