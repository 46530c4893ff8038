#include "support/devtools.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "util/check.hpp"

namespace support {
namespace {

using Clock = std::chrono::steady_clock;

// Starts the program in the child after fork(), with the pipe as descriptors 3 and 4. The kernel
// kills the child when the parent ends.
[[noreturn]] void become(char** words, const Argv& environment, const std::string& log, int pipe,
                         pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);  // the parent ended before prctl()
    constexpr int above = 10;
    const int end = fcntl(pipe, F_DUPFD_CLOEXEC, above);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    dup2(end, 3);
    dup2(end, 4);
    for (const std::string& setting : environment)
        putenv(const_cast<char*>(setting.c_str()));
    execvp(words[0], words);
    _exit(127);
}

}  // namespace

struct DevTools::Wait {
    std::string what;
    Limit limit;
    Clock::time_point deadline = Clock::now() + limit;
};

DevTools::DevTools(const Argv& argv, const Argv& environment, std::string log)
    : log_(std::move(log)) {
    // Orphans of the program become children of this process, so that it can wait for them.
    util::check_errno(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl(PR_SET_CHILD_SUBREAPER)");
    // A socket and not a pipe: a write without a reader gives an error, and no SIGPIPE.
    std::array<int, 2> ends{};
    CHECK_ERRNO(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
    pipe_ = util::Fd(ends[0]);
    const util::Fd theirs(ends[1]);
    std::vector<char*> words;
    for (const std::string& word : argv)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t parent = getpid();
    pid_ = CHECK_ERRNO(fork());
    if (pid_ == 0)
        become(words.data(), environment, log_, theirs.get(), parent);
    setpgid(pid_, pid_);
}

DevTools::~DevTools() {
    try {
        listeners_.clear();
        post("", "Browser.close");
        shutdown(pipe_.get(), SHUT_WR);
        await([] { return false; }, "its end", std::chrono::seconds(5));
    } catch (const std::exception&) {  // it has ended, or the time limit has passed
    }
    kill(-pid_, SIGKILL);
    while (waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR) {
    }
}

DevTools::Json DevTools::call(const std::string& session, const std::string& method,
                              const Json& params, Limit limit) {
    const int id = send(session, method, params);
    const Wait wait{.what = "the answer to " + method, .limit = limit};
    for (;;) {
        Json message = receive(wait);
        if (message.value("id", 0) != id) {
            dispatch(message);
        } else if (message.contains("error")) {
            throw std::runtime_error(
                fmt::format("{}: {}", method, message.at("error").at("message").dump()));
        } else {
            return std::move(message.at("result"));
        }
    }
}

void DevTools::post(const std::string& session, const std::string& method, const Json& params) {
    send(session, method, params);
}

void DevTools::listen(const std::string& session, Listener listener) {
    if (listener)
        listeners_[session] = std::move(listener);
    else
        listeners_.erase(session);
}

void DevTools::await(const std::function<bool()>& done, const std::string& what, Limit limit) {
    const Wait wait{.what = what, .limit = limit};
    while (!done())
        dispatch(receive(wait));
}

int DevTools::send(const std::string& session, const std::string& method, const Json& params) {
    Json message{{"id", ++last_id_}, {"method", method}, {"params", params}};
    if (!session.empty())
        message["sessionId"] = session;
    const std::string bytes = message.dump() + '\0';
    const Wait wait{.what = "it to read " + method, .limit = time_limit};
    for (std::size_t sent = 0; sent < bytes.size();) {
        poll_for(POLLOUT, wait);
        const ssize_t count = ::send(pipe_.get(), bytes.data() + sent, bytes.size() - sent,
                                     MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0)
            sent += static_cast<std::size_t>(count);
        else if (errno != EAGAIN && errno != EINTR)
            throw std::runtime_error(ended(wait.what));
    }
    return last_id_;
}

DevTools::Json DevTools::receive(const Wait& wait) {
    for (;;) {
        const std::size_t end = in_.find('\0', looked_);
        if (end != std::string::npos) {
            Json message = Json::parse(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(end));
            in_.erase(0, end + 1);
            looked_ = 0;
            return message;
        }
        looked_ = in_.size();
        poll_for(POLLIN, wait);
        std::array<char, 65536> buffer{};
        const ssize_t count = recv(pipe_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count > 0)
            in_.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || (errno != EAGAIN && errno != EINTR))
            throw std::runtime_error(ended(wait.what));
    }
}

void DevTools::poll_for(short events, const Wait& wait) const {
    const auto left = std::chrono::ceil<Limit>(wait.deadline - Clock::now()).count();
    pollfd fd{pipe_.get(), events, 0};
    if (left <= 0 || poll(&fd, 1, static_cast<int>(left)) == 0)
        throw std::runtime_error(
            fmt::format("the browser: waited {} ms in vain for {}", wait.limit.count(), wait.what));
}

void DevTools::dispatch(const Json& message) {
    const auto listener = listeners_.find(message.value("sessionId", ""));
    if (listener == listeners_.end() || !message.contains("method"))
        return;
    const Listener heard = listener->second;  // a copy: it may change or remove listeners
    heard(message);
}

std::string DevTools::ended(const std::string& what) const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    constexpr std::size_t enough = 2000;
    std::string last = text.str();
    if (last.size() > enough)
        last = "..." + last.substr(last.size() - enough);
    return fmt::format("the browser ended while this waited for {}. Its last words:\n{}", what,
                       last);
}

}  // namespace support
