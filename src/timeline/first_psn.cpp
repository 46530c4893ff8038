#include "timeline/first_psn.hpp"

#include <filesystem>
#include <utility>

#include "timeline/endpoint_search.hpp"
#include "timeline/log_psns.hpp"
#include "timeline/packet_row.hpp"
#include "timeline/run_dir.hpp"
#include "wire/tcp.hpp"

namespace timeline {
namespace {

using Frames = std::vector<std::uint64_t>;

// A message that names the PSN that one of two queue pairs will begin with. An endpoint names its
// sender's own; the connection manager's messages name what their sender expects, which is where
// the receiver of the message begins (Linux drivers/infiniband/core/cm.c: the starting PSN of a
// ConnectRequest is the rq_psn of who sends it).
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

class Reader {
  public:
    explicit Reader(const std::string& path) : directory_(path) {}

    FirstPsns read() {
        while (true) {
            auto item = directory_.next();
            if (std::holds_alternative<std::monostate>(item))
                break;
            if (const auto* event = std::get_if<runlog::Event>(&item))
                log_.add(*event);
            else
                add(std::get<capture::Frame>(item));
        }
        settle();
        FirstPsns all;
        const std::filesystem::path path(directory_.path());
        all.run = (path.has_filename() ? path : path.parent_path()).filename().string();
        all.step = directory_.info().step;
        all.has_capture = directory_.has_capture();
        all.capture_is_cut = directory_.capture_is_cut();
        for (Direction& direction : directions_)
            all.directions.push_back(std::move(direction.first));
        return all;
    }

  private:
    struct Direction {
        FirstPsn first;
        std::string source, destination;  // IP addresses
        bool has_request = false;
    };

    // The logs come first; what is written to them while the capture is read comes too late.
    void settle() {
        if (std::exchange(is_settled_, true))
            return;
        for (FirstPsn& first : log_.directions()) {
            const std::string source = log_.address_of(first.from);
            const std::string destination = log_.address_of(first.to);
            directions_.push_back({std::move(first), source, destination});
        }
    }

    void add(const capture::Frame& frame) {
        settle();
        ++number_;
        const wire::Packet packet = capture::decode(frame, wire::IcrcCheck::Skip);
        const PacketRow row = row_of(packet, frame.bytes, frame.time.count(), {});
        for (const Announcement& said : announcements(packet, frame.bytes))
            for (Direction& direction : directions_)
                note(direction, said, row.source);
        if (row.key)
            for (Direction& direction : directions_)
                note(direction, *row.key);
    }

    void note(Direction& direction, const Announcement& said, const std::string& source) const {
        FirstPsn& first = direction.first;
        const bool is_of_it = said.is_expected
                                  ? source == direction.destination && said.qpn == first.dest_qpn
                                  : source == direction.source && said.qpn == first.qpn;
        if (!is_of_it)
            return;
        if (!first.psn)
            first.psn = said.psn;
        if (said.psn == *first.psn)
            (first.*said.where).push_back(number_);
    }

    void note(Direction& direction, const PacketKey& key) const {
        FirstPsn& first = direction.first;
        const bool goes_along =
            key.is_response
                ? key.destination == direction.source && key.dest_qpn == first.qpn
                : key.destination == direction.destination && key.dest_qpn == first.dest_qpn;
        if (!goes_along)
            return;
        // Of a capture that began within a message the first packet tells nothing.
        if (!key.is_response && !std::exchange(direction.has_request, true) && !first.psn &&
            key.starts_message)
            first.psn = key.psn;
        if (first.psn == key.psn)
            first.bths.push_back(number_);
    }

    RunDir directory_;
    LogPsns log_;
    std::vector<Direction> directions_;
    bool is_settled_ = false;
    std::uint64_t number_ = 0;
};

}  // namespace

FirstPsns first_psns(const std::string& run_dir) {
    return Reader(run_dir).read();
}

}  // namespace timeline
