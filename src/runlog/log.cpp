#include "runlog/log.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "util/error.hpp"
#include "util/printable.hpp"

namespace runlog {

std::int64_t now_ns() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

Log::Log(std::string role, const std::string& json_path) : role_(std::move(role)) {
    if (json_path == "-") {
        json_ = stdout;
        text_ = stderr;
    } else if (!json_path.empty()) {
        file_.reset(std::fopen(json_path.c_str(), "we"));
        if (!file_)
            throw util::Error(
                fmt::format("cannot write the run log {}: {}. Choose another --run-log.", json_path,
                            std::strerror(errno)));
        json_ = file_.get();
    }
}

void Log::event(std::string_view name, Fields fields) {
    const std::scoped_lock lock(mutex_);
    write(stamp(now_ns(), name, std::move(fields)));
}

void Log::event_at(std::int64_t t_ns, std::string_view name, Fields fields) {
    const std::scoped_lock lock(mutex_);
    write(stamp(t_ns, name, std::move(fields)));
}

void Log::write(const Event& event) const {
    using namespace std::chrono;
    const auto day = nanoseconds(event.t_ns) % days(1);
    write_line(text_, fmt::format("{:%H:%M:%S}.{:06} {} {}\n", duration_cast<seconds>(day),
                                  duration_cast<microseconds>(day).count() % 1'000'000, role_,
                                  to_text(event)));
    write_json(event);
}

void Log::error(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    write_line(stderr, fmt::format("{}: {}\n", role_, util::printable(text)));
    write_json(stamp(now_ns(), "error", {{"text", text}}));
}

void Log::hide_psns() {
    if (!psn_mask_)  // what it has counted stays
        psn_mask_.emplace();
}

Event Log::stamp(std::int64_t t_ns, std::string_view name, Fields fields) {
    Event event{t_ns, role_, std::string(name), std::move(fields)};
    if (psn_mask_)
        psn_mask_->hide(event);
    return event;
}

void Log::write_json(const Event& event) const {
    if (json_ != nullptr)
        write_line(json_, to_json(event) + '\n');
}

// Flushed line by line: whoever follows the log sees each event when it happens, and a crash loses
// none.
void Log::write_line(std::FILE* file, const std::string& line) const {
    if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0)
        throw util::Error(fmt::format("cannot write the {} log: {}", file == json_ ? "run" : "text",
                                      std::strerror(errno)));
}

}  // namespace runlog
