// make wireshark-install and wireshark-uninstall, in a separate home folder.
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "tools/rocecap/capture_file.hpp"
#include "wireshark/plain_tshark.hpp"

namespace {

namespace fs = std::filesystem;

class WiresharkInstall : public testing::Test {
  protected:
    support::Outcome call(const std::string& verb) const {
        return home_.run({"wireshark/install", verb});
    }
    // Returns the files and folders in the home folder, except the folders that every home
    // contains.
    std::set<std::string> files() const {
        std::set<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(home_.path()))
            found.insert(entry.path().lexically_relative(home_.path()).string());
        for (const char* usual : {".config", ".local", ".local/lib"})
            found.erase(usual);
        return found;
    }
    static void write(const fs::path& path, const std::string& text) {
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    static std::string read(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    wireshark_test::Home home_{"install"};
    fs::path profile_ = home_.config() / "profiles/RDMA Wire Lab";
    fs::path extcap_ = home_.path() / ".local/lib/wireshark/extcap/rdma-wire-lab";
    fs::path plugin_ = home_.path() / ".local/lib/wireshark/plugins/rdma_wire_lab.lua";
};

TEST_F(WiresharkInstall, and_uninstall_leave_nothing) {
    const auto installed = home_.run({"make", "wireshark-install"});
    EXPECT_EQ(installed.exit_code, 0) << installed.all();
    for (const auto& entry : fs::directory_iterator("wireshark/profile/RDMA Wire Lab"))
        EXPECT_EQ(read(profile_ / entry.path().filename()), read(entry.path()));
    EXPECT_EQ(read(plugin_), read(wireshark_test::plugin));
    EXPECT_EQ(support::run({extcap_.string(), "--extcap-interfaces"}).out,
              support::run({"wireshark/extcap/rdma-wire-lab", "--extcap-interfaces"}).out);
    const auto removed = home_.run({"make", "wireshark-uninstall"});
    EXPECT_EQ(removed.exit_code, 0) << removed.all();
    EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(WiresharkInstall, makes_the_profile_and_the_dissector_tsharks_own) {
    if (!wireshark_test::runs_scripts())
        GTEST_SKIP() << wireshark_test::no_scripts;
    ASSERT_EQ(call("install").exit_code, 0);
    rocecap_test::CaptureFile capture("installed.pcapng");
    capture.add(rocecap_test::frame_of(0x0a));
    const auto shown = home_.tshark(capture.path(), {"-C", "RDMA Wire Lab", "-T", "tabs"});
    EXPECT_EQ(shown.exit_code, 0) << shown.all();
    EXPECT_NE(shown.out.find("\t10\t0x012345\t16777214\t0xdeadbeef\t"), std::string::npos)
        << shown.out;
    EXPECT_NE(home_.run({"tshark", "-G", "plugins"}).out.find(plugin_.string()), std::string::npos);
}

TEST_F(WiresharkInstall, again_takes_the_place_of_what_it_installed) {
    ASSERT_EQ(call("install").exit_code, 0);
    const auto first = files();
    const auto again = call("install");
    EXPECT_EQ(again.exit_code, 0) << again.all();
    EXPECT_EQ(again.err, "");
    EXPECT_EQ(files(), first);
}

TEST_F(WiresharkInstall, overwrites_nobody_elses_file_and_then_installs_nothing) {
    write(plugin_, "-- mine\n");
    const auto before = files();
    const auto outcome = call("install");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find(plugin_.string() + " is there and not this lab's"),
              std::string::npos)
        << outcome.all();
    EXPECT_EQ(files(), before);
    EXPECT_EQ(read(plugin_), "-- mine\n");
}

TEST_F(WiresharkInstall, keeps_what_was_changed_since) {
    ASSERT_EQ(call("install").exit_code, 0);
    write(profile_ / "preferences", "# mine\n");
    const auto again = call("install");
    EXPECT_EQ(again.exit_code, 0) << again.all();
    EXPECT_NE(again.err.find("preferences.yours"), std::string::npos) << again.all();
    EXPECT_EQ(read(profile_ / "preferences.yours"), "# mine\n");

    write(profile_ / "colorfilters", "# mine, too\n");
    const auto removed = call("uninstall");
    EXPECT_EQ(removed.exit_code, 0) << removed.all();
    EXPECT_NE(removed.err.find("colorfilters was changed since it was installed: it stays"),
              std::string::npos)
        << removed.all();
    EXPECT_EQ(read(profile_ / "colorfilters"), "# mine, too\n");
    EXPECT_FALSE(fs::exists(profile_ / "preferences"));
}

TEST_F(WiresharkInstall, uninstalls_only_what_it_installed) {
    write(home_.config() / "preferences", "# mine\n");
    write(plugin_.parent_path() / "other.lua", "-- mine\n");
    const auto before = files();
    ASSERT_EQ(call("install").exit_code, 0);
    write(profile_ / "recent", "# Wireshark's\n");
    const auto outcome = call("uninstall");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find("they stay"), std::string::npos) << outcome.all();
    fs::remove_all(home_.config() / "profiles");
    EXPECT_EQ(files(), before);
}

TEST_F(WiresharkInstall, that_never_happened_is_said) {
    const auto outcome = call("uninstall");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find("nothing is installed"), std::string::npos) << outcome.all();
    EXPECT_EQ(call("unistall").exit_code, 2);
}

}  // namespace
