// Writes pcapng with data that libpcap cannot write: interface names, drop counts, nanoseconds,
// comments on packets, and the TLS secrets that decrypt packets.
// Source: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/frame.hpp"
#include "capture/pcapng_block.hpp"
#include "capture/sink.hpp"

namespace capture {

/// Description of the file. Empty text is left out.
struct PcapngSection {
    std::string hardware;
    std::string os;           // of this machine: os_name()
    std::string application;  // the program that wrote the file
    std::string comment;
};

struct PcapngInterface {
    wire::LinkType link_type = wire::LinkType::Ethernet;
    std::string name;
    std::string description;
    std::string filter;         // as for tcpdump
    std::uint32_t snaplen = 0;  // 0: no limit. libpcap requires the same value on all interfaces
};

/// Counts of one interface over the whole capture; unknown values stay empty.
struct PcapngStatistics {
    Time start{};
    Time end{};
    std::optional<std::uint64_t> passed_filter;
    std::optional<std::uint64_t> dropped_by_interface;
    std::optional<std::uint64_t> dropped_by_kernel;
    std::optional<std::uint64_t> written;
};

/// Every function throws as Sink::append() does.
class PcapngWriter {
  public:
    PcapngWriter(Sink sink, const PcapngSection& section);

    /// Returns the interface's number for packets and statistics: 0, 1, …
    std::uint32_t add_interface(const PcapngInterface& interface);

    /// What the next two add before the first interface is written behind it: editcap and mergecap of
    /// Wireshark 4.0 cannot copy a file in which it comes earlier.
    ///
    /// Names of IPv4 and IPv6 addresses in digits; other keys are ignored.
    void add_names(const std::map<std::string, std::string>& names);

    /// `key_log`: lines from OpenSSL's keylog callback. Wireshark needs them before the packets
    /// that they decrypt.
    void add_tls_secrets(std::string_view key_log);

    /// `comment` is UTF-8; empty: none.
    void packet(std::uint32_t interface, const Frame& frame, std::string_view comment = {});

    void statistics(std::uint32_t interface, const PcapngStatistics& statistics);

    /// Writes everything so far to the reader.
    void flush() { sink_.flush(); }
    void close() { sink_.close(); }

    Sink& sink() { return sink_; }
    std::uint64_t bytes() const { return sink_.appended(); }

  private:
    void write_behind_interface();

    Sink sink_;
    PcapngBlock block_;
    std::vector<std::byte> behind_interface_;
    std::uint32_t interfaces_ = 0;
};

/// "Linux 6.1.0-26-amd64".
std::string os_name();

}  // namespace capture
