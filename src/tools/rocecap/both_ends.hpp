// Tells which packets each host sent and which arrived there, in a capture of both ends of a path: that
// of the link emulator, or one merged from captures at both hosts' interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "capture/frame.hpp"
#include "capture/interface_choice.hpp"
#include "trace/conformance/observed_packet.hpp"
#include "trace/flow/key.hpp"

namespace rocecap {

/// Adds --end, "INTERFACE=ADDRESS" for each host, the interface by number or name.
void add_ends_option(CLI::App& command, std::vector<std::string>& ends);

class BothEnds {
  public:
    /// nullopt: the capture, whose first frame this is, was made at one place. `place`, `interface`: the
    /// arguments of --at and --interface. Throws util::Error if they do not fit, or for an invalid end.
    static std::optional<BothEnds> of(const std::string& path, const capture::Frame& first,
                                      const std::vector<std::string>& ends,
                                      const std::string& place, const std::string& interface);

    /// Takes the frames in the order in which they were sent and arrived. What it returns is valid until
    /// the next call. nullopt: the packet is not
    /// from one of the hosts to another, or was captured at neither of the two. A frame that is not RoCE
    /// counts as sent. Throws util::Error for a frame of an interface beside those of the link.
    std::optional<conformance::Passing> see(const capture::Frame& frame,
                                            const wire::Packet& packet);
    /// Call it after the last packet. Throws util::Error if nothing was captured at an end, or if
    /// packets arrive before they were sent, because the hosts' clocks differ.
    void check_capture() const;

  private:
    BothEnds(std::string path, const std::vector<std::string>& ends);

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

    conformance::Passing see_at_link(const capture::Frame& frame, const wire::Packet& packet);
    util::Bytes without_variant_fields(const wire::Packet& packet, util::Bytes frame);
    End* end_of(const flow::Host& host);
    End* end_with(const capture::Frame& frame);
    void measure(conformance::LinkSide side, const flow::StreamKey& key, std::int64_t t_ns,
                 util::Bytes identity);
    void check_clocks() const;

    std::string path_;
    std::vector<End> ends_;  // empty: the link emulator's
    bool has_before_ = false;
    std::vector<std::byte> identity_;
    std::unordered_map<std::uint64_t, Flight> flights_;             // by digest, at most 65,536
    std::map<std::pair<std::size_t, std::size_t>, Delays> delays_;  // from, to: in ends_
};

}  // namespace rocecap
