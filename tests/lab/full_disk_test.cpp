// Disks that are too small for a run or for the lab itself.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"

namespace full_disk_test {

using namespace std::chrono_literals;

// A small file system. Mounting it requires root.
class SmallDisk {
  public:
    SmallDisk(const std::string& name, const std::string& size) : path_(name) {
        std::filesystem::create_directories(path());
        is_mounted_ = support::run({"mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", path()})
                          .exit_code == 0;
    }
    ~SmallDisk() {
        if (is_mounted_)
            support::run({"umount", path()});
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    SmallDisk(SmallDisk&&) = delete;
    SmallDisk& operator=(SmallDisk&&) = delete;

    bool is_mounted() const { return is_mounted_; }
    std::string path() const { return path_.str(); }

  private:
    support::TempPath path_;
    bool is_mounted_ = false;
};

TEST(FullDisk, a_capture_that_does_not_fit_fails_and_keeps_what_was_written) {
    const SmallDisk disk("runs", "64k");
    if (!disk.is_mounted())
        GTEST_SKIP() << "cannot mount a file system: not root";
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    const auto outcome =
        support::run({"lab/lab", "capture", "06"}, {"LAB_RUNS=" + disk.path()}, 120s);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("lab: capture incomplete: "), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.all();
    for (const auto& run : std::filesystem::directory_iterator(disk.path())) {
        std::ifstream file(run.path() / "run.json");
        const auto info = nlohmann::json::parse(file);
        EXPECT_TRUE(info.contains("incomplete")) << info;
        EXPECT_TRUE(info.contains("ended")) << info;
        for (const auto& entry : std::filesystem::directory_iterator(run.path()))
            EXPECT_NE(entry.path().extension(), ".new");
    }
}

// Runs `lab/lab up` with 4 MiB for LAB_STATE, in which the files in `shared` already exist.
void expect_no_room(const std::vector<std::string>& shared, const std::string& what) {
    const SmallDisk disk("state", "4m");
    if (!disk.is_mounted())
        GTEST_SKIP() << "cannot mount a file system: not root";
    for (const std::string& name : shared)
        std::filesystem::create_symlink(std::filesystem::absolute("build/lab/" + name),
                                        disk.path() + "/" + name);
    const support::Argv environment{"LAB_STATE=" + disk.path()};
    for (int tries = 0; tries < 2; ++tries) {
        const auto outcome = support::run({"lab/lab", "up"}, environment);
        EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
        EXPECT_NE(outcome.err.find("lab: the guests' " + what), std::string::npos) << outcome.all();
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
    }
    for (const char* name : {"vm.state", "initramfs.tree", "vmlinux.new"})
        EXPECT_FALSE(std::filesystem::exists(disk.path() + "/" + name)) << name;
}

TEST(FullDisk, an_up_without_room_for_the_kernel_says_so_and_leaves_nothing) {
    expect_no_room({"kernel"}, "unpacked kernel needs 80 MB");
}

TEST(FullDisk, an_up_without_room_for_the_initramfs_says_so_and_leaves_nothing) {
    expect_no_room({"kernel", "vmlinux", "vmlinux.key", "layer"}, "initramfs needs 16 MB");
}

}  // namespace full_disk_test
