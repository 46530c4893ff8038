// rocecap live, started as root, drops all privileges of root when it captures.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tools/rocecap/live_command.hpp"

namespace live_privileges_test {

using namespace std::chrono_literals;
using live_test::live;
using live_test::LiveCommand;
using support::Argv;
using support::Process;

namespace fs = std::filesystem;

class LivePrivileges : public LiveCommand {
  protected:
    void SetUp() override {
        if (geteuid() != 0)
            GTEST_SKIP() << "needs root, to see its rights given up";
        LiveCommand::SetUp();
        fs::create_directory(folder_.str());
    }
    // Returns the value of `key` in /proc/PID/status (proc_pid_status(5)).
    static std::string status(const Process& process, const std::string& key) {
        std::ifstream file("/proc/" + std::to_string(process.pid()) + "/status");
        for (std::string line; std::getline(file, line);)
            if (line.rfind(key + ":", 0) == 0) {
                std::istringstream words(line.substr(key.size() + 1));
                std::string text, word;
                while (words >> word)
                    text += (text.empty() ? "" : " ") + word;
                return text;
            }
        return "no " + key;
    }
    static void expect_ordinary(const Process& process, const std::string& uid,
                                const std::string& gid) {
        const auto four_times = [](const std::string& id) {
            return id + " " + id + " " + id + " " + id;  // real, effective, saved, file system
        };
        EXPECT_EQ(status(process, "Uid"), four_times(uid));
        EXPECT_EQ(status(process, "Gid"), four_times(gid));
        EXPECT_EQ(status(process, "Groups"), "");
        expect_no_capabilities(process);
    }
    static void expect_no_capabilities(const Process& process) {
        for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
            EXPECT_EQ(status(process, set), "0000000000000000") << set;
        EXPECT_EQ(status(process, "NoNewPrivs"), "1");
        EXPECT_EQ(status(process, "Seccomp"), support::is_sanitized() ? "0" : "2");
    }
    static void expect_captures(Process& process, int packets) {
        send(packets);
        expect_captured(process, packets);
    }
    static void expect_captured(Process& process, int packets) {
        process.signal(SIGTERM);
        const auto outcome = process.wait(10s);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_NE(outcome.err.find(std::to_string(packets) + " packets captured, 0 dropped"),
                  std::string::npos)
            << outcome.all();
    }
    static unsigned owner(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
        return status.st_uid;
    }

    support::TempPath folder_{"live_privileges"};
    Argv nobody_called_sudo_{"SUDO_UID=", "SUDO_GID="};
    Argv somebody_called_sudo_{"SUDO_UID=4711", "SUDO_GID=4712"};
};

TEST_F(LivePrivileges, the_caller_of_sudo_captures_and_owns_the_file) {
    Process capture(live({"-q", "-w", path_}), somebody_called_sudo_);
    expect_ready(capture);
    expect_ordinary(capture, "4711", "4712");
    EXPECT_EQ(owner(path_), 4711U);
    expect_captures(capture, 100);
    EXPECT_EQ(packets_in_file(), 100);
}

TEST_F(LivePrivileges, without_sudo_it_is_nobody) {
    Process capture(live({"-q", "-w", path_}), nobody_called_sudo_);
    expect_ready(capture);
    expect_ordinary(capture, "65534", "65534");
    EXPECT_EQ(owner(path_), 65534U);
    expect_captures(capture, 3);
}

TEST_F(LivePrivileges, root_that_called_sudo_is_nobody_too) {
    for (const Argv& environment :
         {Argv{"SUDO_UID=0", "SUDO_GID=0"}, Argv{"SUDO_UID=4711x", "SUDO_GID=4712"},
          Argv{"SUDO_UID=4294967295", "SUDO_GID=4294967295"}}) {
        Process capture(live({"-q"}), environment);
        expect_ready(capture);
        expect_ordinary(capture, "65534", "65534");
        expect_captures(capture, 1);
    }
}

TEST_F(LivePrivileges, another_user_can_be_chosen) {
    Process capture(live({"-q", "-w", path_, "--user", "daemon"}), somebody_called_sudo_);
    expect_ready(capture);
    expect_ordinary(capture, "1", "1");
    expect_captures(capture, 3);
    const auto outcome = support::run(live({"--user", "no-such-user"}));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "rocecap: there is no user 'no-such-user' here: choose a user from /etc/passwd, or "
              "root.\n");
}

TEST_F(LivePrivileges, root_stays_root_where_that_is_asked_for) {
    Process capture(live({"-q", "-w", path_, "--user", "root"}), somebody_called_sudo_);
    expect_ready(capture);
    EXPECT_EQ(status(capture, "Uid"), "0 0 0 0");
    EXPECT_EQ(status(capture, "NoNewPrivs"), support::is_sanitized() ? "0" : "1");
    EXPECT_EQ(owner(path_), 0U);
    expect_captures(capture, 3);
}

TEST_F(LivePrivileges, a_file_that_was_there_keeps_its_owner) {
    std::ofstream(path_) << "older";
    Process capture(live({"-q", "-w", path_}), somebody_called_sudo_);
    expect_ready(capture);
    EXPECT_EQ(owner(path_), 0U);
    expect_captures(capture, 3);
    EXPECT_EQ(packets_in_file(), 3);
}

TEST_F(LivePrivileges, files_in_a_row_are_made_by_the_ordinary_user) {
    ASSERT_EQ(chown(folder_.str().c_str(), 4711, 4712), 0);
    const std::string run = folder_.str() + "/run";
    std::ofstream(run + "_00002.pcapng") << "root's, and older";
    Process capture(live({"-q", "-w", run + ".pcapng", "--rotate-size", "1"}),
                    somebody_called_sudo_);
    expect_ready(capture);
    expect_ordinary(capture, "4711", "4712");
    for (int i = 0; i < 40; ++i)
        send(std::string(60000, 'x'));
    expect_captured(capture, 40);
    EXPECT_EQ(owner(run + "_00001.pcapng"), 4711U);
    EXPECT_EQ(owner(run + "_00002.pcapng"), 4711U);
}

TEST_F(LivePrivileges, a_folder_closed_to_the_ordinary_user_is_said_before_the_capture) {
    const std::string run = folder_.str() + "/run.pcapng";
    const Argv rotating{"-d", "0", "-q", "-w", run, "--rotate-size", "1"};
    const auto refused = support::run(live(rotating), somebody_called_sudo_);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err,
              "rocecap: user 4711 may not write to '" + folder_.str() +
                  "', and rocecap drops root privileges before it creates new files there: choose "
                  "another folder or user (--user), or keep root privileges (--user root).\n");
    EXPECT_TRUE(fs::is_empty(folder_.str()));
    Argv as_root = live(rotating);
    as_root.insert(as_root.end(), {"--user", "root"});
    EXPECT_EQ(support::run(as_root, somebody_called_sudo_).exit_code, 0);
}

// The namespace's root is an ordinary user outside, and there is no other user to switch to.
TEST_F(LivePrivileges, in_a_namespace_of_one_user_only_the_capabilities_go) {
    const auto in_namespace = [](const std::string& command) -> Argv {
        return {"unshare", "--user", "--map-root-user", "--net", "bash", "-c", command};
    };
    if (support::run(in_namespace("ip link set lo up")).exit_code != 0)
        GTEST_SKIP() << "user namespaces are not allowed here";
    Process capture(
        in_namespace("ip link set lo up && exec " + support::rocecap() + " live -i lo -q"),
        nobody_called_sudo_);
    expect_ready(capture);
    expect_no_capabilities(capture);
    capture.signal(SIGTERM);
    EXPECT_EQ(capture.wait(10s).exit_code, 0);
}

}  // namespace live_privileges_test
