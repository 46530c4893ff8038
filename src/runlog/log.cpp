#include "runlog/log.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"
#include "util/output_file.hpp"
#include "util/printable.hpp"

namespace runlog {
namespace {

// Writes without buffering: a reader of the log sees each event when it happens, and a crash loses
// none. `left`: bytes that were not written. Sets errno and returns false on failure.
bool write_line(int fd, std::string_view line, std::size_t& left) {
    for (left = line.size(); left > 0;) {
        const ssize_t n = ::write(fd, line.data() + (line.size() - left), left);
        if (n >= 0)
            left -= static_cast<std::size_t>(n);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

void write_text(int fd, std::string_view line) {
    std::size_t left = 0;
    if (!write_line(fd, line, left))
        throw util::Error(fmt::format("cannot write the text log: {}.", std::strerror(errno)));
}

}  // namespace

std::int64_t now_ns() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

Log::Log(std::string role, const std::string& json_path) : role_(std::move(role)) {
    if (json_path == "-") {
        path_ = "standard output";
        json_ = STDOUT_FILENO;
        text_ = STDERR_FILENO;
    } else if (!json_path.empty()) {
        path_ = json_path;
        file_ = util::open_output(json_path).fd;
        // Writes to a pipe block if its reader is slow.
        util::check_errno(fcntl(file_.get(), F_SETFL, 0), "fcntl " + json_path);
        if (ftruncate(file_.get(), 0) != 0 && errno != EINVAL)  // a pipe cannot be truncated
            util::check_errno(-1, "ftruncate " + json_path);
        json_ = file_.get();
    }
}

void Log::event(std::string_view name, Fields fields) {
    event_at(now_ns(), name, std::move(fields));
}

void Log::event_at(std::int64_t t_ns, std::string_view name, Fields fields) {
    if (before_)
        before_();
    write({t_ns, role_, std::string(name), std::move(fields)});
}

void Log::write(Event event) {
    using namespace std::chrono;
    const std::scoped_lock lock(mutex_);
    if (psn_mask_)
        psn_mask_->hide(event);
    const auto day = nanoseconds(event.t_ns) % days(1);
    write_text(text_, fmt::format("{:%H:%M:%S}.{:06} {} {}{}\n", duration_cast<seconds>(day),
                                  duration_cast<microseconds>(day).count() % 1'000'000, role_,
                                  to_text(event), request_text(event)));
    write_json(event);
}

void Log::error(std::string_view text) {
    const auto say = [this](std::string_view sentence) {
        write_text(STDERR_FILENO, fmt::format("{}: {}\n", role_, util::printable_lines(sentence)));
    };
    try {
        if (before_)
            before_();
    } catch (const util::Error& incomplete) {
        if (incomplete.what() != text)
            say(incomplete.what());
    }
    const std::scoped_lock lock(mutex_);
    say(text);
    write_json({now_ns(), role_, "error", {{key::text, text}}});
}

void Log::hide_psns() {
    if (!psn_mask_)  // an existing mask keeps its state
        psn_mask_.emplace();
}

void Log::write_json(const Event& event) {
    if (json_ < 0)
        return;
    const std::string line = to_json(event) + '\n';
    std::size_t left = line.size();
    if (write_line(json_, line, left))
        return;
    const int error = errno;
    // Removes the incomplete line, which a reader would take for one that is still being written.
    if (const off_t end = lseek(json_, 0, SEEK_CUR); file_ && end > 0) [[maybe_unused]]
        const int is_cut = ftruncate(json_, end - static_cast<off_t>(line.size() - left));
    json_ = -1;
    throw util::Error(
        fmt::format("run log incomplete: cannot write to {}: {}.", path_, std::strerror(error)));
}

}  // namespace runlog
