// Packets of a pcap or pcapng file, or of such a stream on standard input.
#pragma once

#include <exception>
#include <string>

#include "capture/input.hpp"
#include "capture/pcap_handle.hpp"
#include "capture/source.hpp"

namespace capture {

class FileSource : public Source {
  public:
    /// `path`: a file; "-": standard input. Throws util::Error where it cannot be opened or is no
    /// capture file.
    explicit FileSource(const std::string& path);

    std::optional<Frame> next() override;

    /// True where next() has to wait for somebody to write more into a pipe: the moment to flush
    /// what was made of the packets so far.
    bool must_wait() const { return input_.must_wait(); }

  private:
    PcapHandle open_pcap();
    static ssize_t read_input(void* source, char* buffer, std::size_t size);

    Input input_;
    std::exception_ptr failure_;  // of reading, within libpcap
    PcapHandle handle_;
    wire::LinkType link_type_;
};

}  // namespace capture
