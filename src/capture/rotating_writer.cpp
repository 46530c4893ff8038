#include "capture/rotating_writer.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace capture {
namespace {

Sink sink_for(const std::string& path, const util::OutputOptions& options) {
    return path == "-" ? Sink::standard_output() : Sink::create(path, options);
}

}  // namespace

std::string numbered(const std::string& path, std::uint64_t number) {
    const std::filesystem::path whole = path;
    return whole.parent_path() /
           fmt::format("{}_{:05}{}", whole.stem().string(), number, whole.extension().string());
}

RotatingWriter::RotatingWriter(Options options)
    : options_(std::move(options)), file_(open()), begin_(options_.begin) {}

PcapngWriter RotatingWriter::open() const {
    std::string path = options_.path;
    if (options_.rotation.is_wanted()) {
        path = numbered(path, number_);
        unlink(path.c_str());  // create() reports the error if this fails
    }
    Sink sink = sink_for(path, options_.output);
    options_.opened(sink);
    PcapngWriter file(std::move(sink), options_.section);
    file.add_interface(options_.interface);
    file.flush();  // do not start a file that cannot hold this
    return file;
}

void RotatingWriter::packet(const Frame& frame) {
    if (is_full(frame.time))
        begin_next(frame.time);
    file_.packet(0, frame);
    ++packets_;
}

bool RotatingWriter::is_full(Time time) const {
    const Rotation& rotation = options_.rotation;
    if (packets_ == 0)
        return false;
    return (rotation.bytes && file_.bytes() >= *rotation.bytes) ||
           (rotation.time && time - begin_ >= *rotation.time);
}

// Opens the next file before ending the last one: if it cannot be created, the last one still gets
// its statistics.
void RotatingWriter::begin_next(Time time) {
    ++number_;
    PcapngWriter next = open();
    end_file(time);
    file_ = std::move(next);
    begin_ = time;
    packets_ = 0;
    if (number_ <= options_.rotation.keep)
        return;
    const std::string oldest = numbered(options_.path, number_ - options_.rotation.keep);
    if (unlink(oldest.c_str()) != 0 && errno != ENOENT)
        throw util::Error(
            fmt::format("cannot delete '{}': {}.", oldest, std::generic_category().message(errno)));
}

void RotatingWriter::end_file(Time end) {
    const LiveCounters now = options_.counters();
    file_.statistics(
        0, {.start = begin_,
            .end = end,
            .passed_filter = now.received - before_.received,
            .dropped_by_interface = now.dropped_by_interface - before_.dropped_by_interface,
            .dropped_by_kernel = now.dropped_by_kernel - before_.dropped_by_kernel,
            .written = packets_});
    before_ = now;
    file_.close();
}

void RotatingWriter::close(Time end) {
    end_file(end);
}

}  // namespace capture
