// What rocecap has no use for in a browser, or cannot have there.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "tools/rocecap/annotate_follow.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/follow.hpp"
#include "tools/rocecap/line_makers.hpp"
#include "tools/rocecap/parallel_printer.hpp"
#include "util/error.hpp"
#include "util/number.hpp"
#include "util/sandbox.hpp"
#include "util/signal_fd.hpp"

namespace util {

void enter_sandbox() {}  // the browser's own takes its place

// No signal arrives.
bool SignalFd::is_pending() const {
    return false;
}

// libc++ 19 has no std::from_chars() for this. strtod() also takes " 1", "+1" and "0x1".
std::optional<double> real_number_of(std::string_view text) {
    if (text.empty() || text.front() == '+' ||
        text.find_first_of(" \t\n\v\f\rxX") != std::string_view::npos)
        return std::nullopt;
    const std::string whole(text);
    char* end = nullptr;
    errno = 0;
    const double number = std::strtod(whole.c_str(), &end);
    return errno == 0 && end == whole.c_str() + whole.size() ? std::optional(number) : std::nullopt;
}

}  // namespace util

namespace rocecap {

void add_live(CLI::App& /*app*/, Context& /*context*/) {}
void add_predict(CLI::App& /*app*/, Context& /*context*/) {}

// NOLINTNEXTLINE(performance-unnecessary-value-param): follow.cpp takes the files
void follow(timeline::TraceFiles /*files*/, const Context& /*context*/) {
    throw util::Error("a run in a browser has ended: omit --follow.");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): annotate_follow.cpp takes the files
void annotate_following(timeline::TraceFiles /*files*/, const std::string& /*runs*/,
                        const std::string& /*output*/) {
    throw util::Error("a run in a browser has ended: omit --follow.");
}

unsigned usable_cpus() {
    return 1;
}

page::Encode encode_on_all_cpus() {
    return page::encode;
}

void print_in_parallel(unsigned /*cpus*/, capture::FileSource& /*source*/, Printer& /*printer*/,
                       std::uint64_t /*count*/) {}

}  // namespace rocecap

// No descriptor is a socket. Without this definition, the C library brings one that opens WebSockets.
extern "C" ssize_t send(int /*fd*/, const void* /*data*/, std::size_t /*size*/, int /*flags*/) {
    errno = ENOTSOCK;
    return -1;
}
