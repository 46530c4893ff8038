// Follows a pcapng file while it is being written: libpcap takes the present end of such a file for
// damage, this takes it for "not yet".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/source.hpp"
#include "util/fd.hpp"

namespace capture {

class PcapngTail : public Source {
  public:
    /// The file must exist; it may still be empty. Throws util::Error.
    explicit PcapngTail(const std::string& path);

    /// Never waits. Throws util::Error where the file is no pcapng, or not of this machine's byte
    /// order.
    std::optional<Frame> next() override;

    /// True while the file ends inside a block: its writer is not done, or broke off there.
    bool inside_block() const { return begin_ != buffer_.size(); }

  private:
    struct Interface {
        wire::LinkType link_type;
        std::uint64_t ticks_per_second;
        std::string name;
    };

    bool read_more();
    std::span<const std::byte> take_block();
    void add_interface(std::span<const std::byte> body);
    std::optional<Frame> packet(std::span<const std::byte> body) const;
    [[noreturn]] void damaged(const char* why) const;

    std::string name_;
    util::Fd fd_;
    std::vector<std::byte> buffer_;
    bool seen_header_ = false;
    std::size_t begin_ = 0;  // of what next() has not looked at, in buffer_
    std::vector<Interface> interfaces_;
};

}  // namespace capture
