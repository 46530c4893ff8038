// The files that the link's recorder leaves if it cannot write everything.
#include "emulator/recorder.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "emulator/frames.hpp"
#include "support/error_text.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_path.hpp"

namespace recorder_test {

using support::error_text;

// An Ethernet frame with an unknown type.
const std::vector<std::byte> frame(100, std::byte{0xee});

emulator::ReceivedFrame arrival() {
    return {capture::Time(1), 0, std::nullopt, frame};
}

TEST(Recorder, a_recording_that_could_not_be_written_whole_says_so_and_can_be_read) {
    const support::TempPath file("recorder.pcapng");
    emulator::Recorder recorder({"server", "client"});
    recorder.start(file.str(), "");
    {
        const support::FileSizeLimit limit(2000);
        for (int i = 0; i < 50; ++i)
            recorder.before(arrival(), false, {});
        recorder.flush();
    }
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_EQ(error_text([&] { recorder.stop(); }),
              "capture incomplete: cannot write to '" + file.str() + "': File too large.");
    EXPECT_EQ(recorder.stop(), 0U) << "said once";
    capture::FileSource source(file.str());
    int frames = 0;
    while (source.next())
        ++frames;
    EXPECT_GT(frames, 5);
    EXPECT_LT(frames, 50);
}

TEST(Recorder, a_log_that_could_not_be_written_whole_says_so) {
    const support::TempPath file("recorder.pcapng");
    const support::TempPath log("recorder.jsonl");
    emulator::Recorder recorder({"server", "client"});
    recorder.start(file.str(), log.str());
    testing::internal::CaptureStdout();
    {
        const support::FileSizeLimit limit(500);
        for (int i = 0; i < 10; ++i)
            recorder.acted({.frame = {.bytes = frame}},
                           {.rule = 1, .name = "drop", .text = "drop", .detail = ""});
    }
    testing::internal::GetCapturedStdout();
    EXPECT_EQ(error_text([&] { recorder.stop(); }),
              "run log incomplete: cannot write to " + log.str() + ": File too large.");
    EXPECT_GT(std::filesystem::file_size(log.str()), 0U);
}

}  // namespace recorder_test
