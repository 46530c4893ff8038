// Parses pcapng from bytes that arrive in parts: any number of sections in either byte order, each
// with interfaces that may differ in link type, snap length and time resolution.
// Source: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/, sections 3 and 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/frame.hpp"
#include "capture/interface_choice.hpp"

namespace capture {

/// Treats blocks of more than 16 MiB, and interfaces that take more than this in total, as
/// corrupted, so that memory is bounded for any input.
class PcapngParser {
  public:
    /// `name`: the file's name in messages. Returns only packets of the chosen interface.
    explicit PcapngParser(std::string name, InterfaceChoice choice = InterfaceChoice());

    /// space() returns where to put the next bytes of the file, filled() takes their number.
    /// Invalidates the previous frame.
    std::span<std::byte> space();
    void filled(std::size_t size) { end_ += size; }

    /// Puts the next frame into `frame`; false: it needs more bytes. Throws util::Error if a block
    /// is corrupted, and for a packet with a link type that is not decoded here.
    bool next(std::optional<Frame>& frame);

    /// If the bytes so far end inside a block: a sentence with the byte at which it begins. Empty
    /// otherwise.
    std::string ending() const;

    /// As Source::dropped(), of the chosen interface.
    std::uint64_t dropped() const;

    /// Call at the end of the file: throws util::Error, listing the interfaces, if none was the
    /// chosen one.
    void require_chosen() const;

  private:
    struct Interface {
        std::optional<wire::LinkType> link_type;
        std::uint16_t link_number = 0;
        bool is_chosen = false;
        std::uint32_t snap_length = 0;  // 0: no limit
        std::uint64_t ticks_per_second = 0;
        std::int64_t offset = 0;  // seconds to add
        std::uint64_t dropped = 0;
        std::string name;
        std::string description;
    };
    struct Option {
        std::uint16_t code = 0;
        util::Bytes value;
    };
    // Common content of the three kinds of packet blocks.
    struct Packet {
        std::uint32_t interface = 0;
        std::optional<std::uint64_t> ticks;
        std::size_t captured = 0;
        std::uint32_t length = 0;
        util::Bytes rest;  // after the fixed part
    };

    template <typename T>
    T load(util::Bytes bytes, std::size_t offset) const;
    std::uint64_t load_time(util::Bytes bytes, std::size_t offset) const;
    util::Bytes take_block();
    util::Bytes body_of(util::Bytes block, std::size_t fixed) const;
    void begin_section(util::Bytes block);
    void add_interface(util::Bytes block);
    void set_option(Interface& interface, const Option& option) const;
    std::optional<Option> take_option(util::Bytes& options) const;
    void read_statistics(util::Bytes block);
    Packet simple_packet(util::Bytes block) const;
    void take(const Packet& packet, std::optional<Frame>& frame);
    std::string_view comments(util::Bytes options);
    std::string name_of(std::size_t interface) const;
    [[noreturn]] void damaged(const std::string& why) const;
    [[noreturn]] void refuse_link_type(std::size_t interface) const;

    std::string name_;
    InterfaceChoice choice_;
    bool was_chosen_ = false;
    bool has_section_ = false;
    bool is_swapped_ = false;  // the section's byte order is not this machine's
    std::vector<Interface> interfaces_;
    std::size_t interface_bytes_ = 0;  // memory of interfaces_
    std::uint64_t packets_ = 0;
    std::uint64_t dropped_before_ = 0;  // in the sections before this one
    std::string comments_;              // of one packet with several

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;  // first byte in buffer_ not yet parsed by next()
    std::size_t end_ = 0;
    std::uint64_t offset_ = 0;  // of begin_ in the file
    std::uint64_t block_offset_ = 0;
    std::size_t block_length_ = 0;  // of the block at begin_; 0: unknown
};

}  // namespace capture
