#include "bench/process.hpp"

#include <chrono>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

double seconds(const timeval& time) {
    constexpr double microsecond = 1e-6;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * microsecond;
}

}  // namespace

Usage run(const std::vector<std::string>& argv, const std::string& output) {
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);

    constexpr mode_t mode = 0644;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, mode);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const auto begin = std::chrono::steady_clock::now();
    pid_t pid = -1;
    const int error =
        posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    Usage usage;
    if (error != 0)
        return usage;
    int status = 0;
    rusage resources{};
    wait4(pid, &status, 0, &resources);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    usage.wall_seconds = wall.count();
    usage.cpu_seconds = seconds(resources.ru_utime) + seconds(resources.ru_stime);
    usage.peak_kib = resources.ru_maxrss;
    if (WIFEXITED(status))
        usage.exit_code = WEXITSTATUS(status);
    return usage;
}

}  // namespace bench
