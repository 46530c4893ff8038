#include "page/archive.hpp"

#include <cstdint>
#include <libdeflate.h>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace page {
namespace {

// RFC 4648, 4.
std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t group = 3;
    std::string text;
    text.reserve((bytes.size() + 2) / group * 4);
    for (std::size_t at = 0; at < bytes.size(); at += group) {
        const std::size_t count = std::min(group, bytes.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < group; ++i)
            bits = bits << 8 | (i < count ? bytes[at + i] : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= count ? letters[bits >> (18 - 6 * i) & 0x3f] : '=';
    }
    return text;
}

using Compressor = std::unique_ptr<libdeflate_compressor, decltype([](libdeflate_compressor* made) {
                                       libdeflate_free_compressor(made);
                                   })>;

}  // namespace

std::string deflated(const std::string& json) {
    constexpr int level = 6;
    static const Compressor compressor(libdeflate_alloc_compressor(level));
    if (!compressor)
        throw std::bad_alloc();
    std::vector<std::uint8_t> out(libdeflate_zlib_compress_bound(compressor.get(), json.size()));
    const std::size_t size = libdeflate_zlib_compress(compressor.get(), json.data(), json.size(),
                                                      out.data(), out.size());
    return base64(std::span(out).first(size));
}

void Archive::add(const Json& value) {
    open_ += held_ == 0 ? '[' : ',';
    // What is no UTF-8 (a log may hold anything) is replaced instead of refused.
    open_ += value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (++held_ == chunk_)
        close_chunk();
}

void Archive::close_chunk() {
    open_ += ']';
    lines_ += deflated(open_) + '\n';
    open_.clear();
    held_ = 0;
}

std::string Archive::take() {
    if (held_ > 0)
        close_chunk();
    return std::exchange(lines_, {});
}

}  // namespace page
