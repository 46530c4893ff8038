#include "tools/rocecap/follow.hpp"

#include <array>
#include <chrono>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/timeline_text.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/service/packet_text.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/timeline.hpp"
#include "trace/timeline/trace_input.hpp"
#include "util/check.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {
namespace {

// Logs and packets arrive over separate connections: a row waits this long for one that happened
// before it. On busy hosts a log can be seconds late: a packet waits for its event up to
// `longest_hold`.
constexpr std::chrono::milliseconds hold{300};
constexpr std::chrono::milliseconds longest_hold{5000};
constexpr std::chrono::milliseconds look_again{50};

// Detects that a file of a directory was created, replaced or written.
class Watch {
  public:
    explicit Watch(const std::string& directory)
        : fd_(CHECK_ERRNO(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))) {
        util::check_errno(inotify_add_watch(fd_.get(), directory.c_str(),
                                            IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_ONLYDIR),
                          "inotify_add_watch(" + directory + ")");
    }

    void wait(util::StopSignal& stop, util::Deadline deadline) {
        if (util::wait_readable(fd_.get(), stop, deadline) != util::Ready::input)
            return;
        std::array<char, 4096> notices{};
        while (read(fd_.get(), notices.data(), notices.size()) > 0) {
        }
    }

  private:
    util::Fd fd_;
};

class Follow {
  public:
    Follow(timeline::TraceFiles files, const Context& context)
        : input_(std::move(files)),
          files_(input_.files()),
          style_(context.colour),
          timeline_(files_.info.offsets, files_.capture_role),
          text_(style_, files_.info.addresses, context.columns),
          sink_(capture::Sink::standard_output()) {}

    void run() {
        util::StopSignal stop;
        sink_.give_up_on(stop);
        Watch watch(files_.name);
        // Checks whether the run has ended before it reads the files for the last time.
        while (!timeline::read_run_info(files_.name).ended && !stop.requested()) {
            take_in();
            const auto now = util::Clock::now();
            print(now - hold, now - longest_hold);
            watch.wait(stop,
                       timeline_.holds_rows() ? util::deadline_in(look_again) : util::Deadline());
        }
        take_in();
        print(timeline::Timeline::Arrival::max(), timeline::Timeline::Arrival::max());
        if (stop.requested()) {
            sink_.append(sums_so_far());
            sink_.close();
            print_note(input_.left_out());
            return;
        }
        timeline::TraceFiles files = timeline::trace_files(files_.name);
        files.trust_port = files_.trust_port;
        const timeline::FinishedRun run(std::move(files));
        sink_.append(sums(run));
        sink_.close();
        print_note(input_.left_out());
        require_whole(run.capture_damage());
    }

  private:
    void take_in() {
        while (true) {
            auto item = input_.next();
            if (std::holds_alternative<std::monostate>(item))
                return;
            const auto now = util::Clock::now();
            if (auto* event = std::get_if<runlog::Event>(&item))
                timeline_.add(std::move(*event), now);
            else
                timeline_.add(row(std::get<capture::Frame>(item)), now);
        }
    }

    timeline::PacketRow row(const capture::Frame& frame) {
        const wire::Packet packet = input_.decode(frame);
        return timeline::row_of(packet, frame.bytes, frame.time.count(),
                                packet_text_.line(packet, frame.bytes, style_));
    }

    void print(timeline::Timeline::Arrival arrived, timeline::Timeline::Arrival waited_for) {
        for (const timeline::Row& row : timeline_.take(arrived, waited_for)) {
            if (const auto* packet = std::get_if<timeline::PacketRow>(&row.what))
                listed_with_cause_ += packet->has_cause();
            sink_.append(text_.line(row));
        }
        sink_.flush();
    }

    std::string sums_so_far() const {
        return end_of_listing(input_.has_capture(), true, timeline_.matcher(),
                              input_.capture_damage(), input_.skipped_lines());
    }

    // The sums of the complete files: rows of the listing may have missed events that came later.
    std::string sums(const timeline::FinishedRun& run) const {
        std::string text = end_of_listing(run.has_capture(), true, run.matcher(),
                                          run.capture_damage(), run.skipped_lines());
        const timeline::JoinCount& joins = run.joins();
        if (const std::uint64_t all = joins.joined + joins.set_up; all > listed_with_cause_)
            text += fmt::format(
                "{} packets are listed without their cause, because its log came more than {} s "
                "after them: rocecap timeline {} lists them with it\n",
                all - listed_with_cause_, longest_hold / std::chrono::seconds(1), files_.name);
        return text;
    }

    timeline::TraceInput input_;
    const timeline::TraceFiles& files_;
    util::TextStyle style_;
    service::PacketText packet_text_;
    timeline::Timeline timeline_;
    render::TimelineText text_;
    std::uint64_t listed_with_cause_ = 0;
    capture::Sink sink_;
};

}  // namespace

void follow(timeline::TraceFiles files, const Context& context) {
    Follow(std::move(files), context).run();
}

}  // namespace rocecap
