#include "tools/rocecap/input_lines.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace rocecap {

std::optional<std::string> InputLines::next() {
    while (true) {
        if (const auto end = buffer_.find('\n'); end != std::string::npos) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        if (!read_more())
            return std::nullopt;
    }
}

bool InputLines::read_more() {
    if (util::wait_readable(STDIN_FILENO, stop_, std::nullopt) == util::Ready::stop)
        return false;
    std::array<char, 4096> bytes{};
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0)
        throw std::system_error(errno, std::generic_category(), "read from standard input");
    if (count > 0)
        buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    else if (!buffer_.empty())
        buffer_.push_back('\n');  // the last line has no line feed
    return !buffer_.empty();
}

}  // namespace rocecap
