#include "render/page/page.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "render/page/archive.hpp"
#include "render/page/assets.hpp"
#include "render/page/details.hpp"
#include "render/page/facts.hpp"
#include "render/page/quiz.hpp"
#include "render/page/rows.hpp"
#include "render/page/secrets.hpp"
#include "trace/predict/run.hpp"
#include "trace/timeline/capability.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/queue_pair_track.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"

namespace page {
namespace {

using timeline::FinishedRun;

// Collects the rows and the input of the tables.
class Reader : public timeline::RowVisitor {
  public:
    Reader(const FinishedRun& run, std::uint64_t most_packets, const Encode& encode)
        : rows_(run, most_packets, encode), predicted_({.events = most_link_events}) {
        predicted_.begin(run);
    }

    void event(const runlog::Event& event, std::int64_t t_ns,
               const timeline::WorkRequest* request) override {
        tracks_.learn(event);
        capabilities_.learn(event);
        rows_.event(event, t_ns, request);
        predicted_.event(event, t_ns);
    }

    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame, std::uint64_t number,
                const timeline::WorkRequest* request) override {
        capabilities_.see(packet, frame.bytes, number, row.t_ns);
        rows_.packet(row, packet, frame, number, request);
        if (rows_.left_out().packets == 0)
            predicted_.packet(row, packet, frame);
        else
            predicted_.cut();
    }

    Rows& rows() { return rows_; }
    predict::RunReader& predicted() { return predicted_; }
    const timeline::QueuePairTracks& tracks() const { return tracks_; }
    const timeline::Capabilities& capabilities() const { return capabilities_; }

  private:
    // The time to place them among the packets grows with the product of their numbers.
    static constexpr std::size_t most_link_events = 1000;

    Rows rows_;
    predict::RunReader predicted_;
    timeline::QueuePairTracks tracks_;
    timeline::Capabilities capabilities_;
};

util::Json time_or_null(std::optional<std::int64_t> t_ns, std::int64_t add) {
    return t_ns ? util::Json(*t_ns + add) : util::Json(nullptr);
}

util::Json row_or_none(const std::optional<std::size_t>& row) {
    return row ? util::Json(*row) : util::Json(-1);
}

util::Json requests_json(const Rows& rows, const FinishedRun& run) {
    util::Json all = util::Json::array();
    for (const auto& [request, sender, row, chunk_row] : rows.requests()) {
        const std::int64_t own = run.shift_of(request->role) - rows.origin_ns();
        all.push_back({{"role", request->role},
                       {"side", rows.side_of(request->role)},
                       {"sender", sender},
                       {"qpn", request->qpn},
                       {"wr_id", request->wr_id},
                       {"opcode", request->opcode},
                       {"length", request->length},
                       {"status", request->status},
                       {"posted", request->posted_ns + own},
                       {"seen", time_or_null(request->first_seen_ns, -rows.origin_ns())},
                       {"acknowledged", time_or_null(request->acknowledged_ns, -rows.origin_ns())},
                       {"completed", time_or_null(request->completed_ns, own)},
                       {"sent", request->sent},
                       {"answers", request->answers},
                       {"repeats", request->repeats},
                       {"naks", request->naks},
                       {"row", row_or_none(row)}});
        if (request->chunk)
            all.back()["chunk"] = {{"text", request->chunk->text()},
                                   {"number", request->chunk->number()},
                                   {"rank", request->chunk->rank},
                                   {"to", request->chunk->to()},
                                   {"inbox", request->chunk->sent_before % 2},
                                   {"row", row_or_none(chunk_row)}};
    }
    return all;
}

util::Json senders_json(const Rows& rows) {
    util::Json all = util::Json::array();
    for (const auto& [role, qpn] : rows.senders())
        all.push_back({{"text", fmt::format("the {}'s QP {:#08x}", role, qpn)}});
    return all;
}

std::string name_of(const timeline::QueuePairTrack& track) {
    std::string name = track.role;
    if (!track.end.empty())
        name += ' ' + track.end;
    return track.qpn == 0 ? name : fmt::format("{} {:#08x}", name, track.qpn);
}

util::Json tracks_json(const Reader& reader, const Rows& rows, const FinishedRun& run) {
    util::Json all = util::Json::array();
    for (const timeline::QueuePairTrack& track : reader.tracks().all()) {
        util::Json states = util::Json::array();
        for (const timeline::QueuePairState& state : track.states) {
            const std::int64_t t_ns = state.t_ns + run.shift_of(track.role);
            states.push_back({{"t", t_ns - rows.origin_ns()},
                              {"state", state.state},
                              {"detail", state.detail},
                              {"is_inferred", state.is_inferred},
                              {"row", row_or_none(rows.row_of_event(track.role, t_ns))}});
        }
        all.push_back(
            {{"role", track.role}, {"name", name_of(track)}, {"states", std::move(states)}});
    }
    return all;
}

util::Json throughput_json(const Rows& rows) {
    util::Json sums = util::Json::array();
    for (const auto& stream : rows.throughput().sums())
        sums.push_back(stream);
    return {{"from", rows.throughput_begins_ns() - rows.origin_ns()},
            {"width", rows.throughput().width()},
            {"sums", std::move(sums)}};
}

util::Json json(const Rows::Count& count) {
    return {{"packets", count.packets}, {"events", count.events}};
}

// Without roles, the hosts are called as the columns of the ladder.
void name_hosts(predict::Run& predicted, const timeline::Hosts& hosts) {
    if (!predicted.addresses.empty() || hosts.server.empty() || hosts.clients.size() != 1)
        return;
    predicted.addresses = {{"server", hosts.server}, {"client", hosts.clients.begin()->first}};
}

util::Json questions(Reader& reader, const FinishedRun& run) {
    predict::Run predicted = reader.predicted().take();
    name_hosts(predicted, run.hosts());
    return quiz_json(predicted);
}

util::Json describe(Reader& reader, const FinishedRun& run, const timeline::FirstPsns& first_psns) {
    const timeline::TraceFiles& files = run.files();
    const Rows& rows = reader.rows();
    return {{"about", about(files)},
            {"facts", facts_of(run)},
            {"roles", run.info().roles},
            {"kept", json(rows.kept())},
            {"left_out", json(rows.left_out())},
            {"chunk", Rows::chunk},
            {"fields", field_table()},
            {"headers", header_names()},
            {"senders", senders_json(rows)},
            {"requests", requests_json(rows, run)},
            {"tracks", tracks_json(reader, rows, run)},
            {"throughput", throughput_json(rows)},
            {"capabilities", capabilities_json(reader.capabilities().all(), rows, run)},
            {"first_psns", first_psns_json(first_psns)},
            {"quiz", questions(reader, run)}};
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text)
        switch (letter) {
            case '<':
                out += "&lt;";
                break;
            case '&':
                out += "&amp;";
                break;
            default:
                out += letter;
        }
    return out;
}

// Writes the page's own text with each {{name}} replaced by its value.
void fill(std::string_view text,
          std::initializer_list<std::pair<std::string_view, std::string_view>> values,
          capture::Sink& sink) {
    while (true) {
        const auto open = text.find("{{");
        sink.append(text.substr(0, open));
        if (open == std::string_view::npos)
            return;
        const auto close = text.find("}}", open);
        const auto name = text.substr(open + 2, close - open - 2);
        for (const auto& [key, value] : values)
            if (key == name)
                sink.append(value);
        text.remove_prefix(close + 2);
    }
}

std::string title_of(const timeline::TraceFiles& files) {
    if (!files.info.step.empty())
        return (files.info.backend == "model" ? "A model of " : "Lesson ") + files.info.step;
    return files.is_run_dir ? "A run" : util::printable(files.short_name());
}

}  // namespace

Page read(FinishedRun& run, const timeline::FirstPsns& first_psns, std::uint64_t most_packets,
          const Encode& encode) {
    Reader reader(run, most_packets, encode);
    run.each_row(reader);
    Rows& rows = reader.rows();
    const util::Json facts = describe(reader, run, first_psns);
    Page page;
    page.title = title_of(run.files());
    page.run = deflated(facts.dump(-1, ' ', false, util::Json::error_handler_t::replace));
    page.rows = rows.take_rows();
    page.details = rows.take_details();
    page.packets = rows.kept().packets;
    page.events = rows.kept().events;
    page.left_out = rows.left_out().packets + rows.left_out().events;
    return page;
}

void write(const Page& page, capture::Sink& sink) {
    fill(html,
         {{"title", escaped(page.title)},
          {"style", style},
          {"run", page.run},
          {"rows", page.rows},
          {"details", page.details},
          {"script", script}},
         sink);
}

}  // namespace page
