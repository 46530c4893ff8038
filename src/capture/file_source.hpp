// Packets of a pcap or pcapng file, or of such a stream on standard input. pcap is read by libpcap,
// pcapng by PcapngParser, which handles what libpcap rejects or does not report: interfaces of
// different link types and snap lengths, their names, comments.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "capture/input.hpp"
#include "capture/pcap_handle.hpp"
#include "capture/pcapng_parser.hpp"
#include "capture/source.hpp"

namespace capture {

/// What FileSource::next() does while the writer of a pipe has not written the next packet.
enum class AtPresent { wait, return_none };

class FileSource : public Source {
  public:
    /// `path`: a file; "-": standard input. Throws util::Error if it cannot be opened, is not a
    /// capture file, or is a pcap file, which has no interfaces, and an interface is chosen.
    /// `none`: with return_none, next() waits at most for the rest of a packet in a pcap stream, or
    /// of compressed data.
    explicit FileSource(const std::string& path, InterfaceChoice choice = InterfaceChoice(),
                        AtPresent none = AtPresent::wait);

    /// Throws util::Error also at the end of the file if the chosen interface is missing.
    std::optional<Frame> next() override;
    std::uint64_t dropped() const override { return parser_ ? parser_->dropped() : 0; }

    /// True after next() has returned nullopt at the end of the file.
    bool has_ended() const { return has_ended_; }

    /// False for a pipe or a socket, whose packets may be wanted as they arrive.
    bool is_file() const { return input_.is_file(); }

    /// True if next() has to wait for the writer of a pipe. The caller should flush its output
    /// then.
    bool must_wait() const { return input_.must_wait(); }

  private:
    bool is_pcapng() const;
    PcapHandle open_pcap();
    std::optional<Frame> next_of_pcap();
    std::optional<Frame> next_at_present();
    std::optional<Frame> next_of_pcapng();
    static ssize_t read_input(void* source, char* buffer, std::size_t size);

    bool has_none_at_present() const {
        return none_ == AtPresent::return_none && input_.must_wait();
    }

    Input input_;
    AtPresent none_;
    bool has_ended_ = false;
    std::optional<PcapngParser> parser_;
    std::exception_ptr failure_;      // a read error within libpcap
    std::unique_ptr<char[]> buffer_;  // of handle_'s stream
    PcapHandle handle_;
    wire::LinkType link_type_{};
    std::uint64_t packets_ = 0;
};

}  // namespace capture
