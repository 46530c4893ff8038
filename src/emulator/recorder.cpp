#include "emulator/recorder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "util/error.hpp"
#include "wire/bth.hpp"

namespace emulator {

namespace key = runlog::key;

namespace {

constexpr std::uint32_t before_rules = 0;
constexpr std::uint32_t after_rules = 1;

std::string comment_of(const std::vector<RuleEvent>& events) {
    std::string comment;
    for (const RuleEvent& event : events)
        if (event.copy == 0)
            comment += fmt::format("{}rule {}: {}{}{}", comment.empty() ? "" : "\n", event.rule,
                                   event.text, event.detail.empty() ? "" : ": ", event.detail);
    return comment;
}

}  // namespace

runlog::Event log_event(const Sent& sent, const RuleEvent& event,
                        const std::vector<std::string>& hosts, std::optional<std::uint64_t> frame) {
    runlog::Fields fields{{key::rule, event.rule},
                          {key::text, event.text},
                          {key::from, hosts.at(sent.from)},
                          {key::to, sent.to ? hosts.at(*sent.to) : "all"}};
    if (frame)
        fields.emplace_back(key::frame, *frame);
    if (event.copy != 0)
        fields.emplace_back(key::copy, event.copy);
    if (!event.detail.empty())
        fields.emplace_back(key::detail, event.detail);
    if (sent.opcode != nullptr)
        fields.emplace_back(key::opcode_name, std::string(sent.opcode->name));
    if (sent.is_roce()) {
        const util::Bytes bytes = sent.frame.trail.find(wire::Header::Bth).of(sent.frame.bytes);
        const wire::Bth bth = wire::parse<wire::Bth>(bytes.first<wire::Bth::size>());
        fields.emplace_back(key::dest_qpn, bth.dest_qpn);
        fields.emplace_back(key::psn, bth.psn.value());
    }
    return {event.time.count(), "link", std::string(event.name), std::move(fields)};
}

void Recorder::start(const std::string& capture, const std::string& log) {
    stop();
    // Open the log first: without it, no capture starts.
    if (!log.empty())
        log_ = std::make_unique<runlog::Log>("link", log);
    // The link stops meanwhile, so do not wait for the reader of a FIFO.
    capture::PcapngWriter writer(capture::Sink::create(capture, {.end = util::Clock::now()}),
                                 {{}, capture::os_name(), "rocewire", {}});
    writer.add_interface(
        {wire::LinkType::Ethernet, "before", "each frame as its host sent it", {}, 0});
    writer.add_interface({wire::LinkType::Ethernet,
                          "after",
                          "each frame as it left the link emulator's rules",
                          {},
                          0});
    writer.flush();
    writer_ = std::move(writer);
    path_ = capture;
    frames_ = 0;
    std::ranges::fill(packets_, 0);
}

std::uint64_t Recorder::stop() {
    const std::uint64_t frames = std::exchange(frames_, 0);
    earlier_ += frames;
    guarded([this] {
        if (writer_)
            writer_->close();
    });
    writer_.reset();
    log_.reset();
    path_.clear();
    if (!failure_.empty())
        throw util::Error(std::exchange(failure_, {}));
    return frames;
}

template <typename Function>
void Recorder::guarded(Function function) {
    try {
        function();
    } catch (const std::exception& error) {
        failure_ = error.what();
        writer_.reset();
        log_.reset();
    }
}

std::uint64_t Recorder::before(const ReceivedFrame& arrival, bool is_roce,
                               const std::vector<RuleEvent>& events) {
    if (!writer_)
        return 0;
    guarded([&] { write(before_rules, arrival.time, arrival.bytes, comment_of(events)); });
    packets_.at(arrival.from) += is_roce ? 1 : 0;
    return earlier_ + frames_;
}

void Recorder::after(capture::Time time, std::size_t from, std::optional<std::size_t> to,
                     util::Bytes bytes, bool is_roce) {
    if (!writer_)
        return;
    guarded([&] { write(after_rules, time, bytes, {}); });
    if (!to && hosts_.size() == 2)
        to = 1 - from;
    if (to)
        packets_.at(*to) += is_roce ? 1 : 0;
}

void Recorder::write(std::uint32_t interface, capture::Time time, util::Bytes bytes,
                     const std::string& comment) {
    writer_->packet(
        interface,
        {time, bytes, static_cast<std::uint32_t>(bytes.size()), wire::LinkType::Ethernet}, comment);
    ++frames_;
}

void Recorder::acted(const Sent& sent, const RuleEvent& event) {
    if (!log_)
        return;
    std::optional<std::uint64_t> frame;
    if (sent.recorded > earlier_)
        frame = sent.recorded - earlier_;
    guarded([&] {
        runlog::Event made = log_event(sent, event, hosts_, frame);
        log_->event_at(made.t_ns, made.name, std::move(made.fields));
    });
}

void Recorder::flush() {
    if (writer_)
        guarded([this] { writer_->flush(); });
}

}  // namespace emulator
