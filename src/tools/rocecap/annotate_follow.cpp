#include "tools/rocecap/annotate_follow.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "tools/rocecap/annotator.hpp"
#include "tools/rocecap/follow.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/run_dir.hpp"
#include "trace/timeline/timeline.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"
#include "util/stop_signal.hpp"

namespace rocecap {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t frames_at_once = 4096;
// Packets that wait for events. Beyond this they are written without them.
constexpr std::size_t most_held_bytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t most_held_frames = 65536;

// A frame that outlives its source's next one.
class HeldFrame {
  public:
    explicit HeldFrame(const capture::Frame& frame)
        : bytes_(frame.bytes.begin(), frame.bytes.end()),
          interface_name_(frame.notes.interface_name),
          frame_(frame) {}

    capture::Frame frame() const {
        capture::Frame frame = frame_;
        frame.bytes = bytes_;
        frame.notes.interface_name = interface_name_;
        frame.notes.comment = {};
        return frame;
    }
    std::size_t size() const { return bytes_.size(); }

  private:
    std::vector<std::byte> bytes_;
    std::string interface_name_;
    capture::Frame frame_;
};

// The newest run of a folder: the directories' names begin with the time.
class NewestRun {
  public:
    explicit NewestRun(std::string folder) : folder_(std::move(folder)) {
        const std::string name = newest();
        if (!name.empty() && timeline::is_run_dir(path(name)) &&
            timeline::read_run_info(path(name)).ended)
            seen_ = name;
    }

    /// A run that was in progress at the beginning, or has begun since, once its hosts are known:
    /// its programs start after that.
    std::optional<std::string> next() {
        const std::string name = newest();
        if (name <= seen_ || !timeline::is_run_dir(path(name)))
            return std::nullopt;
        const timeline::RunInfo info = timeline::read_run_info(path(name));
        if (info.addresses.empty() && !info.ended)
            return std::nullopt;
        seen_ = name;
        return path(name);
    }

  private:
    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    std::string newest() const {
        std::string newest;
        std::error_code none;  // the first run creates the folder
        for (const auto& entry : fs::directory_iterator(folder_, none)) {
            std::string name = entry.path().filename().string();
            if (name > newest && name.front() >= '0' && name.front() <= '9')
                newest = std::move(name);
        }
        return newest;
    }

    std::string folder_;
    std::string seen_;
};

class FollowedAnnotation : public Follower {
  public:
    FollowedAnnotation(timeline::TraceFiles trace, const std::string& runs, capture::Sink sink)
        : Follower(std::move(trace)), annotator_(files(), {}, std::move(sink)) {
        if (!runs.empty())
            runs_.emplace(runs);
        begin_timeline();
    }

    void run(util::StopSignal& stop, const std::string& output) {
        annotator_.flush();
        follow(stop, frames_at_once);
        annotator_.close();
        print_note(input().left_out());
        util::print_error(fmt::format("{}: {}\n", util::printable(output),
                                      annotated_text(files(), packets_, with_cause_)));
        require_whole(input().capture_damage());
    }

  private:
    void before_input() override {
        const auto now = util::Clock::now();
        if (!runs_ || now < look_at_)
            return;
        look_at_ = now + look_again;
        if (const auto run = runs_->next()) {
            write_all();
            input().take_logs(timeline::trace_files(*run));
            run_ = *run;
            begin_timeline();
            annotator_.name_hosts(files().info);
        }
        // Its logs are complete: they will be read before the next packet.
        if (run_ && (!timeline::is_run_dir(*run_) || timeline::read_run_info(*run_).ended))
            run_.reset();
    }

    void take(runlog::Event event, Arrival /*now*/) override { timeline_->learn(event); }

    void take(const capture::Frame& frame, Arrival now) override {
        const wire::Packet packet = input().decode(frame, wire::IcrcCheck::Skip);
        timeline_->add(timeline::row_of(packet, frame.bytes, frame.time.count(), {}), now);
        held_bytes_ += frame.bytes.size();
        held_.emplace(next_number_++, frame);
    }

    void release(Arrival now) override {
        const bool is_full = held_.size() > most_held_frames || held_bytes_ > most_held_bytes;
        write(timeline_->take(now, awaits_events() && !is_full ? now - longest_hold : now));
        annotator_.flush();
    }

    bool holds_rows() const override { return !held_.empty(); }

    bool awaits_events() const { return runs_ ? run_.has_value() : !files().logs.empty(); }

    void begin_timeline() {
        timeline_.emplace(files().info.offsets, files().capture_role);
        next_number_ = 0;
    }

    void write_all() { write(timeline_->take(Arrival::max())); }

    void write(const std::vector<timeline::Row>& rows) {
        for (const timeline::Row& row : rows) {
            const auto& packet = std::get<timeline::PacketRow>(row.what);
            const auto held = held_.find(row.number);
            annotator_.packet(held->second.frame(), packet);
            ++packets_;
            with_cause_ += packet.has_cause();
            held_bytes_ -= held->second.size();
            held_.erase(held);
        }
    }

    Annotator annotator_;
    std::optional<NewestRun> runs_;
    std::optional<std::string> run_;  // in progress
    Arrival look_at_{};
    std::optional<timeline::Timeline> timeline_;
    std::uint64_t next_number_ = 0;  // of the timeline's rows
    std::unordered_map<std::uint64_t, HeldFrame> held_;
    std::size_t held_bytes_ = 0;
    std::uint64_t packets_ = 0;
    std::uint64_t with_cause_ = 0;
};

}  // namespace

void annotate_following(timeline::TraceFiles files, const std::string& runs,
                        const std::string& output) {
    util::StopSignal stop;
    capture::Sink sink = output == "-" ? capture::Sink::standard_output()
                                       : capture::Sink::create(output, {.stop = &stop});
    sink.give_up_on(stop);
    FollowedAnnotation(std::move(files), runs, std::move(sink)).run(stop, output);
}

}  // namespace rocecap
