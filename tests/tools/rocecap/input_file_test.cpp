// Input files of the commands that are not captures.
#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace input_file_test {
namespace {

// Runs each command as a user does.
TEST(InputFile, every_command_ends_at_once_with_a_sentence_where_there_is_no_capture) {
    const support::TempPath empty("empty.pcap");
    std::ofstream(empty.str()).flush();
    for (const char* command : {"decode", "flows", "verify", "check", "psns", "timeline", "predict",
                                "annotate", "report"})
        for (const std::string& file :
             {std::string("/etc/passwd"), std::string("/dev/zero"), std::string("/dev/null"),
              std::string("/nonexistent"), std::string("/"), empty.str()}) {
            const auto outcome = support::run({"timeout", "5", support::rocecap(), command, file});
            EXPECT_EQ(outcome.exit_code, 2) << command << ' ' << file << ": " << outcome.all();
            EXPECT_EQ(outcome.out, "") << command << ' ' << file;
            EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1)
                << command << ' ' << file << ": " << outcome.err;
        }
}

}  // namespace
}  // namespace input_file_test
