// libpcap code shared by the file and the live source.
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

/// "libpcap version 1.10.3 (with TPACKET_V3)".
std::string library_version();

/// Throws util::Error with the link type's name if it is not decoded here. `what`: the file or the
/// interface.
wire::LinkType link_type_of(pcap_t* handle, const std::string& what);

/// The text of that error, without its end. `number`: a LINKTYPE_ or DLT_.
std::string undecoded_link_type(const std::string& what, int number);

/// Returns the result of pcap_next_ex(3PCAP) as a Frame; nullopt if there is none (live: no packet
/// yet; file: the end). Throws util::Error with libpcap's message after `what`. `number`: the
/// frame's.
std::optional<Frame> next_frame(pcap_t* handle, wire::LinkType link_type, const std::string& what,
                                std::uint64_t number = 0);

}  // namespace capture
