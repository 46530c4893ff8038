// What the requesters of a run sent, and what the responders returned: the frames that a model sends
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/flow/tracker.hpp"
#include "trace/predict/packet.hpp"
#include "trace/simulate/message.hpp"
#include "trace/timeline/finished_run.hpp"
#include "wire/packet.hpp"

namespace simulate {

/// A frame, and what it says.
struct Sample {
    std::vector<std::byte> bytes;
    wire::Packet packet;  // of these bytes

    explicit Sample(std::vector<std::byte> frame);
    Sample(const Sample&) = delete;  // `packet` refers to `bytes`
    Sample& operator=(const Sample&) = delete;
    Sample(Sample&&) = default;
    Sample& operator=(Sample&&) = default;
    ~Sample() = default;
};

struct PostedMessage : Message {
    std::int64_t posted_ns = 0;  ///< when its first packet was captured, since the first of the run
};

/// The messages of one requester to one queue pair. If both ends of a connection post requests, there
/// are two.
struct Traffic {
    std::string requester, responder;  ///< numeric IP addresses
    wire::Psn first_psn;
    std::uint32_t path_mtu = 0;  ///< 0: unknown
    std::vector<PostedMessage> messages;
    /// By place, the first copy of each; a READ's request at its first place.
    std::map<std::uint32_t, Sample> requests;
    /// Data by place, and one ACK or NAK, from which other responses are made.
    std::map<std::uint32_t, Sample> data;
    std::vector<Sample> acknowledgement;
    /// By place, the syndromes of NAKs that ended the queue pair: the responder refuses again.
    std::map<std::uint32_t, std::uint8_t> refusals;
    /// Messages behind a packet that was not captured: they are left out.
    bool is_cut = false;
};

class TrafficReader : public timeline::FirstPass {
  public:
    /// More packets are left out, and what they belong to is cut.
    static constexpr std::size_t most_packets = 20'000;
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    wire::IcrcCheck icrc() const override { return wire::IcrcCheck::Compute; }
    void begin(const timeline::FinishedRun& run) override;
    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame) override;

    /// Of the first packet; 0 if there is none.
    capture::Time first_time() const {
        return capture::Time(packets_.empty() ? 0 : packets_.front().t_ns);
    }

    /// Call it once, after all packets. Half connections of which no response was captured are left
    /// out: without one, the requester's queue pair is unknown.
    std::vector<Traffic> take();

  private:
    flow::Tracker tracker_;
    std::vector<predict::ReliablePacket> packets_;
    std::vector<std::vector<std::byte>> frames_;
    std::size_t bytes_ = 0;  // of these
};

}  // namespace simulate
