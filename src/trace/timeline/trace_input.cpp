#include "trace/timeline/trace_input.hpp"

#include <filesystem>

#include "capture/file_source.hpp"
#include "capture/pcapng_tail.hpp"
#include "util/error.hpp"

namespace timeline {

TraceInput::TraceInput(const TraceFiles& files)
    : capture_path_(files.capture),
      interface_(files.interface),
      trust_port_(files.trust_port),
      flows_(trust_port_),
      grows_(files.is_run_dir) {
    for (const LogFile& file : files.logs)
        logs_.push_back({file, runlog::Tail(file.path)});
}

TraceInput::Item TraceInput::next() {
    if (auto event = next_event())
        return *std::move(event);
    if (auto frame = next_frame())
        return *frame;
    return std::monostate{};
}

std::optional<runlog::Event> TraceInput::next_event() {
    for (std::size_t tried = 0; tried < logs_.size(); ++tried) {
        Log& log = logs_[reads_];
        if (auto event = log.tail.next()) {
            event->role = log.file.name_of(event->role);
            return event;
        }
        reads_ = (reads_ + 1) % logs_.size();
    }
    return std::nullopt;
}

void TraceInput::open_capture() {
    if (grows_ && std::filesystem::exists(capture_path_))
        capture_ = std::make_unique<capture::PcapngTail>(capture_path_, interface_);
    else if (!grows_)
        capture_ = std::make_unique<capture::FileSource>(capture_path_, interface_);
    has_frame_ = false;
}

std::optional<capture::Frame> TraceInput::next_frame() {
    if (!capture_)
        open_capture();
    if (!capture_)
        return std::nullopt;
    try {
        auto frame = capture_->next();
        has_frame_ |= frame.has_value();
        return frame;
    } catch (const util::Error& error) {
        if (!has_frame_ || grows_)
            throw;
        damage_ = error.what();
        return std::nullopt;
    }
}

std::string TraceInput::capture_damage() const {
    const auto* tail = dynamic_cast<const capture::PcapngTail*>(capture_.get());
    return tail == nullptr ? damage_ : tail->ending();
}

std::uint64_t TraceInput::skipped_lines() const {
    std::uint64_t lines = 0;
    for (const Log& log : logs_)
        lines += log.tail.skipped_lines();
    return lines;
}

}  // namespace timeline
