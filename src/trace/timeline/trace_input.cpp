#include "trace/timeline/trace_input.hpp"

#include <arpa/inet.h>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_tail.hpp"
#include "util/error.hpp"

namespace timeline {

TraceInput::Item TraceInput::next() {
    if (auto event = next_event())
        return *std::move(event);
    if (auto frame = next_frame())
        return *frame;
    return std::monostate{};
}

std::optional<runlog::Event> TraceInput::next_event() {
    for (std::size_t tried = 0; tried < files_.logs.size(); ++tried) {
        if (auto event = files_.logs[reads_].next())
            return event;
        reads_ = (reads_ + 1) % files_.logs.size();
    }
    return std::nullopt;
}

// Behind a device that translates addresses, only run.json and the logs have a host's own one.
wire::RoceFlows TraceInput::new_flows() const {
    wire::RoceFlows flows(files_.trust_port);
    know_hosts(flows);
    return flows;
}

void TraceInput::know_hosts(wire::RoceFlows& flows) const {
    for (const auto& [role, address] : files_.info.addresses) {
        wire::Ipv4Address ipv4;
        wire::Ipv6Address ipv6;
        if (inet_pton(AF_INET, address.c_str(), ipv4.bytes.data()) == 1)
            flows.know(ipv4);
        else if (inet_pton(AF_INET6, address.c_str(), ipv6.bytes.data()) == 1)
            flows.know(ipv6);
    }
}

void TraceInput::take_logs(TraceFiles files) {
    files_.logs = std::move(files.logs);
    files_.info = std::move(files.info);
    reads_ = 0;
    know_hosts(flows_);
}

void TraceInput::open_capture() {
    if (files_.is_stream) {
        // FileSource waits for the first bytes.
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (poll(&input, 1, 0) != 0)
            capture_ = std::make_unique<capture::FileSource>(files_.capture, files_.interface,
                                                             capture::AtPresent::return_none);
    } else if (files_.is_run_dir && std::filesystem::exists(files_.capture)) {
        // The capture of a run may still grow.
        capture_ = std::make_unique<capture::PcapngTail>(files_.capture, files_.interface);
    } else if (!files_.is_run_dir) {
        capture_ = std::make_unique<capture::FileSource>(files_.capture, files_.interface);
    }
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
        if (!has_frame_ || files_.is_run_dir)
            throw;
        damage_ = error.what();
        return std::nullopt;
    }
}

bool TraceInput::has_ended() const {
    const auto* stream = dynamic_cast<const capture::FileSource*>(capture_.get());
    return !damage_.empty() || (stream != nullptr && stream->has_ended());
}

std::string TraceInput::capture_damage() const {
    const auto* tail = dynamic_cast<const capture::PcapngTail*>(capture_.get());
    return tail == nullptr ? damage_ : tail->ending();
}

std::uint64_t TraceInput::skipped_lines() const {
    std::uint64_t lines = 0;
    for (const LogFile& log : files_.logs)
        lines += log.skipped_lines();
    return lines;
}

}  // namespace timeline
