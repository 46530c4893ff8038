#include "trace/timeline/first_psn.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "trace/flow/connect.hpp"
#include "trace/logged/objects.hpp"
#include "trace/timeline/endpoint_search.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/trace_input.hpp"
#include "wire/tcp.hpp"

namespace timeline {

namespace key = runlog::key;

namespace {

using Frames = std::vector<std::uint64_t>;

// A message with the first PSN of one of two queue pairs. An endpoint has its sender's own first
// PSN. A connection manager message has the PSN that its sender expects, which is the first PSN of
// the receiver (Linux drivers/infiniband/core/cm.c: the starting PSN of a ConnectRequest is its
// sender's rq_psn).
struct Announcement {
    Frames FirstPsn::*where = nullptr;
    std::uint32_t qpn = 0;  // the sender's
    std::uint32_t psn = 0;
    bool is_expected = false;
};

std::vector<Announcement> announcements(const wire::Packet& packet, util::Bytes frame) {
    std::vector<Announcement> found;
    if (packet.cm) {
        if (const auto* request = packet.cm->as<wire::CmReq>())
            found.push_back({&FirstPsn::connect_requests, request->local_qpn,
                             request->starting_psn.value(), true});
        else if (const auto* reply = packet.cm->as<wire::CmRep>())
            found.push_back(
                {&FirstPsn::connect_replies, reply->local_qpn, reply->starting_psn.value(), true});
    } else if (const auto segment = wire::tcp_segment(packet, frame)) {
        util::Bytes payload = segment->payload;
        while (const auto endpoint = take_endpoint(payload))
            found.push_back({&FirstPsn::tcp_segments, endpoint->qpn, endpoint->psn});
    }
    return found;
}

// The first PSNs according to the run logs.
class LogPsns {
  public:
    /// Takes the events of each log in order.
    void add(const runlog::Event& event);

    /// The directions of queue pairs that have a peer, the client's first. Without information from
    /// the wire.
    std::vector<FirstPsn> directions() const;

    /// The role's numeric IP address; empty if its log has no GID.
    std::string address_of(const std::string& role) const;

  private:
    struct QueuePair : logged::QueuePair {
        FirstPsn first;  // of its first connection
    };

    logged::QueuePairs<QueuePair> pairs_;
    std::set<std::string> uses_cm_;  // roles
};

void LogPsns::add(const runlog::Event& event) {
    if (event.is("cm_event"))
        uses_cm_.insert(event.role);
    QueuePair* pair = pairs_.learn(event);
    if (pair == nullptr)
        return;
    FirstPsn& first = pair->first;
    if (event.is("psn")) {
        first.psn = event[key::psn];
        first.hidden = !first.psn;
        first.chosen_by = event[key::source];
    }
    if (first.dest_qpn == 0)
        first.dest_qpn = pair->dest_qpn.value_or(0);
    if (!first.psn && pair->sq_psn)
        first.psn = pair->sq_psn->value();
    first.hidden |= !first.psn && pair->hides_psns;
}

std::vector<FirstPsn> LogPsns::directions() const {
    std::map<logged::Key, const QueuePair*> firsts;
    for (const QueuePair& pair : pairs_.all())
        firsts.try_emplace({pair.role, pair.qpn}, &pair);
    std::vector<FirstPsn> all;
    for (const auto& [key, pair] : firsts) {
        if (pair->first.dest_qpn == 0)
            continue;
        FirstPsn& direction = all.emplace_back(pair->first);
        direction.from = pair->role;
        direction.qpn = pair->qpn;
        if (const QueuePair* peer = pairs_.peer_of(*pair))
            direction.to = peer->role;
        if (direction.chosen_by.empty() && uses_cm_.contains(pair->role))
            direction.chosen_by = "rdma_cm (the kernel)";
    }
    return all;
}

std::string LogPsns::address_of(const std::string& role) const {
    const logged::Device* device = pairs_.devices().last_of(role);
    return device == nullptr ? std::string() : device->address();
}

class Reader {
  public:
    explicit Reader(const TraceFiles& files) : files_(files), input_(files) {}

    FirstPsns read() {
        while (const auto event = input_.next_event()) {
            log_.add(*event);
            all_.has_logs = true;
        }
        take_log();
        while (const auto frame = input_.next_frame())
            add(*frame);
        all_.run = files_.short_name();
        all_.step = files_.info.step;
        all_.has_capture = input_.has_capture();
        all_.capture_damage = input_.capture_damage();
        all_.left_out = input_.left_out();
        for (Direction& direction : directions_)
            all_.directions.push_back(std::move(direction.first));
        return std::move(all_);
    }

  private:
    struct Direction {
        FirstPsn first;
        std::string source, destination;  // IP addresses; empty: unknown
        bool has_request = false;
    };
    using Indexes = std::vector<std::size_t>;
    struct SeenAnnouncement {
        Announcement what;
        std::string source;
        std::uint64_t frame = 0;
    };

    void take_log() {
        for (FirstPsn& first : log_.directions()) {
            const std::string source = log_.address_of(first.from);
            const std::string destination = log_.address_of(first.to);
            add({std::move(first), source, destination});
        }
    }

    void add(Direction direction) {
        to_[{direction.destination, direction.first.dest_qpn}].push_back(directions_.size());
        from_[{direction.source, direction.first.qpn}].push_back(directions_.size());
        directions_.push_back(std::move(direction));
    }

    // The directions with requests to this queue pair.
    std::span<const std::size_t> to(const std::string& address, std::uint32_t qpn) const {
        const auto found = to_.find({address, qpn});
        return found == to_.end() ? std::span<const std::size_t>() : found->second;
    }

    void add(const capture::Frame& frame) {
        number_ = frame.number;
        ++all_.packets;
        const wire::Packet packet = input_.decode(frame, wire::IcrcCheck::Skip);
        all_.roce_packets += packet.is_roce();
        const PacketRow row = row_of(packet, frame.bytes, frame.time.count(), {});
        for (const Announcement& what : announcements(packet, frame.bytes)) {
            said_.push_back({what, row.source, number_});
            for (Direction& direction : directions_)
                note(direction, said_.back());
        }
        if (packet.cm)
            connect(*flow::StreamKey::of(packet), *packet.cm);
        if (!row.key)
            return;
        if (!all_.has_logs)
            make_if_new(*row.key);
        const auto& index = row.key->is_response ? from_ : to_;
        if (const auto found = index.find({row.key->destination, row.key->dest_qpn});
            found != index.end())
            for (const std::size_t direction : found->second)
                note(directions_[direction], *row.key);
    }

    // Adds both directions of a connection set up by the connection manager.
    void connect(const flow::StreamKey& datagram, const wire::Cm& message) {
        const auto made = connects_.see(datagram, message);
        if (!made || !connections_.insert(made->id).second)
            return;
        make(made->to_passive, made->to_active.dest_qpn, made->first_to_passive.value());
        make(made->to_active, made->to_passive.dest_qpn, made->first_to_active.value());
    }

    void make(const flow::StreamKey& stream, std::uint32_t qpn, std::uint32_t psn) {
        const std::string source = flow::text(stream.src);
        const std::string destination = flow::text(stream.dst);
        const auto is_it = [&](std::size_t index) {
            const Direction& other = directions_[index];
            const FirstPsn& first = other.first;
            return first.qpn == qpn && (other.source.empty() || other.source == source) &&
                   // Another connection on the same queue pairs has its own PSN.
                   (first.from != source || first.psn == psn);
        };
        for (const std::string& address : {destination, std::string()})
            if (std::ranges::any_of(to(address, stream.dest_qpn), is_it))
                return;
        Direction direction{{}, source, destination};
        direction.first.from = source;
        direction.first.to = destination;
        direction.first.qpn = qpn;
        direction.first.dest_qpn = stream.dest_qpn;
        direction.first.psn = psn;
        direction.first.chosen_by = "the connection manager";
        for (const SeenAnnouncement& said : said_)
            note(direction, said);
        add(std::move(direction));
    }

    // Adds the direction of a request if it is not known yet.
    void make_if_new(const PacketKey& key) {
        if (key.is_response || key.source_qpn || key.source.empty())
            return;
        const auto is_its = [&](std::size_t index) {
            return directions_[index].source == key.source;
        };
        if (std::ranges::any_of(to(key.destination, key.dest_qpn), is_its))
            return;
        Direction direction{{}, key.source, key.destination};
        direction.first.from = key.source;
        direction.first.to = key.destination;
        direction.first.dest_qpn = key.dest_qpn;
        if (key.starts_message)
            direction.first.psn = key.psn;
        for (const SeenAnnouncement& said : said_)
            note(direction, said);
        add(std::move(direction));
    }

    static void note(Direction& direction, const SeenAnnouncement& said) {
        FirstPsn& first = direction.first;
        const Announcement& what = said.what;
        const auto is_qpn = [&](std::uint32_t qpn) { return qpn == 0 || what.qpn == qpn; };
        const bool is_of_it = what.is_expected
                                  ? said.source == direction.destination && is_qpn(first.dest_qpn)
                                  : said.source == direction.source && is_qpn(first.qpn);
        if (!is_of_it)
            return;
        if (!first.psn && first.qpn != 0)
            first.psn = what.psn;
        if (what.psn == first.psn)
            (first.*what.where).push_back(said.frame);
    }

    void note(Direction& direction, const PacketKey& key) const {
        FirstPsn& first = direction.first;
        // If the capture begins within a message, its first packet does not show the first PSN.
        if (!key.is_response && !std::exchange(direction.has_request, true) && !first.psn &&
            key.starts_message)
            first.psn = key.psn;
        if (first.psn == key.psn)
            first.bths.push_back(number_);
    }

    const TraceFiles& files_;
    TraceInput input_;
    LogPsns log_;
    flow::Connects connects_;
    std::set<std::uint64_t> connections_;
    std::vector<SeenAnnouncement> said_;
    std::vector<Direction> directions_;
    // Indexes of directions_: by address and number of the queue pair that requests go to, and that
    // they come from.
    std::map<std::pair<std::string, std::uint32_t>, Indexes> to_, from_;
    FirstPsns all_;
    std::uint64_t number_ = 0;
};

}  // namespace

FirstPsns first_psns(const TraceFiles& files) {
    return Reader(files).read();
}

}  // namespace timeline
