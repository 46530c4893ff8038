// What a guest can see of this host and change on it. A user who is root in a guest can mount
// everything that its QEMU exports, so the tests check the exports and not only the guest's mounts.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "support/certificates.hpp"
#include "support/lab.hpp"

namespace boundary_test {

namespace fs = std::filesystem;

const support::Argv hosts{"server", "client"};

std::string in_guest(const std::string& host, const std::string& script) {
    return support::exec(host, {"bash", "-c", script}).out;
}

std::string text_of(const fs::path& path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::set<std::string> lines_of(const std::string& text) {
    std::set<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.insert(line);
    return lines;
}

// Returns the folder in /proc of the guest's QEMU.
fs::path qemu_of(const std::string& host) {
    std::ifstream stream("build/lab/" + host + ".pid");
    std::string pid;
    stream >> pid;
    return fs::path("/proc") / pid;
}

// Returns the folders that the guest's QEMU exports, by tag. A + follows the tag of a writable
// folder.
std::map<std::string, fs::path> exports_of(const std::string& host) {
    std::map<std::string, fs::path> found;
    std::istringstream arguments(text_of(qemu_of(host) / "cmdline"));
    const std::regex of_export("local,id=([^,]*),path=/proc/self/(fd/[0-9]+),.*");
    std::smatch match;
    for (std::string argument; std::getline(arguments, argument, '\0');)
        if (std::regex_match(argument, match, of_export)) {
            const bool readonly = argument.find(",readonly=on,") != std::string::npos;
            found[match[1].str() + (readonly ? "" : "+")] =
                fs::read_symlink(qemu_of(host) / match[2].str());
        }
    return found;
}

class Boundary : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        support::make_certificates("build/certs");
    }
};

TEST_F(Boundary, qemu_exports_programs_the_checkout_and_what_was_made_for_the_guest) {
    const fs::path here = fs::canonical(".");
    for (const auto& host : hosts) {
        auto exports = exports_of(host);
        EXPECT_EQ(exports["repo"], here);
        EXPECT_EQ(exports["own"], fs::canonical("build/lab/run") / "guest" / host);
        EXPECT_EQ(exports["certs"], fs::canonical("build/certs") / "guests" / host);
        EXPECT_EQ(exports["shared+"], here / "build/guests");
        EXPECT_EQ(exports["modules"].parent_path().filename(), "modules");
        EXPECT_EQ(exports["usr"], "/usr");
        for (const char* tag : {"repo", "own", "certs", "shared+", "modules", "usr"})
            exports.erase(tag);
        // On hosts where /bin and similar folders are not links into /usr.
        const std::set<std::string> of_system{"bin", "sbin", "lib", "lib32", "lib64", "libx32"};
        for (const auto& [tag, folder] : exports) {
            EXPECT_TRUE(of_system.contains(tag)) << tag;
            EXPECT_EQ(folder, "/" + tag);
        }
    }
}

TEST_F(Boundary, a_guest_reads_nothing_of_the_hosts_users) {
    const fs::path marker = fs::path(std::getenv("HOME")) / ".rdma-wire-lab-test";
    std::ofstream(marker) << "a file in a home folder\n";
    for (const auto& host : hosts) {
        EXPECT_EQ(in_guest(host, "cat /etc/shadow"), "root:*:19000::::::\n");
        EXPECT_EQ(in_guest(host, "wc -l </etc/passwd"), "3\n");
        EXPECT_EQ(in_guest(host, "ls -d /run/host /var/log/* /var/lib/* /root/.ssh /root/.bashrc " +
                                     marker.string() + " 2>/dev/null"),
                  "");
        EXPECT_EQ(
            in_guest(host, "find / /root /run /tmp -xdev -name " + marker.filename().string()), "");
    }
    fs::remove(marker);
}

TEST_F(Boundary, a_guest_changes_nothing_on_the_host_but_in_its_folder) {
    const auto init = text_of("lab/guest/init");
    for (const auto& host : hosts) {
        in_guest(host, "mount -o remount,rw . ; mount -o remount,rw build/certs/");
        const std::string tried = in_guest(
            host,
            "for file in .git/hooks/post-checkout lab/planted src/planted captures/runs/planted "
            "build/planted build/lab/planted build/certs/planted planted; do "
            "echo planted >$file && echo $file; done; "
            "for file in lab/guest/init build/rocecap build/rocewire; do "
            "echo planted >>$file && echo $file; chmod 777 $file && echo $file; "
            "rm $file && echo $file; done");
        EXPECT_EQ(tried, "");
    }
    for (const char* file : {".git/hooks/post-checkout", "lab/planted", "src/planted", "planted",
                             "build/planted", "build/lab/planted", "build/certs/planted"})
        EXPECT_FALSE(fs::exists(file)) << file;
    EXPECT_EQ(text_of("lab/guest/init"), init);
}

TEST_F(Boundary, what_guests_leave_in_their_folder_are_plain_files) {
    EXPECT_EQ(in_guest("server",
                       "cd build/guests && rm -f t-* && echo kept >t-file && "
                       "ln -s /etc/passwd t-link && mkfifo t-pipe && chmod u+s t-file && "
                       "cat t-file && readlink t-link"),
              "kept\n/etc/passwd\n");
    EXPECT_EQ(text_of("build/guests/t-file"), "kept\n");
    constexpr auto no_program = fs::perms::set_uid | fs::perms::set_gid | fs::perms::owner_exec |
                                fs::perms::group_exec | fs::perms::others_exec;
    for (const char* name : {"t-file", "t-link", "t-pipe"}) {
        const auto status = fs::symlink_status(fs::path("build/guests") / name);
        EXPECT_EQ(status.type(), fs::file_type::regular) << name;
        EXPECT_EQ(status.permissions() & no_program, fs::perms::none) << name;
    }
    EXPECT_EQ(in_guest("client", "cat build/guests/t-file; rm build/guests/t-*"), "kept\n");
}

TEST_F(Boundary, each_guest_has_its_own_key_and_no_other) {
    for (const auto& host : hosts) {
        const std::set<std::string> own{"ca.crt", host + ".crt", host + ".key"};
        EXPECT_EQ(lines_of(in_guest(host, "ls -A build/certs/")), own);
        EXPECT_EQ(in_guest(host, "cat build/certs/*.key"), text_of("build/certs/" + host + ".key"));
        EXPECT_EQ(in_guest(host, "cat build/certs/ca.crt"), text_of("build/certs/ca.crt"));
        std::set<std::string> exported;
        for (const auto& entry : fs::directory_iterator(exports_of(host)["certs"]))
            exported.insert(entry.path().filename());
        EXPECT_EQ(exported, own);
    }
    // The whole checkout is exported, so the keys must be outside of it.
    EXPECT_FALSE(fs::canonical("build/certs").string().starts_with(fs::canonical(".").string()));
}

TEST_F(Boundary, a_renewed_certificate_reaches_the_guests_that_run) {
    fs::remove("build/certs/server.crt");
    support::make_certificates("build/certs");
    EXPECT_EQ(in_guest("server", "cat build/certs/server.crt"), text_of("build/certs/server.crt"));
}

TEST_F(Boundary, a_program_anywhere_below_the_checkout_runs_in_the_guests) {
    const fs::path folder = "of-boundary-test";
    fs::create_directories(folder);
    fs::copy_file("/bin/echo", folder / "program", fs::copy_options::overwrite_existing);
    EXPECT_EQ(support::exec("client", {folder / "program", "it runs"}).out, "it runs\n");
    fs::remove_all(folder);
}

TEST_F(Boundary, qemu_is_in_a_sandbox_and_not_root) {
    for (const auto& host : hosts) {
        const auto status = lines_of(text_of(qemu_of(host) / "status"));
        EXPECT_TRUE(status.contains("Seccomp:\t2")) << host;
        EXPECT_TRUE(status.contains("NoNewPrivs:\t1")) << host;
        EXPECT_TRUE(status.contains("CapEff:\t0000000000000000")) << host;
        EXPECT_FALSE(status.contains("Uid:\t0\t0\t0\t0")) << host;
    }
}

}  // namespace boundary_test
