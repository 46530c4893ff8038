#include "trace/predict/run.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "runlog/tail.hpp"
#include "util/printable.hpp"

namespace predict {
namespace {

namespace fs = std::filesystem;

// The host at which all captures of runs are made.
constexpr std::string_view capturing_role = "server";

const wire::OpcodeInfo* opcode_called(std::string_view name) {
    const auto all = wire::opcodes();
    const auto found = std::ranges::find(all, name, &wire::OpcodeInfo::name);
    return found == all.end() ? nullptr : &*found;
}

void show_offset(std::string& text, std::string_view label, wire::Psn psn, std::int32_t offset) {
    const std::string number = fmt::format("{}0x{:06x}", label, psn.value());
    if (const auto at = text.find(number); at != std::string::npos)
        text.replace(at, number.size(), " " + psn_text(offset));
}

void erase(std::string& text, const std::string& part) {
    if (const auto at = text.find(part); at != std::string::npos)
        text.erase(at, part.size());
}

}  // namespace

std::string Run::name_of(const std::string& address) const {
    const auto has_it = [&](const auto& entry) { return entry.second == address; };
    if (std::ranges::count_if(addresses, has_it) != 1)
        return address;
    return "the " + util::printable(std::ranges::find_if(addresses, has_it)->first);
}

void RunReader::begin(const timeline::FinishedRun& run) {
    const timeline::TraceFiles& files = run.files();
    knows_times_ = files.info.offsets.contains(timeline::link_role);
    run_.addresses = files.info.addresses;
    // The logs of a run directory already include it.
    if (!files.is_run_dir)
        link_log_ =
            fs::path(files.capture).parent_path() / fmt::format("{}.jsonl", timeline::link_role);
    for (const flow::KnownQueuePair& pair : run.known_pairs())
        tracker_.know(pair);
}

void RunReader::event(const runlog::Event& event, std::int64_t t_ns) {
    if (event.role == timeline::link_role)
        add(event, knows_times_ ? std::optional(t_ns) : std::nullopt);
}

void RunReader::packet(const timeline::PacketRow& row, const wire::Packet& packet,
                       const capture::Frame& frame) {
    if (run_.is_cut)
        return;
    const std::uint64_t stream =
        tracker_.add(std::chrono::nanoseconds(row.t_ns), packet, frame.original_length);
    auto one = packet_of(frame.number, row.t_ns, packet, row.source, row.destination);
    if (!one)
        return;
    if (run_.packets.size() == limits_.packets) {
        run_.is_cut = true;
        return;
    }
    one->stream = stream;
    run_.packets.push_back(*std::move(one));
    run_.rows.push_back(row);
    run_.rows.back().cause.reset();  // the cause would reveal more than this packet
    if (summary_)
        run_.rows.back().text = summary_(packet, frame.bytes);
}

Run RunReader::take() {
    if (logged_.empty() && !link_log_.empty())
        read_link_log();
    tracker_.finish();
    run_.connections = connect(run_.packets, tracker_);
    drop_strays();
    for (std::size_t i = 0; i < run_.rows.size(); ++i) {
        const ReliablePacket& packet = run_.packets[i];
        show_offset(run_.rows[i].text, " psn ", packet.psn, packet.offset);
        if (run_.connections.size() == 1)
            erase(run_.rows[i].text, fmt::format(" qp 0x{:06x}", packet.dest_qpn));
    }
    place_events();
    if (has_more_events_)
        end_at_last_event();
    return std::move(run_);
}

void RunReader::read_link_log() {
    runlog::Tail log(link_log_);
    while (const auto event = log.next())
        if (event->role == timeline::link_role)
            add(*event, std::nullopt);
}

// Drops responses to what was sent before the capture began.
void RunReader::drop_strays() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < run_.packets.size(); ++i) {
        if (run_.packets[i].connection == ReliablePacket::no_connection)
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

void RunReader::place_events() {
    std::vector<AlteredPacket> taken;
    taken.reserve(logged_.size());
    for (const LoggedEvent& one : logged_)
        taken.push_back(one.taken);
    const auto placed = place(taken, run_.packets);
    const bool has_roles = !run_.addresses.empty();
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (!placed[i])
            continue;
        if (!has_roles)
            learn_roles(logged_[i], run_.connections[placed[i]->connection]);
        std::string text = runlog::to_text(logged_[i].event);
        show_offset(text, " PSN ", taken[i].psn, placed[i]->offset);
        run_.events.emplace(placed[i]->before,
                            Run::LinkEvent{std::move(text), *placed[i], taken[i].is_missing,
                                           logged_[i].event.is_one_of({"drop", "cut"}),
                                           !wire::find_opcode(taken[i].opcode)->is_response()});
    }
}

// What follows may depend on events that are not kept.
void RunReader::end_at_last_event() {
    const std::size_t end = run_.events.empty() ? 0 : run_.events.rbegin()->first;
    run_.is_cut |= end < run_.packets.size();
    run_.packets.resize(end);
    run_.rows.resize(end);
}

// Without a run.json, roles come from the link emulator's events.
void RunReader::learn_roles(const LoggedEvent& logged, const Connection& connection) {
    const bool is_request = !wire::find_opcode(logged.taken.opcode)->is_response();
    run_.addresses.emplace(logged.event[key::from],
                           is_request ? connection.requester : connection.responder);
    run_.addresses.emplace(logged.event[key::to],
                           is_request ? connection.responder : connection.requester);
}

void RunReader::add(const runlog::Event& event, std::optional<std::int64_t> t_ns) {
    const wire::OpcodeInfo* opcode = opcode_called(event[key::opcode_name]);
    const auto psn = event[key::psn];
    const auto dest_qpn = event[key::dest_qpn];
    if (opcode == nullptr || opcode->transport() != wire::Transport::Rc || !psn || !dest_qpn ||
        event[key::copy])
        return;
    if (logged_.size() == limits_.events) {
        has_more_events_ = true;
        return;
    }
    logged_.push_back({event,
                       {.is_missing = event.is_one_of({"drop", "cut", "delay", "reorder", "limit"}),
                        .passed_capture = event[key::from] == capturing_role,
                        .dest_qpn = *dest_qpn,
                        .opcode = opcode->value,
                        .psn = wire::Psn(*psn),
                        .t_ns = t_ns}});
}

}  // namespace predict
