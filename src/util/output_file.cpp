#include "util/output_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace util {
namespace {

// O_NONBLOCK: opening a FIFO without a reader fails instead of blocking.
constexpr int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK;
constexpr mode_t owner_only = S_IRUSR | S_IWUSR;
constexpr int step_ms = 50;

std::filesystem::path folder_of(const std::string& path) {
    auto folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder;
}

// Links that the kernel creates, in folders where users cannot create any.
bool names_descriptor(const std::string& path) {
    const auto folder = folder_of(path);
    return folder == "/dev" || folder == "/dev/fd" || folder == "/proc/self/fd";
}

bool is_fifo(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

bool may_wait(const OutputOptions& options) {
    pollfd stop{options.stop != nullptr ? options.stop->fd() : -1, POLLIN, 0};
    poll(&stop, 1, step_ms);
    return stop.revents == 0 && !is_past(options.end);
}

Fd open_existing(const std::string& path, const OutputOptions& options) {
    const int nofollow = names_descriptor(path) ? 0 : O_NOFOLLOW;
    while (true) {
        Fd fd(open(path.c_str(), flags | nofollow));
        if (fd || errno != ENXIO || !is_fifo(path))
            return fd;
        if (!may_wait(options))
            throw Error(fmt::format(
                "gave up writing to '{}': no program has opened it for reading.", path));
    }
}

// In such a folder, anyone can create the file first, or link one of our files to its name.
void check_shared_folder(const std::string& path, int fd, const OutputOptions& options) {
    struct stat folder {};
    struct stat status {};
    check_errno(stat(folder_of(path).c_str(), &folder), "stat " + path);
    check_errno(fstat(fd, &status), "fstat " + path);
    if ((folder.st_mode & S_IWOTH) == 0 || S_ISCHR(status.st_mode))
        return;
    if (status.st_uid != geteuid() && status.st_uid != options.owner)
        throw Error(fmt::format(
            "cannot write '{}': it belongs to another user, in a folder where everyone may write. "
            "Choose another name.",
            path));
    if (S_ISREG(status.st_mode) && status.st_nlink > 1)
        throw Error(
            fmt::format("cannot write '{}': it has several hard links, in a folder where everyone "
                        "may write. Choose another name.",
                        path));
}

}  // namespace

OutputFile open_output(const std::string& path, const OutputOptions& options) {
    OutputFile file{Fd(open(path.c_str(), flags | O_CREAT | O_EXCL, owner_only)), true};
    if (!file.fd && errno == EEXIST)
        file = {open_existing(path, options), false};
    if (!file.fd && errno == ELOOP)
        throw Error(fmt::format(
            "cannot write '{}': it is a symbolic link. Give the path of its target.", path));
    if (!file.fd)
        throw Error(
            fmt::format("cannot write '{}': {}.", path, std::generic_category().message(errno)));
    if (!file.is_new)
        check_shared_folder(path, file.fd.get(), options);
    return file;
}

}  // namespace util
