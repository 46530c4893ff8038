#include "tools/rocetrace/program_output.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "runlog/log.hpp"
#include "util/check.hpp"

namespace rocetrace {

ProgramOutput::ProgramOutput(int stream) : stream_(stream) {
    int ends[2] = {-1, -1};
    CHECK_ERRNO(pipe2(ends, O_CLOEXEC));
    read_end_ = util::Fd(ends[0]);
    write_end_ = util::Fd(ends[1]);
    CHECK_ERRNO(fcntl(ends[0], F_SETFL, O_NONBLOCK));
}

std::vector<ProgramOutput::Line> ProgramOutput::take(bool all) {
    const std::int64_t now = runlog::now_ns();
    std::array<char, 4096> piece{};
    while (read_end_) {
        const ssize_t n = read(read_end_.get(), piece.data(), piece.size());
        if (n > 0)
            pending_.append(piece.data(), static_cast<std::size_t>(n));
        else if (n == 0)
            read_end_.reset();
        else if (errno != EINTR)
            break;
    }
    std::vector<Line> lines;
    for (std::size_t end = 0; (end = pending_.find('\n')) != std::string::npos;) {
        lines.push_back({now, pending_.substr(0, end)});
        pending_.erase(0, end + 1);
    }
    if ((all || !read_end_) && !pending_.empty())
        lines.push_back({now, std::exchange(pending_, {})});
    return lines;
}

}  // namespace rocetrace
