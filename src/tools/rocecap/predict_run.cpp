#include "tools/rocecap/predict_run.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "tools/rocecap/logged_queue_pairs.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"
#include "wire/text/summary.hpp"

namespace rocecap {
namespace {

namespace fs = std::filesystem;

// More than anyone predicts. Each packet is kept with its text.
constexpr std::size_t most_packets = 20'000;
// The host at which all captures of runs are made.
constexpr std::string_view capturing_role = "server";

struct LoggedEvent {
    runlog::Event event;
    predict::AlteredPacket taken;
};

bool is_one_of(std::string_view name, auto... names) {
    return ((name == names) || ...);
}

const wire::OpcodeInfo* opcode_called(std::string_view name) {
    const auto all = wire::opcodes();
    const auto found = std::ranges::find(all, name, &wire::OpcodeInfo::name);
    return found == all.end() ? nullptr : &*found;
}

class Collector : public timeline::RowVisitor {
  public:
    /// Uses the times of the link emulator's events only if their offset to the capture is known.
    Collector(PredictedRun& run, util::TextStyle style, const timeline::TraceFiles& files)
        : run_(run), style_(style), knows_times_(files.info.offsets.contains(timeline::link_role)) {
        for (const timeline::LogFile& log : files.logs)
            for (const flow::KnownQueuePair& pair : queue_pairs_in(log.path))
                tracker_.know(pair);
    }

    void event(const runlog::Event& event, std::int64_t t_ns,
               const timeline::WorkRequest* /*request*/) override {
        if (event.role == timeline::link_role)
            add(event, knows_times_ ? std::optional(t_ns) : std::nullopt);
    }

    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame, std::uint64_t number,
                const timeline::WorkRequest* /*request*/) override {
        if (run_.is_cut)
            return;
        const std::uint64_t stream =
            tracker_.add(std::chrono::nanoseconds(row.t_ns), packet, frame.original_length);
        auto one = predict::packet_of(packet, row.source, row.destination, row.t_ns);
        if (!one)
            return;
        if (run_.packets.size() == most_packets) {
            run_.is_cut = true;
            return;
        }
        one->frame = number;
        one->stream = stream;
        run_.packets.push_back(*std::move(one));
        run_.rows.push_back(row);
        run_.rows.back().cause.reset();  // the cause would reveal more than this packet
        run_.rows.back().text = wire::packet_summary(packet, style_, frame.bytes);
    }

    void finish() {
        tracker_.finish();
        run_.connections = predict::connect(run_.packets, tracker_);
        drop_strays();
        for (std::size_t i = 0; i < run_.rows.size(); ++i) {
            const predict::Packet& packet = run_.packets[i];
            show_offset(run_.rows[i].text, " psn ", packet.psn, packet.offset);
            if (run_.connections.size() == 1)
                erase(run_.rows[i].text, fmt::format(" qp 0x{:06x}", packet.dest_qpn));
        }
        place_events();
    }

  private:
    // Drops responses to what was sent before the capture began.
    void drop_strays() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < run_.packets.size(); ++i) {
            if (run_.packets[i].connection == predict::Packet::no_connection)
                continue;
            if (i != kept) {
                run_.packets[kept] = std::move(run_.packets[i]);
                run_.rows[kept] = std::move(run_.rows[i]);
            }
            ++kept;
        }
        run_.packets.resize(kept);
        run_.rows.resize(kept);
    }

    static void show_offset(std::string& text, std::string_view label, wire::Psn psn,
                            std::int32_t offset) {
        const std::string number = fmt::format("{}0x{:06x}", label, psn.value());
        if (const auto at = text.find(number); at != std::string::npos)
            text.replace(at, number.size(), " " + predict::psn_text(offset));
    }

    static void erase(std::string& text, const std::string& part) {
        if (const auto at = text.find(part); at != std::string::npos)
            text.erase(at, part.size());
    }

    void place_events() {
        std::vector<predict::AlteredPacket> taken;
        taken.reserve(logged_.size());
        for (const LoggedEvent& one : logged_)
            taken.push_back(one.taken);
        const auto placed = predict::place(taken, run_.packets);
        const bool has_roles = !run_.addresses.empty();
        for (std::size_t i = 0; i < placed.size(); ++i) {
            if (!placed[i])
                continue;
            if (!has_roles)
                learn_roles(logged_[i], run_.connections[placed[i]->connection]);
            std::string text = runlog::to_text(logged_[i].event);
            show_offset(text, " PSN ", taken[i].psn, placed[i]->offset);
            run_.events.emplace(
                placed[i]->before,
                PredictedRun::LinkEvent{std::move(text), *placed[i], taken[i].is_missing,
                                        is_one_of(logged_[i].event.name, "drop", "cut"),
                                        !wire::find_opcode(taken[i].opcode)->is_response()});
        }
    }

    // Without a run.json, roles come from the link emulator's events.
    void learn_roles(const LoggedEvent& logged, const predict::Connection& connection) {
        const bool is_request = !wire::find_opcode(logged.taken.opcode)->is_response();
        run_.addresses.emplace(logged.event.text("from"),
                               is_request ? connection.requester : connection.responder);
        run_.addresses.emplace(logged.event.text("to"),
                               is_request ? connection.responder : connection.requester);
    }

    void add(const runlog::Event& event, std::optional<std::int64_t> t_ns) {
        const wire::OpcodeInfo* opcode = opcode_called(event.text("opcode_name"));
        const auto psn = event.number32("psn");
        const auto dest_qpn = event.number32("dest_qpn");
        if (opcode == nullptr || opcode->transport() != wire::Transport::Rc || !psn || !dest_qpn)
            return;
        logged_.push_back(
            {event,
             {.is_missing = is_one_of(event.name, "drop", "cut", "delay", "reorder", "limit"),
              .passed_capture = event.text("from") == capturing_role,
              .dest_qpn = *dest_qpn,
              .opcode = opcode->value,
              .psn = wire::Psn(*psn),
              .t_ns = t_ns}});
    }

    PredictedRun& run_;
    util::TextStyle style_;
    bool knows_times_;
    flow::Tracker tracker_;
    std::vector<LoggedEvent> logged_;
};

// The logs of a run directory already include it.
void add_link_log(TraceArguments& arguments) {
    if (timeline::is_run_dir(arguments.path))
        return;
    const fs::path path(arguments.path);
    const fs::path log = (fs::is_directory(path) ? path : path.parent_path()) /
                         fmt::format("{}.jsonl", timeline::link_role);
    if (fs::exists(log))
        arguments.logs.push_back(log.string());
}

}  // namespace

std::string PredictedRun::name_of(const std::string& address) const {
    const auto has_it = [&](const auto& entry) { return entry.second == address; };
    if (std::ranges::count_if(addresses, has_it) != 1)
        return address;
    return "the " + util::printable(std::ranges::find_if(addresses, has_it)->first);
}

PredictedRun read_predicted_run(TraceArguments arguments, util::TextStyle style) {
    add_link_log(arguments);
    timeline::FinishedRun finished(files_of(arguments));
    const timeline::TraceFiles& files = finished.files();
    PredictedRun run;
    run.addresses = files.info.addresses;
    Collector collector(run, style, files);
    finished.each_row(collector);
    if (!finished.has_capture())
        throw util::Error(
            fmt::format("{} has no capture: record a run with 'lab/lab capture'.", files.name));
    check_trace(finished);
    collector.finish();
    if (run.packets.empty())
        throw util::Error(fmt::format(
            "{} has nothing to predict: no packet of a reliable connection (RC).", files.name));
    return run;
}

}  // namespace rocecap
