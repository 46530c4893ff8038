#include "capture/pcapng_parser.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "capture/link_type.hpp"
#include "capture/pcap_handle.hpp"
#include "capture/pcapng_format.hpp"
#include "util/error.hpp"

namespace capture {
namespace {

using util::Bytes;

constexpr std::uint64_t microsecond_ticks = 1'000'000;  // the default of if_tsresol
constexpr std::uint64_t nanosecond_ticks = 1'000'000'000;

constexpr std::size_t block_head = 8;       // type and length
constexpr std::size_t block_overhead = 12;  // these, and the second length
constexpr std::size_t block_limit = std::size_t{16} * 1024 * 1024;
constexpr std::size_t interface_limit = std::size_t{16} * 1024 * 1024;
constexpr std::size_t chunk = std::size_t{256} * 1024;

std::uint16_t swapped(std::uint16_t value) {
    return __builtin_bswap16(value);
}
std::uint32_t swapped(std::uint32_t value) {
    return __builtin_bswap32(value);
}
std::uint64_t swapped(std::uint64_t value) {
    return __builtin_bswap64(value);
}

constexpr std::size_t padded(std::size_t length) {
    return (length + 3) / 4 * 4;
}

// The value is a power of ten, or of two if the top bit is set. If the result does not fit in 64
// bits, the default is used.
std::uint64_t ticks_per_second(std::byte resolution) {
    const auto value = std::to_integer<unsigned>(resolution);
    const unsigned exponent = value & 0x7fU;
    if ((value & 0x80U) != 0)
        return exponent < 64 ? std::uint64_t{1} << exponent : microsecond_ticks;
    std::uint64_t ticks = 1;
    for (unsigned i = 0; i < exponent && exponent < 20; ++i)
        ticks *= 10;
    return exponent < 20 ? ticks : microsecond_ticks;
}

// Some writers include a terminating zero.
std::string_view text(Bytes bytes) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all.substr(0, all.find('\0'));
}

Time to_time(std::uint64_t ticks, std::uint64_t per_second, std::int64_t offset) {
    const std::uint64_t rest = ticks % per_second;
    // Fine resolutions need a product of 94 bits.
    const std::uint64_t fraction =
        per_second == nanosecond_ticks ? rest
        : per_second < nanosecond_ticks
            ? rest * nanosecond_ticks / per_second
            : static_cast<std::uint64_t>(static_cast<unsigned __int128>(rest) * nanosecond_ticks /
                                         per_second);
    const auto seconds = static_cast<__int128>(ticks / per_second) + offset;
    return time_of(static_cast<std::int64_t>(std::clamp<__int128>(seconds, INT64_MIN, INT64_MAX)),
                   std::chrono::nanoseconds(static_cast<std::int64_t>(fraction)));
}

}  // namespace

PcapngParser::PcapngParser(std::string name, InterfaceChoice choice)
    : name_(std::move(name)), choice_(std::move(choice)) {}

std::span<std::byte> PcapngParser::space() {
    const std::size_t rest = end_ - begin_;
    const std::size_t wanted = std::max(chunk, block_length_);
    if (wanted > capacity_) {
        auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
        std::copy_n(buffer_.get() + begin_, rest, larger.get());
        buffer_ = std::move(larger);
        capacity_ = wanted;
    } else if (begin_ != 0 && rest != 0) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, rest);
    }
    begin_ = 0;
    end_ = rest;
    return {buffer_.get() + end_, capacity_ - end_};
}

bool PcapngParser::next(std::optional<Frame>& frame) {
    frame.reset();
    while (!frame) {
        const Bytes block = take_block();
        if (block.empty())
            return false;
        switch (load<std::uint32_t>(block, 0)) {
            case pcapng::section_header:
                begin_section(block);
                break;
            case pcapng::interface_description:
                add_interface(block);
                break;
            case pcapng::enhanced_packet:
            case pcapng::obsolete_packet: {
                const Bytes body = body_of(block, 20);
                const bool is_old = load<std::uint32_t>(block, 0) == pcapng::obsolete_packet;
                take({is_old ? load<std::uint16_t>(body, 0) : load<std::uint32_t>(body, 0),
                      load_time(body, 4), load<std::uint32_t>(body, 12),
                      load<std::uint32_t>(body, 16), body.subspan(20)},
                     frame);
                break;
            }
            case pcapng::interface_statistics:
                read_statistics(block);
                break;
            case pcapng::simple_packet:
                take(simple_packet(block), frame);
                break;
            default:
                break;
        }
    }
    return true;
}

template <typename T>
T PcapngParser::load(Bytes bytes, std::size_t offset) const {
    T value{};
    std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
    return is_swapped_ ? swapped(value) : value;
}

// The high half is first.
std::uint64_t PcapngParser::load_time(Bytes bytes, std::size_t offset) const {
    return (std::uint64_t{load<std::uint32_t>(bytes, offset)} << 32U) |
           load<std::uint32_t>(bytes, offset + 4);
}

// Returns an empty span if the block is incomplete.
Bytes PcapngParser::take_block() {
    const Bytes rest(buffer_.get() + begin_, end_ - begin_);
    block_length_ = 0;
    if (rest.size() < block_overhead)
        return {};
    block_offset_ = offset_;
    const bool is_header = load<std::uint32_t>(rest, 0) == pcapng::section_header;
    if (!is_header && !has_section_)
        throw util::Error(fmt::format(
            "{} is not a pcapng capture: it does not begin with a section header block.", name_));
    if (is_header) {
        const auto magic = load<std::uint32_t>(rest, 8);
        if (swapped(magic) == pcapng::byte_order_magic)
            is_swapped_ = !is_swapped_;
        else if (magic != pcapng::byte_order_magic)
            damaged("begins a section without a valid byte-order magic");
    }
    const std::size_t length = load<std::uint32_t>(rest, 4);
    if (length < block_overhead || length % 4 != 0 || length > block_limit)
        damaged(fmt::format("has an invalid length of {} bytes", length));
    block_length_ = length;
    if (rest.size() < length)
        return {};
    if (const auto again = load<std::uint32_t>(rest, length - 4); again != length)
        damaged(
            fmt::format("begins with a length of {} bytes and ends with one of {}", length, again));
    begin_ += length;
    offset_ += length;
    has_section_ = true;
    return rest.first(length);
}

// Returns the block without type and lengths. `fixed`: minimum size.
Bytes PcapngParser::body_of(Bytes block, std::size_t fixed) const {
    const Bytes body = block.subspan(block_head, block.size() - block_overhead);
    if (body.size() < fixed)
        damaged("is too short for its type");
    return body;
}

void PcapngParser::begin_section(Bytes block) {
    constexpr std::size_t fixed = 16;
    const auto major = load<std::uint16_t>(body_of(block, fixed), 4);
    if (major != 1)
        damaged(
            fmt::format("begins a section of version {}, but only version 1 is supported", major));
    dropped_before_ = dropped();
    interfaces_.clear();
    interface_bytes_ = 0;
}

std::uint64_t PcapngParser::dropped() const {
    std::uint64_t sum = dropped_before_;
    for (const Interface& one : interfaces_)
        sum += one.is_chosen ? one.dropped : 0;
    return sum;
}

// Of several blocks of an interface, the last one counts: their numbers grow.
void PcapngParser::read_statistics(Bytes block) {
    constexpr std::size_t fixed = 12;
    const Bytes body = body_of(block, fixed);
    const auto interface = load<std::uint32_t>(body, 0);
    if (interface >= interfaces_.size())
        return;
    std::uint64_t dropped = 0;
    Bytes options = body.subspan(fixed);
    while (const auto option = take_option(options)) {
        const bool is_drop =
            option->code == pcapng::isb_ifdrop || option->code == pcapng::isb_osdrop;
        if (is_drop && option->value.size() == sizeof dropped)
            dropped += load<std::uint64_t>(option->value, 0);
    }
    interfaces_[interface].dropped = dropped;
}

void PcapngParser::add_interface(Bytes block) {
    constexpr std::size_t fixed = 8;
    const Bytes body = body_of(block, fixed);
    Interface interface;
    interface.link_number = load<std::uint16_t>(body, 0);
    interface.link_type = link_type_of_number(interface.link_number);
    interface.snap_length = load<std::uint32_t>(body, 4);
    Bytes options = body.subspan(fixed);
    while (const auto option = take_option(options))
        set_option(interface, *option);
    if (interface.ticks_per_second == 0)
        interface.ticks_per_second = microsecond_ticks;
    interface_bytes_ += sizeof interface + interface.name.size() + interface.description.size();
    if (interface_bytes_ > interface_limit)
        damaged("describes an interface, but the interfaces before it already take 16 MiB");
    interface.is_chosen = choice_.takes(static_cast<std::uint32_t>(interfaces_.size()),
                                        interface.name, interface.description);
    was_chosen_ |= interface.is_chosen;
    interfaces_.push_back(std::move(interface));
}

// If an option occurs twice, the first one counts.
void PcapngParser::set_option(Interface& interface, const Option& option) const {
    const std::size_t size = option.value.size();
    if (option.code == pcapng::if_name && interface.name.empty())
        interface.name = text(option.value);
    else if (option.code == pcapng::if_description && interface.description.empty())
        interface.description = text(option.value);
    else if (option.code == pcapng::if_tsresol && size == 1 && interface.ticks_per_second == 0)
        interface.ticks_per_second = ticks_per_second(option.value[0]);
    else if (option.code == pcapng::if_tsoffset && size == 8 && interface.offset == 0)
        interface.offset = static_cast<std::int64_t>(load<std::uint64_t>(option.value, 0));
}

// Removes and returns the next option; nullopt at the end, or if it is corrupted.
std::optional<PcapngParser::Option> PcapngParser::take_option(Bytes& options) const {
    if (options.size() < 4)
        return std::nullopt;
    const auto code = load<std::uint16_t>(options, 0);
    const std::size_t length = load<std::uint16_t>(options, 2);
    if (code == pcapng::opt_endofopt || options.size() < 4 + length)
        return std::nullopt;
    const Option option{code, options.subspan(4, length)};
    options = options.subspan(std::min(options.size(), 4 + padded(length)));
    return option;
}

// A simple packet belongs to the first interface, has no time, and is cut at the snap length.
PcapngParser::Packet PcapngParser::simple_packet(Bytes block) const {
    constexpr std::size_t fixed = 4;
    const Bytes body = body_of(block, fixed);
    const auto length = load<std::uint32_t>(body, 0);
    const std::uint32_t limit = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
    return {0, std::nullopt, limit == 0 ? length : std::min(length, limit), length,
            body.subspan(fixed)};
}

// Leaves `frame` empty if the packet is not from the chosen interface. Fills it in place: moving a
// frame costs more than filling it.
void PcapngParser::take(const Packet& packet, std::optional<Frame>& frame) {
    if (packet.interface >= interfaces_.size())
        damaged(fmt::format("has a packet of interface {}, but {} before it", packet.interface,
                            interfaces_.empty() ? "no interface is described"
                                                : fmt::format("only 0 to {} are described",
                                                              interfaces_.size() - 1)));
    if (packet.captured > packet.rest.size())
        damaged(fmt::format("has a packet of {} bytes but room for {}", packet.captured,
                            packet.rest.size()));
    ++packets_;
    const Interface& from = interfaces_[packet.interface];
    if (!from.is_chosen)
        return;
    if (!from.link_type)
        refuse_link_type(packet.interface);
    frame.emplace();
    frame->bytes = packet.rest.first(packet.captured);
    frame->original_length = std::max(packet.length, static_cast<std::uint32_t>(packet.captured));
    frame->link_type = *from.link_type;
    frame->notes.interface_id = packet.interface;
    frame->notes.has_other_interfaces = interfaces_.size() > 1;
    frame->notes.interface_name = from.name;
    frame->number = packets_;
    if (!packet.ticks)  // a simple packet, which has no options either
        return;
    frame->time = to_time(*packet.ticks, from.ticks_per_second, from.offset);
    frame->notes.comment =
        comments(packet.rest.subspan(std::min(packet.rest.size(), padded(packet.captured))));
}

std::string_view PcapngParser::comments(Bytes options) {
    std::string_view all;
    while (const auto option = take_option(options)) {
        if (option->code != pcapng::opt_comment)
            continue;
        if (all.empty()) {
            all = text(option->value);
            continue;
        }
        if (all.data() != comments_.data())
            comments_ = all;
        comments_.append(",").append(text(option->value));
        all = comments_;
    }
    return all;
}

std::string PcapngParser::name_of(std::size_t interface) const {
    const Interface& one = interfaces_[interface];
    const std::string& name = one.name.empty() ? one.description : one.name;
    return name.empty() ? std::to_string(interface) : fmt::format("{} ('{}')", interface, name);
}

std::string PcapngParser::ending() const {
    return begin_ == end_
               ? std::string()
               : fmt::format("{} ends inside the block that begins at byte {}.", name_, offset_);
}

void PcapngParser::require_chosen() const {
    if (choice_.is_all() || was_chosen_)
        return;
    constexpr std::size_t most = 10;
    std::string names;
    for (std::size_t i = 0; i < std::min(most, interfaces_.size()); ++i)
        names += (i == 0 ? "" : ", ") + name_of(i);
    if (interfaces_.size() > most)
        names += fmt::format(" and {} more", interfaces_.size() - most);
    throw util::Error(fmt::format("{} has no interface '{}': it has {}.", name_, choice_.text(),
                                  names.empty() ? "none" : names));
}

void PcapngParser::damaged(const std::string& why) const {
    throw util::Error(
        fmt::format("{} is damaged: the block at byte {} {}.", name_, block_offset_, why));
}

void PcapngParser::refuse_link_type(std::size_t interface) const {
    throw util::Error(fmt::format(
        "{}{}.",
        undecoded_link_type(interfaces_.size() == 1
                                ? name_
                                : fmt::format("interface {} of {}", name_of(interface), name_),
                            interfaces_[interface].link_number),
        interfaces_.size() == 1 ? "" : "; --interface chooses another one"));
}

}  // namespace capture
