// A capture merged from captures at both hosts' interfaces: which packets each host sent, and which
// arrived there.
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
    /// Of each host "INTERFACE=ADDRESS", the interface by number or name. Throws util::Error where
    /// one is not so, or there is only one.
    explicit CheckEnds(const std::vector<std::string>& ends);

    /// nullopt: the packet is not from one of these hosts to another, or was not captured at either
    /// of the two.
    std::optional<conformance::LinkSide> side_of(const capture::Frame& frame,
                                                 const flow::StreamKey& key);

    /// Each packet, with its conformance::invariant_bytes(): the order of the file must be that in which packets were
    /// sent and arrived.
    void see(conformance::LinkSide side, const flow::StreamKey& key, std::int64_t t_ns,
             util::Bytes bytes);
    /// After the last: throws util::Error where nothing was captured at an end, and where packets
    /// arrive before they were sent, since the hosts' clocks differ.
    void check_capture() const;

  private:
    struct End {
        std::string text;  // of the interface
        capture::InterfaceChoice interface;
        flow::Host host;
        bool has_packets = false;
    };
    struct Flight {  // of one packet
        std::optional<std::int64_t> sent, arrived;
        bool is_paired = false;
    };
    struct Delays {
        std::int64_t least = INT64_MAX;  // ns
        std::uint64_t packets = 0;
        std::uint64_t early = 0;  // that arrived before they were sent
    };

    End* end_of(const flow::Host& host);
    void check_clocks() const;

    std::vector<End> ends_;
    std::unordered_map<std::uint64_t, Flight> flights_;             // by digest
    std::map<std::pair<std::size_t, std::size_t>, Delays> delays_;  // from and to, in ends_
};

}  // namespace rocecap
