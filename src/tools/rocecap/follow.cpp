#include "tools/rocecap/follow.hpp"

#include <array>
#include <optional>
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
#include "util/check.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {
namespace {

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

class FollowedListing : public Follower {
  public:
    FollowedListing(timeline::TraceFiles trace, const Context& context)
        : Follower(std::move(trace)),
          style_(context.colour),
          timeline_(files().info.offsets, files().capture_role),
          text_(style_, files().info.addresses, context.columns),
          sink_(capture::Sink::standard_output()) {}

    void run() {
        util::StopSignal stop;
        sink_.give_up_on(stop);
        follow(stop);
        if (stop.requested()) {
            sink_.append(sums_so_far());
            sink_.close();
            print_note(input().left_out());
            return;
        }
        timeline::TraceFiles trace = timeline::trace_files(files().name);
        trace.trust_port = files().trust_port;
        const timeline::FinishedRun run(std::move(trace));
        sink_.append(sums(run));
        sink_.close();
        print_note(input().left_out());
        require_whole(run.capture_damage());
    }

  private:
    void take(runlog::Event event, Arrival now) override { timeline_.add(std::move(event), now); }
    void take(const capture::Frame& frame, Arrival now) override { timeline_.add(row(frame), now); }
    void release(Arrival now) override { print(now - hold, now - longest_hold); }
    bool holds_rows() const override { return timeline_.holds_rows(); }

    timeline::PacketRow row(const capture::Frame& frame) {
        const wire::Packet packet = input().decode(frame);
        return timeline::row_of(packet, frame.bytes, frame.time.count(),
                                packet_text_.line(packet, frame.bytes, style_));
    }

    void print(Arrival arrived, Arrival waited_for) {
        for (const timeline::Row& row : timeline_.take(arrived, waited_for)) {
            if (const auto* packet = std::get_if<timeline::PacketRow>(&row.what))
                listed_with_cause_ += packet->has_cause();
            sink_.append(text_.line(row));
        }
        sink_.flush();
    }

    std::string sums_so_far() const {
        return end_of_listing(input().has_capture(), true, timeline_.matcher(),
                              input().capture_damage(), input().skipped_lines());
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
                all - listed_with_cause_, longest_hold / std::chrono::seconds(1), files().name);
        return text;
    }

    util::TextStyle style_;
    service::PacketText packet_text_;
    timeline::Timeline timeline_;
    render::TimelineText text_;
    std::uint64_t listed_with_cause_ = 0;
    capture::Sink sink_;
};

}  // namespace

bool Follower::has_ended() const {
    return files().is_stream ? input_.has_ended() : timeline::read_run_info(files().name).ended;
}

// Returns whether there may be more.
bool Follower::take_in(std::size_t frames_at_once) {
    for (std::size_t frames = 0; frames < frames_at_once;) {
        auto item = input_.next();
        if (std::holds_alternative<std::monostate>(item))
            return false;
        const auto now = util::Clock::now();
        if (auto* event = std::get_if<runlog::Event>(&item)) {
            take(std::move(*event), now);
        } else {
            take(std::get<capture::Frame>(item), now);
            ++frames;
        }
    }
    return true;
}

void Follower::follow(util::StopSignal& stop, std::size_t frames_at_once) {
    std::optional<Watch> watch;
    if (!files().is_stream)
        watch.emplace(files().name);
    // Checks whether the run has ended before it reads the files for the last time.
    while (!has_ended() && !stop.requested()) {
        before_input();
        const bool may_have_more = take_in(frames_at_once);
        release(util::Clock::now());
        if (may_have_more)
            continue;
        const auto deadline = holds_rows() ? util::deadline_in(look_again) : util::Deadline();
        if (watch)
            watch->wait(stop, deadline);
        else if (!input_.has_ended())
            util::wait_readable(STDIN_FILENO, stop, deadline);
    }
    before_input();
    while (take_in(frames_at_once) && !stop.requested())
        release(util::Clock::now());
    release(Arrival::max());
}

void follow(timeline::TraceFiles files, const Context& context) {
    FollowedListing(std::move(files), context).run();
}

}  // namespace rocecap
