// What the file and the live source share of libpcap.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <pcap/pcap.h>

#include "capture/frame.hpp"

namespace capture {

struct PcapClose {
    void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using PcapHandle = std::unique_ptr<pcap_t, PcapClose>;

/// Throws util::Error, with the link type's name, for one that is not decoded here. `what` is the
/// file or the interface.
wire::LinkType link_type_of(pcap_t* handle, const std::string& what);

/// That sentence, without its end. `number`: a LINKTYPE_ or DLT_.
std::string undecoded_link_type(const std::string& what, int number);

/// pcap_next_ex(3PCAP) as a Frame; nullopt where it has none (live: no packet yet; file: the end).
/// Throws util::Error with libpcap's own words, prefixed with `what`.
/// `number`: the frame's.
std::optional<Frame> next_frame(pcap_t* handle, wire::LinkType link_type, const std::string& what,
                                std::uint64_t number = 0);

}  // namespace capture
