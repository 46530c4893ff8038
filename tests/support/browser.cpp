#include "support/browser.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace support {
namespace {

namespace fs = std::filesystem;

// Chromium does not start with a sandbox as root, nor where it can make no namespaces, as in many
// containers.
bool can_have_sandbox() {
    if (geteuid() == 0)
        return false;
    const pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET));
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// A snap has a separate /tmp. Ubuntu's package is a script that starts the snap.
bool is_snap(const fs::path& program) {
    if (program.string().starts_with("/snap/"))
        return true;
    std::ifstream file(program);
    std::string head(4096, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    return head.starts_with("#!") && head.find("/snap/bin/") != std::string::npos;
}

struct Found {
    std::optional<std::string> path;
    std::string why_none = "there is no chromium, chromium-browser or google-chrome on PATH";
};

Found find_browser() {
    Found found;
    const char* folders = std::getenv("PATH");
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        std::istringstream search(folders == nullptr ? "" : folders);
        for (std::string folder; std::getline(search, folder, ':');) {
            const fs::path program = fs::path(folder) / name;
            if (access(program.c_str(), X_OK) != 0)
                continue;
            if (!is_snap(program))
                return {program.string(), ""};
            found.why_none = program.string() + " is a snap, which does not see the files in /tmp";
        }
    }
    return found;
}

Argv command(const std::string& profile) {
    const auto program = Browser::path();
    if (!program)
        throw std::runtime_error(Browser::why_none());
    Argv argv{
        *program,
        "--headless",
        "--remote-debugging-pipe",
        "--user-data-dir=" + profile,
        // No name and no address resolves: each request of a page fails before a packet is sent.
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-server=http://nowhere.invalid:9",
        "--proxy-bypass-list=<-loopback>",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-domain-reliability",
        "--disable-sync",
        "--no-pings",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-features=Translate,MediaRouter,OptimizationHints",
        "--disable-breakpad",
        "--disable-crash-reporter",
        "--password-store=basic",
        "--use-mock-keychain",
        "--mute-audio",
        // In a container, /dev/shm may have only some megabytes.
        "--disable-dev-shm-usage",
        "--disable-gpu",
        // Do not throttle a page that another one covers.
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        // A page is where it is going to be: it does not scroll for some hundred milliseconds.
        "--force-prefers-reduced-motion",
        // Screenshots are the same on all machines.
        "--force-color-profile=srgb",
        "--hide-scrollbars",
        "--lang=en-US",
    };
    if (!can_have_sandbox())
        argv.emplace_back("--no-sandbox");
    return argv;
}

// Files that it stores outside its profile also go there.
Argv environment(const std::string& profile) {
    return {"HOME=" + profile, "TMPDIR=" + profile, "XDG_CONFIG_HOME=" + profile,
            "XDG_CACHE_HOME=" + profile};
}

std::string profile_name() {
    static int count = 0;
    return "browser_" + std::to_string(++count);
}

std::string made(const TempPath& folder) {
    fs::create_directories(folder.str());
    return folder.str();
}

}  // namespace

std::optional<std::string> Browser::path() {
    return find_browser().path;
}

std::string Browser::why_none() {
    return find_browser().why_none;
}

Browser::Browser()
    : profile_(profile_name()),
      devtools_(command(made(profile_)), environment(profile_.str()), profile_.str() + "/output") {
    devtools_.call("", "Browser.getVersion");
    devtools_.call("", "Browser.setDownloadBehavior", {{"behavior", "deny"}});
}

}  // namespace support
