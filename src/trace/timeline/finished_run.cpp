#include "trace/timeline/finished_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/timeline/order.hpp"

namespace timeline {

namespace key = runlog::key;

FinishedRun::FinishedRun(TraceFiles files, FirstPass* beside)
    : input_(std::move(files)), matcher_(info().offsets, this->files().capture_role) {
    read_logs();
    read_capture(beside);
}

void FinishedRun::read_logs() {
    while (auto event = input_.next_event()) {
        const WorkRequest* request = matcher_.learn(*event);
        const auto number = request == nullptr ? std::nullopt : std::optional(request->number);
        if (const auto qpn = (*event)[key::qpn])
            qpns_[event->role].insert(*qpn);
        event->fields.shrink_to_fit();
        events_.push_back({*std::move(event), number});
    }
    remove_returned_calls();
    number_requests();
}

// Removes the `begun` of calls that have returned later.
void FinishedRun::remove_returned_calls() {
    std::set<CallKey> begun;
    for (const KeptEvent& kept : events_)
        if (kept.event.is("begun"))
            begun.insert(call_key(kept.event));
    if (begun.empty())
        return;
    std::set<CallKey> returned;
    for (const KeptEvent& kept : events_)
        if (!kept.event.is("begun") && begun.contains(call_key(kept.event)))
            returned.insert(call_key(kept.event));
    std::erase_if(events_, [&](const KeptEvent& kept) {
        return kept.event.is("begun") && returned.contains(call_key(kept.event));
    });
}

void FinishedRun::number_requests() {
    const auto requests = matcher_.work_requests();
    requests_.resize(requests.size());
    for (const WorkRequest* request : requests)
        requests_[request->number] = request;
}

void FinishedRun::read_capture(FirstPass* beside) {
    if (beside != nullptr)
        beside->begin(*this);
    const auto icrc = beside == nullptr ? wire::IcrcCheck::Skip : beside->icrc();
    const bool may_start_over = matcher_.may_be_misled();
    SeenPackets seen;
    while (const auto frame = input_.next_frame()) {
        const wire::Packet packet = input_.decode(*frame, icrc);
        const PacketRow row = row_of(packet, frame->bytes, frame->time.count(), {});
        if (beside != nullptr)
            beside->packet(row, packet, *frame);
        note_ends(row);
        const Trace& trace = packets_.emplace_back(trace_of(matcher_.match(row)));
        const bool is_stray = trace.of == Trace::Of::Nothing && (row.key || row.cm);
        if (may_start_over || (is_stray && !events_.empty()))
            seen.add(packets_.size() - 1, row);
    }
    has_capture_ = input_.has_capture();
    capture_damage_ = input_.capture_damage();
    left_out_ = input_.left_out();
    match_again(seen);
    if (matcher_.was_misled())
        start_over(seen);
}

void FinishedRun::note_ends(const PacketRow& row) {
    if (row.key)
        dest_qpns_.insert(row.key->dest_qpn);
    if (files().is_run_dir || (!row.key && !row.cm))
        return;  // run.json names the hosts
    addresses_.insert(row.source);
    addresses_.insert(row.destination);
    const bool asks = row.key ? !row.key->is_response : row.cm->remote_id == 0;
    if (asks && asked_.empty())
        asked_ = row.destination;
}

Hosts FinishedRun::hosts() const {
    Hosts found;
    const auto& known = info().addresses;
    const auto server = known.find("server");
    found.server = server == known.end() ? asked_ : server->second;
    for (const std::string& role : info().roles)
        if (const auto address = known.find(role);
            role != "server" && address != known.end() &&
            (files().is_run_dir || address->second != found.server))
            found.clients.emplace(address->second, role);
    for (const std::string& address : addresses_)
        if (!address.empty() && address != found.server)
            found.clients.emplace(address, address);
    return found;
}

// A later packet may have shown what an earlier one lacked: the first PSN, a connection's ID.
void FinishedRun::match_again(const SeenPackets& seen) {
    seen.for_each([&](std::size_t packet, const PacketRow& row) {
        if (packets_[packet].of == Trace::Of::Nothing)
            packets_[packet] = trace_of(matcher_.match_again(row));
    });
}

// Starts again with the first PSNs that the first attempt found. `seen`: all packets.
void FinishedRun::start_over(const SeenPackets& seen) {
    Matcher informed(info().offsets, files().capture_role);
    for (const KeptEvent& kept : events_)
        informed.learn(kept.event);
    informed.begin_as(matcher_);
    matcher_ = std::move(informed);
    number_requests();
    seen.for_each([&](std::size_t packet, const PacketRow& row) {
        packets_[packet] = trace_of(matcher_.match(row));
    });
    match_again(seen);
}

std::vector<std::string> FinishedRun::absent_roles() const {
    std::set<std::string> posted, seen;
    for (const WorkRequest* request : requests_) {
        posted.insert(request->role);
        if (request->sent + request->answers > 0)
            seen.insert(request->role);
    }
    std::vector<std::string> absent;
    for (const auto& [role, qpns] : qpns_) {
        // QPNs repeat from run to run, PSNs do not.
        const bool is_seen = posted.contains(role)
                                 ? seen.contains(role)
                                 : std::ranges::any_of(qpns, [&](std::uint32_t qpn) {
                                       return dest_qpns_.contains(qpn);
                                   });
        if (!is_seen)
            absent.push_back(role);
    }
    return absent;
}

std::vector<FinishedRun::Order> FinishedRun::order_of_events() const {
    std::vector<Order> order;
    order.reserve(events_.size());
    for (const auto& [event, request] : events_)
        order.emplace_back(event.t_ns + shift_of(event.role), event_rank(event), order.size());
    std::ranges::sort(order);
    return order;
}

void FinishedRun::each_row(RowVisitor& visitor, wire::IcrcCheck icrc) {
    const std::vector<Order> order = order_of_events();
    auto next = order.begin();
    const auto events_until = [&](std::int64_t t_ns, int rank) {
        for (; next != order.end() && *next < Order(t_ns, rank, 0); ++next) {
            const auto& [event, request] = events_[std::get<std::size_t>(*next)];
            visitor.event(event, std::get<std::int64_t>(*next),
                          request ? requests_[*request] : nullptr);
        }
    };

    input_.rewind_capture();
    for (const Trace& trace : packets_) {
        const auto frame = input_.next_frame();
        if (!frame)
            break;
        events_until(frame->time.count(), packet_rank);
        const wire::Packet packet = input_.decode(*frame, icrc);
        PacketRow row = row_of(packet, frame->bytes, frame->time.count(), {});
        const Origin origin = origin_of(trace);
        row.set_origin(origin);
        const auto* place = std::get_if<RequestPacket>(&origin);
        visitor.packet(row, packet, *frame, frame->number,
                       place == nullptr ? nullptr : place->request);
    }
    events_until(std::numeric_limits<std::int64_t>::max(), 0);
}

void FinishedRun::each_frame(const FrameVisitor& visit) {
    input_.rewind_capture();
    for (const Trace& trace : packets_) {
        const auto frame = input_.next_frame();
        if (!frame)
            break;
        PacketRow row;
        row.t_ns = frame->time.count();
        row.set_origin(origin_of(trace));
        visit(*frame, row);
    }
}

void FinishedRun::each_event(const EventVisitor& visit) const {
    for (const Order& place : order_of_events())
        visit(events_[std::get<std::size_t>(place)].event, std::get<std::int64_t>(place));
}

void FinishedRun::each_logged_event(
    const std::function<void(const runlog::Event& event)>& visit) const {
    for (const KeptEvent& kept : events_)
        visit(kept.event);
}

FinishedRun::Trace FinishedRun::trace_of(const Origin& origin) {
    static_assert(sizeof(Trace) <= 12, "there is one for each packet");
    if (const auto* place = std::get_if<RequestPacket>(&origin))
        return {.which = place->request->number,
                .packet = place->packet,
                .of = Trace::Of::WorkRequest,
                .is_response = place->is_response,
                .seen = place->seen};
    if (const auto* set_up = std::get_if<SetUp>(&origin)) {
        // Most likely the same as for the previous packet.
        const auto known = std::find(set_ups_.rbegin(), set_ups_.rend(), *set_up);
        const auto which = static_cast<std::uint32_t>(set_ups_.rend() - known);  // from 1; 0: new
        if (which == 0)
            set_ups_.push_back(*set_up);
        return {.which = which == 0 ? static_cast<std::uint32_t>(set_ups_.size() - 1) : which - 1,
                .of = Trace::Of::SetUp};
    }
    return {};
}

Origin FinishedRun::origin_of(const Trace& trace) const {
    switch (trace.of) {
        case Trace::Of::WorkRequest:
            return RequestPacket{requests_[trace.which], trace.packet, trace.is_response,
                                 trace.seen};
        case Trace::Of::SetUp:
            return set_ups_[trace.which];
        case Trace::Of::Nothing:
            break;
    }
    return {};
}

}  // namespace timeline
