#include "capture/pcapng_tail.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "capture/link_type.hpp"
#include "capture/pcapng_format.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace capture {
namespace {

using util::Bytes;

constexpr std::uint64_t microseconds = 1'000'000;  // the default of if_tsresol

constexpr std::size_t block_overhead = 12;  // type and the length, twice
constexpr std::size_t block_limit = std::size_t{16} * 1024 * 1024;
constexpr std::size_t chunk = std::size_t{256} * 1024;

template <typename T>
T load(Bytes bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
    return value;
}

constexpr std::size_t padded(std::size_t length) {
    return (length + 3) / 4 * 4;
}

struct Option {
    std::uint16_t code = 0;
    Bytes value;
};

// The next option, which is taken off the front; nullopt at their end, or where one is damaged.
std::optional<Option> take_option(Bytes& options) {
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

// The value is a power of ten, or of two where the top bit is set. One that does not fit in 64 bits
// is left at the default.
std::uint64_t ticks_per_second(std::byte resolution) {
    const auto value = std::to_integer<unsigned>(resolution);
    const unsigned exponent = value & 0x7fU;
    if ((value & 0x80U) != 0)
        return exponent < 64 ? std::uint64_t{1} << exponent : microseconds;
    std::uint64_t ticks = 1;
    for (unsigned i = 0; i < exponent && exponent < 20; ++i)
        ticks *= 10;
    return exponent < 20 ? ticks : microseconds;
}

std::string_view text(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Time to_time(std::uint64_t ticks, std::uint64_t per_second) {
    constexpr std::uint64_t nanoseconds = 1'000'000'000;
    const std::uint64_t seconds = std::min<std::uint64_t>(ticks / per_second, UINT32_MAX);
    // Fine resolutions need the product's 94 bits.
    const auto rest = static_cast<unsigned __int128>(ticks % per_second);
    return time_of(
        static_cast<std::int64_t>(seconds),
        std::chrono::nanoseconds(static_cast<std::int64_t>(rest * nanoseconds / per_second)));
}

}  // namespace

PcapngTail::PcapngTail(const std::string& path)
    : name_("'" + path + "'"), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!fd_)
        throw util::Error(fmt::format("cannot open {}: {}.", name_, std::strerror(errno)));
}

std::optional<Frame> PcapngTail::next() {
    while (true) {
        const Bytes block = take_block();
        if (block.empty()) {
            if (!read_more())
                return std::nullopt;
            continue;
        }
        const Bytes body = block.subspan(8, block.size() - block_overhead);
        switch (load<std::uint32_t>(block, 0)) {
            case pcapng::section_header:
                interfaces_.clear();
                break;
            case pcapng::interface_description:
                add_interface(body);
                break;
            case pcapng::enhanced_packet:
                if (auto frame = packet(body))
                    return frame;
                damaged("a packet that does not fit in its block");
            default:
                break;
        }
    }
}

bool PcapngTail::read_more() {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    const std::size_t old = buffer_.size();
    buffer_.resize(old + chunk);
    ssize_t n = 0;
    do {
        n = read(fd_.get(), buffer_.data() + old, chunk);
    } while (n < 0 && errno == EINTR);
    buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    util::check_errno(static_cast<int>(n), "read of " + name_);
    return n > 0;
}

// Empty where the block is not whole yet.
std::span<const std::byte> PcapngTail::take_block() {
    const Bytes rest = Bytes(buffer_).subspan(begin_);
    if (rest.size() < block_overhead)
        return {};
    const bool is_header = load<std::uint32_t>(rest, 0) == pcapng::section_header;
    if (!is_header && !seen_header_)
        damaged("it does not begin as pcapng does");
    if (is_header && load<std::uint32_t>(rest, 8) != pcapng::byte_order_magic)
        damaged("it was written in the other byte order");
    const std::size_t length = load<std::uint32_t>(rest, 4);
    if (length < block_overhead || length % 4 != 0 || length > block_limit)
        damaged("a block's length makes no sense");
    if (rest.size() < length)
        return {};
    begin_ += length;
    seen_header_ = true;
    return rest.first(length);
}

void PcapngTail::add_interface(std::span<const std::byte> body) {
    constexpr std::size_t fixed = 8;
    if (body.size() < fixed)
        damaged("an interface's description is too short");
    const auto link_type = link_type_of_number(load<std::uint16_t>(body, 0));
    if (!link_type)
        damaged("its link type is not one that is decoded here");
    Interface interface {
        *link_type, microseconds, {}
    };
    bool has_resolution = false;
    Bytes options = body.subspan(fixed);
    while (const auto option = take_option(options)) {
        if (option->code == pcapng::if_tsresol && option->value.size() == 1 && !has_resolution) {
            interface.ticks_per_second = ticks_per_second(option->value[0]);
            has_resolution = true;
        } else if (option->code == pcapng::if_name && interface.name.empty()) {
            interface.name = text(option->value);
        }
    }
    interfaces_.push_back(std::move(interface));
}

std::optional<Frame> PcapngTail::packet(std::span<const std::byte> body) const {
    constexpr std::size_t fixed = 20;
    if (body.size() < fixed)
        return std::nullopt;
    const std::size_t interface = load<std::uint32_t>(body, 0);
    const std::size_t captured = load<std::uint32_t>(body, 12);
    if (interface >= interfaces_.size() || captured > body.size() - fixed)
        return std::nullopt;
    const std::uint64_t ticks =
        (std::uint64_t{load<std::uint32_t>(body, 4)} << 32U) | load<std::uint32_t>(body, 8);
    const Interface& from = interfaces_[interface];
    Frame frame{to_time(ticks, from.ticks_per_second), body.subspan(fixed, captured),
                std::max(load<std::uint32_t>(body, 16), static_cast<std::uint32_t>(captured)),
                from.link_type};
    frame.interface = static_cast<std::uint32_t>(interface);
    frame.interface_name = from.name;
    Bytes options = body.subspan(fixed + std::min(body.size() - fixed, padded(captured)));
    while (const auto option = take_option(options)) {
        if (option->code != pcapng::opt_comment)
            continue;
        frame.comment = text(option->value);
        break;
    }
    return frame;
}

void PcapngTail::damaged(const char* why) const {
    throw util::Error(fmt::format("cannot follow {}: {}.", name_, why));
}

}  // namespace capture
