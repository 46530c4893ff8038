// CAPTURE_WIRESHARK=1: a running Wireshark gets the packets during the capture. A script called
// `wireshark` replaces its window and reads the stream with Wireshark's tshark.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"

namespace wireshark_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST(Wireshark, gets_every_packet_of_the_capture_as_it_grows) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    const support::TempPath folder("wireshark");
    fs::create_directories(folder.str());
    const std::string program = folder.str() + "/wireshark";
    const std::string done = folder.str() + "/done";
    std::ofstream(program) << "#!/bin/sh\n[ \"$*\" = '-k -i -' ] || exit 9\ntshark -i - -l > "
                           << folder.str() << "/out 2>&1\nmv " << folder.str() << "/out " << done
                           << "\n";
    fs::permissions(program, fs::perms::owner_all);
    const auto run = support::capture(
        "01", {"CAPTURE_WIRESHARK=1", "PATH=" + folder.str() + ":" + std::getenv("PATH")});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    // The script ends later than the run: the stream's tail needs time to detect the end of the
    // capture.
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!fs::exists(done) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(50ms);
    std::ifstream file(done);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find(run.info["capture"]["packets"].dump() + " packets captured"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("RC RDMA Read Response Last"), std::string::npos) << text;
}

TEST(Wireshark, that_is_not_installed_is_said_before_anything_starts) {
    if (fs::exists("/usr/bin/wireshark"))
        GTEST_SKIP() << "it is installed here";
    const auto outcome =
        support::run({"lab/lab", "capture", "01"},
                     {"CAPTURE_WIRESHARK=1", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("wireshark is not installed here: install it"), std::string::npos)
        << outcome.all();
}

}  // namespace wireshark_test
