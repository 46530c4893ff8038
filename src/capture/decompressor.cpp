#include "capture/decompressor.hpp"

#include <cstdint>

namespace capture {

// Sources: RFC 1952, 2.3.1; RFC 8878, 3.1.1; lz4_Frame_format.md of lz4. zstd and lz4 have the same
// skippable frames; the data after one is most likely zstd.
std::unique_ptr<Decompressor> decompressor_of(util::Bytes begin) {
    std::uint32_t magic = 0;  // little-endian
    for (std::size_t i = 0; i < begin.size() && i < sizeof magic; ++i)
        magic |= std::to_integer<std::uint32_t>(begin[i]) << 8 * i;
    constexpr std::uint32_t gzip = 0x088b1f;  // with the method: deflate
    if ((magic & 0xffffffU) == gzip)
        return gzip_decompressor();
    if (magic == 0xfd2fb528U || (magic & 0xfffffff0U) == 0x184d2a50U)
        return zstd_decompressor();
    if (magic == 0x184d2204U)
        return lz4_decompressor();
    return nullptr;
}

}  // namespace capture
