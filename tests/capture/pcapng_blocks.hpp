// Writes pcapng files block by block, for tests of the reader: either byte order, older blocks,
// invalid lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace pcapng_file_test {

/// Builds a file field by field, in either byte order.
class Made {
  public:
    explicit Made(bool is_big = false) : is_big_(is_big) {}

    Made& in_order(bool is_big) {
        is_big_ = is_big;
        return *this;
    }
    Made& u16(std::uint64_t value) { return put(value, 2); }
    Made& u32(std::uint64_t value) { return put(value, 4); }
    Made& u64(std::uint64_t value) { return put(value, 8); }
    Made& time(std::uint64_t value) { return u32(value >> 32U).u32(value & 0xffffffffU); }
    Made& text(std::string_view bytes) {
        bytes_ += bytes;
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        return *this;
    }
    Made& option(unsigned code, std::string_view value) {
        return u16(code).u16(value.size()).text(value);
    }

    template <typename Body>
    Made& block(std::uint32_t type, Body body) {
        Made inner(is_big_);
        body(inner);
        const std::size_t length = inner.bytes_.size() + 12;
        u32(type).u32(length);
        bytes_ += inner.bytes_;
        return u32(length);
    }
    Made& section() {
        return block(0x0a0d0d0a,
                     [](Made& b) { b.u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0}); });
    }
    /// `resolution`: if_tsresol; `offset`: if_tsoffset.
    Made& interface(unsigned link, unsigned snap, std::string_view name,
                    std::optional<unsigned> resolution = std::nullopt,
                    std::optional<std::int64_t> offset = std::nullopt) {
        return block(1, [&](Made& b) {
            b.u16(link).u16(0).u32(snap);
            if (!name.empty())
                b.option(2, name);
            if (resolution)
                b.option(9, std::string(1, static_cast<char>(*resolution)));
            if (offset)
                b.u16(14).u16(8).u64(static_cast<std::uint64_t>(*offset));
            b.u16(0).u16(0);
        });
    }
    Made& enhanced(unsigned interface, std::uint64_t ticks, std::size_t size, std::size_t length,
                   std::string_view comment = {}) {
        return block(6, [&](Made& b) {
            b.u32(interface).time(ticks).u32(size).u32(length).text(std::string(size, 'e'));
            if (!comment.empty())
                b.option(1, comment).u16(0).u16(0);
        });
    }
    Made& obsolete(unsigned interface, std::uint64_t ticks, std::size_t size, std::size_t length) {
        return block(2, [&](Made& b) {
            b.u16(interface).u16(7).time(ticks).u32(size).u32(length).text(std::string(size, 'o'));
        });
    }
    Made& simple(std::size_t size, std::size_t length) {
        return block(3, [&](Made& b) { b.u32(length).text(std::string(size, 's')); });
    }
    void write(const std::string& path) const {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes_;
    }

  private:
    Made& put(std::uint64_t value, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i)
            bytes_ += static_cast<char>(value >> 8 * (is_big_ ? width - 1 - i : i));
        return *this;
    }

    bool is_big_;
    std::string bytes_;
};

}  // namespace pcapng_file_test
