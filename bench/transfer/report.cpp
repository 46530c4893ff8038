// report FIGURES.jsonl [DOCUMENT.md]: the results of bench/transfer/run as a table, as JSON next to
// the figures and, if named, in the document.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/transfer/table.hpp"
#include "util/error.hpp"

namespace {

std::ifstream open(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw util::Error("cannot read " + path + ".");
    return file;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    if (!file.flush())
        throw util::Error("cannot write " + path + ".");
}

void report(const std::string& figures, const std::string& document) {
    std::ifstream lines = open(figures);
    const bench::Transfers transfers = bench::read_transfers(lines);
    std::fputs(bench::table(transfers).c_str(), stdout);
    write(std::filesystem::path(figures).replace_extension(".json"),
          json(transfers).dump(1) + '\n');
    if (document.empty())
        return;
    std::ostringstream text;
    text << open(document).rdbuf();
    write(document, bench::replace_section(text.str(), markdown(transfers)));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fputs("usage: report FIGURES.jsonl [DOCUMENT.md]\n", stderr);
        return 2;
    }
    try {
        report(argv[1], argc > 2 ? argv[2] : "");
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "report: %s\n", error.what());
        return 1;
    }
}
