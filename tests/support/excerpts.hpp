// The excerpts in the documents: code blocks after a comment that gives their source.
//   <!-- from: COMMAND -->                  a shell command, run in the root of the repository
//   <!-- from: FILE of lesson NN -->        a file in a run's directory
//   <!-- from: COMMAND of lessons NN… -->   the command, followed by the directories of these runs
// A source may end with ", another run" (its lines are not those of the reference run), and then with
// ", if CONDITION", a shell command. If it fails, for example on another kernel, the excerpt is not
// compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace support {

struct Excerpt {
    std::string source;     // without the two endings
    std::string condition;  // empty: none
    bool is_of_another_run = false;
    std::vector<std::string> lines;
};

std::vector<Excerpt> excerpts_of(const std::filesystem::path& document);

/// Returns the documents of the repository, sorted.
std::vector<std::string> documents();

}  // namespace support
