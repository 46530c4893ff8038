// Tells which packets each host sent and which arrived there, in a capture merged from captures at
// both hosts' interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/frame.hpp"
#include "capture/interface_choice.hpp"
#include "trace/conformance/observed_packet.hpp"
#include "trace/flow/key.hpp"

namespace rocecap {

class CheckEnds {
  public:
    /// `ends`: "INTERFACE=ADDRESS" for each host, the interface by number or name. Throws
    /// util::Error for an invalid one, or if there is only one.
    explicit CheckEnds(const std::vector<std::string>& ends);

    /// nullopt if the packet is not from one of these hosts to another, or was captured at neither
    /// of the two.
    std::optional<conformance::LinkSide> side_of(const capture::Frame& frame,
                                                 const flow::StreamKey& key);

    /// Takes each packet with its conformance::invariant_bytes(). Packets must be in the order in
    /// which they were sent and arrived.
    void see(conformance::LinkSide side, const flow::StreamKey& key, std::int64_t t_ns,
             util::Bytes bytes);
    /// Call it after the last packet. Throws util::Error if nothing was captured at an end, or if
    /// packets arrive before they were sent, because the hosts' clocks differ.
    void check_capture() const;

  private:
    struct End {
        std::string text;  // the interface as given
        capture::InterfaceChoice interface;
        flow::Host host;
        bool has_packets = false;
    };
    struct Flight {  // one packet's times
        std::optional<std::int64_t> sent, arrived;
        bool is_paired = false;
    };
    struct Delays {
        std::int64_t least = INT64_MAX;  // ns
        std::uint64_t packets = 0;
        std::uint64_t early = 0;  // packets that arrived before they were sent
    };

    End* end_of(const flow::Host& host);
    void check_clocks() const;

    std::vector<End> ends_;
    std::unordered_map<std::uint64_t, Flight> flights_;             // by digest
    std::map<std::pair<std::size_t, std::size_t>, Delays> delays_;  // from, to: in ends_
};

}  // namespace rocecap
