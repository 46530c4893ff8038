// Packets of a pcap or pcapng file, or of such a stream on standard input: pcapng by a reader of
// our own, which takes what libpcap refuses or does not tell (interfaces of different link types
// and snap lengths, their names, comments), pcap by libpcap.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "capture/input.hpp"
#include "capture/pcap_handle.hpp"
#include "capture/pcapng_parser.hpp"
#include "capture/source.hpp"

namespace capture {

class FileSource : public Source {
  public:
    /// `path`: a file; "-": standard input. Throws util::Error where it cannot be opened, is no
    /// capture file, or is a pcap file, which has no interfaces, and one is chosen.
    explicit FileSource(const std::string& path, InterfaceChoice choice = InterfaceChoice());

    /// Throws util::Error where the chosen interface is missing, too: at the end of the file.
    std::optional<Frame> next() override;

    /// True where next() has to wait for somebody to write more into a pipe: the moment to flush
    /// what was made of the packets so far.
    bool must_wait() const { return input_.must_wait(); }

    /// Whether more than one interface was described so far.
    bool has_several_interfaces() const { return parser_ && parser_->has_several_interfaces(); }

  private:
    bool is_pcapng() const;
    PcapHandle open_pcap();
    std::optional<Frame> next_of_pcap();
    std::optional<Frame> next_of_pcapng();
    static ssize_t read_input(void* source, char* buffer, std::size_t size);

    Input input_;
    std::optional<PcapngParser> parser_;
    std::exception_ptr failure_;  // of reading, within libpcap
    PcapHandle handle_;
    wire::LinkType link_type_{};
    std::uint64_t packets_ = 0;
};

}  // namespace capture
