#include "render/perfetto.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runlog/event_table.hpp"

namespace render {
namespace {

namespace key = runlog::key;

// The order of a host's tracks.
enum Order { calls, driver, queue_pairs };

constexpr std::int64_t longest_packet_ns = 1000;
constexpr const char* link = "link";

std::string request_name(const timeline::WorkRequest& request) {
    return fmt::format("{} wr {}", request.opcode, request.wr_id);
}

}  // namespace

Perfetto::Perfetto(const timeline::FinishedRun& run, capture::Sink& sink, Summary summary)
    : sink_(sink), summary_(std::move(summary)) {
    for (const auto& [role, address] : run.info().addresses)
        if (const auto [place, is_new] = roles_.try_emplace(address, role); !is_new)
            place->second = "host";  // which plays both roles
    sink_.append(std::string_view("{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["));
}

void Perfetto::write(const util::Json& event) {
    sink_.append(
        std::string_view((is_empty_ ? "\n" : ",\n") +
                         event.dump(-1, ' ', false, util::Json::error_handler_t::replace)));
    is_empty_ = false;
}

double Perfetto::microseconds(std::int64_t t_ns) {
    if (!first_ns_)
        first_ns_ = t_ns;
    last_ns_ = std::max(last_ns_, t_ns);
    return static_cast<double>(t_ns - *first_ns_) / 1000;
}

int Perfetto::process(const std::string& name) {
    const auto [place, is_new] =
        processes_.try_emplace(name, static_cast<int>(processes_.size()) + 1);
    if (is_new)
        write({{"ph", "M"},
               {"name", "process_name"},
               {"pid", place->second},
               {"args", {{"name", name}}}});
    return place->second;
}

std::int64_t Perfetto::thread(int process, const std::string& name, int order) {
    const auto [place, is_new] =
        threads_.try_emplace({process, name}, static_cast<std::int64_t>(threads_.size()) + 1);
    if (is_new) {
        const util::Json at{{"ph", "M"}, {"pid", process}, {"tid", place->second}};
        util::Json named = at, sorted = at;
        named.update({{"name", "thread_name"}, {"args", {{"name", name}}}});
        sorted.update({{"name", "thread_sort_index"}, {"args", {{"sort_index", order}}}});
        write(named);
        write(sorted);
    }
    return place->second;
}

util::Json Perfetto::slice(std::string_view category, std::string name, Track track,
                           std::int64_t t_ns, std::int64_t duration_ns) {
    return {{"ph", "X"},
            {"cat", category},
            {"name", std::move(name)},
            {"pid", track.process},
            {"tid", track.thread},
            {"ts", microseconds(t_ns)},
            {"dur", static_cast<double>(duration_ns) / 1000}};
}

util::Json Perfetto::flow(const char* phase, const timeline::WorkRequest& request, Track track,
                          std::int64_t t_ns) {
    return {{"ph", phase},
            {"cat", "request"},
            {"name", "packets"},
            {"id", request.number + 1},
            {"pid", track.process},
            {"tid", track.thread},
            {"ts", microseconds(t_ns)}};
}

void Perfetto::event(const runlog::Event& event, std::int64_t t_ns,
                     const timeline::WorkRequest* request) {
    if (event.is("post_send") && request != nullptr)
        return posted(*request, t_ns);
    if (event.is("wc") && request != nullptr)
        return completed(*request, t_ns);
    const int host = process(event.role);
    const bool is_driver = event.is("driver");
    const auto tid = event[key::tid];
    const std::string name = is_driver ? "driver"
                             : tid     ? fmt::format("thread {}", *tid)
                                       : "program";
    const Track track{host, thread(host, name, is_driver ? driver : calls)};
    const std::int64_t took_ns = static_cast<std::int64_t>(event[key::took_us].value_or(0)) * 1000;
    util::Json row = slice("event", event.name, track, t_ns, took_ns);
    if (took_ns == 0) {
        row["ph"] = "i";
        row["s"] = "t";
        row.erase("dur");
    }
    row["args"] = {{"text", runlog::to_text(event)}};
    write(row);
}

void Perfetto::posted(const timeline::WorkRequest& request, std::int64_t t_ns) {
    Lanes& lanes = queue_pairs_[{request.role, request.qpn}];
    const auto free = std::ranges::find(lanes.used, false) - lanes.used.begin();
    const auto lane = static_cast<std::size_t>(free);
    const int host = process(request.role);
    if (lane == lanes.used.size()) {
        lanes.used.push_back(false);
        lanes.threads.push_back(
            thread(host,
                   fmt::format("QP {:#08x}{}", request.qpn,
                               lane == 0 ? "" : fmt::format(", {} at a time", lane + 1)),
                   queue_pairs + static_cast<int>(queue_pairs_.size())));
    }
    lanes.used[lane] = true;
    lanes.open.push_back({&request, {host, lanes.threads[lane]}, t_ns});
    write(flow("s", request, lanes.open.back().track, t_ns));
}

// A completion is also that of all earlier requests of the queue pair.
void Perfetto::completed(const timeline::WorkRequest& request, std::int64_t t_ns) {
    Lanes& lanes = queue_pairs_[{request.role, request.qpn}];
    std::erase_if(lanes.open, [&](const Open& open) {
        if (open.request->number > request.number)
            return false;
        const auto lane = std::ranges::find(lanes.threads, open.track.thread);
        lanes.used[static_cast<std::size_t>(lane - lanes.threads.begin())] = false;
        close(open, t_ns, open.request == &request ? std::string_view(request.status) : "");
        return true;
    });
}

void Perfetto::close(const Open& open, std::int64_t t_ns, std::string_view status) {
    const timeline::WorkRequest& request = *open.request;
    std::string name = request_name(request);
    if (!status.empty() && status != "SUCCESS")
        name += fmt::format(": {}", status);
    util::Json row =
        slice("request", name, open.track, open.t_ns, std::max<std::int64_t>(1, t_ns - open.t_ns));
    row["args"] = {{"bytes", request.length},
                   {"packets", request.packets},
                   {"sent", request.sent},
                   {"repeats", request.repeats},
                   {"naks", request.naks}};
    if (request.chunk)
        row["args"]["chunk"] = request.chunk->text();
    write(row);
}

std::string Perfetto::name_of(const std::string& address) const {
    const auto found = roles_.find(address);
    return found == roles_.end() ? address : found->second;
}

void Perfetto::packet(const timeline::PacketRow& row, const wire::Packet& packet,
                      const capture::Frame& frame, std::uint64_t number,
                      const timeline::WorkRequest* request) {
    const int wire = process(link);
    const std::string direction =
        fmt::format("{} → {}", name_of(row.source), name_of(row.destination));
    const Track track{wire, thread(wire, direction, calls)};
    Held& held = directions_[{row.source, row.destination}];
    release(held, row.t_ns);

    const std::string text = summary_(packet, frame.bytes);
    std::string name = text.substr(0, text.find("  "));
    const bool is_again = row.cause && row.cause->seen != timeline::Transmission::First;
    if (is_again)
        name += " (again)";
    held.slice = slice("packet", std::move(name), track, row.t_ns, longest_packet_ns);
    held.slice["args"] = {{"frame", number}, {"text", text}};
    if (row.cause)
        held.slice["args"]["request"] = fmt::format("{} wr {}", row.cause->role, row.cause->wr_id);
    held.is_flowing = request != nullptr;
    if (request != nullptr)
        held.flow = flow("t", *request, track, row.t_ns);
    held.t_ns = row.t_ns;
}

void Perfetto::release(Held& held, std::int64_t next_ns) {
    if (held.slice.is_null())
        return;
    const std::int64_t duration_ns =
        std::clamp<std::int64_t>(next_ns - held.t_ns, 1, longest_packet_ns);
    held.slice["dur"] = static_cast<double>(duration_ns) / 1000;
    write(held.slice);
    if (held.is_flowing)
        write(held.flow);
    held.slice = nullptr;
}

void Perfetto::end() {
    for (auto& [direction, held] : directions_)
        release(held, held.t_ns + longest_packet_ns);
    for (const auto& [pair, lanes] : queue_pairs_)
        for (const Open& open : lanes.open)
            close(open, last_ns_, "no completion");
    sink_.append(std::string_view("\n]}\n"));
}

}  // namespace render
