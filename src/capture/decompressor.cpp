#include "capture/decompressor.hpp"

#include <algorithm>
#include <cstdint>
#include <lz4frame.h>
#include <new>
#include <zstd.h>

#include <climits>
#include <zlib.h>

namespace capture {

namespace {

class Gzip : public Decompressor {
  public:
    Gzip() {
        constexpr int gzip_format = 16;
        if (inflateInit2(&stream_, gzip_format + MAX_WBITS) != Z_OK)
            throw std::bad_alloc();
    }
    ~Gzip() override { inflateEnd(&stream_); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
    Gzip(Gzip&&) = delete;
    Gzip& operator=(Gzip&&) = delete;

    Step step(util::Bytes in, std::span<std::byte> out) override {
        if (at_end_)
            inflateReset(&stream_);
        // zlib's interface declares its read-only input as writable.
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
        stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(in.size(), UINT_MAX));
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), UINT_MAX));
        const int result = inflate(&stream_, Z_NO_FLUSH);
        at_end_ = result == Z_STREAM_END;
        Step step{static_cast<std::size_t>(reinterpret_cast<const std::byte*>(stream_.next_in) -
                                           in.data()),
                  static_cast<std::size_t>(reinterpret_cast<const std::byte*>(stream_.next_out) -
                                           out.data())};
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            step.error = stream_.msg != nullptr ? stream_.msg : zError(result);
        return step;
    }
    bool may_end() const override { return at_end_; }
    const char* name() const override { return "gzip"; }

  private:
    z_stream stream_{};
    bool at_end_ = false;
};

struct ZstdFree {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Keeps the library's default window limit, 128 MiB, which is enough for `zstd --long=27`.
class Zstd : public Decompressor {
  public:
    Zstd() {
        if (!context_)
            throw std::bad_alloc();
    }

    Step step(util::Bytes in, std::span<std::byte> out) override {
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        const std::size_t result = ZSTD_decompressStream(context_.get(), &output, &input);
        if (ZSTD_isError(result) != 0)
            return {input.pos, output.pos, ZSTD_getErrorName(result)};
        at_end_ = result == 0;
        return {input.pos, output.pos};
    }
    bool may_end() const override { return at_end_; }
    const char* name() const override { return "zstd"; }

  private:
    std::unique_ptr<ZSTD_DCtx, ZstdFree> context_{ZSTD_createDCtx()};
    bool at_end_ = false;
};

struct Lz4Free {
    void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

std::unique_ptr<LZ4F_dctx, Lz4Free> lz4_context() {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0)
        throw std::bad_alloc();
    return std::unique_ptr<LZ4F_dctx, Lz4Free>(context);
}

class Lz4 : public Decompressor {
  public:
    Step step(util::Bytes in, std::span<std::byte> out) override {
        Step step{in.size(), out.size()};
        const std::size_t result = LZ4F_decompress(context_.get(), out.data(), &step.made,
                                                   in.data(), &step.taken, nullptr);
        if (LZ4F_isError(result) != 0)
            return {0, 0, LZ4F_getErrorName(result)};
        at_end_ = result == 0;
        return step;
    }
    bool may_end() const override { return at_end_; }
    const char* name() const override { return "lz4"; }

  private:
    std::unique_ptr<LZ4F_dctx, Lz4Free> context_ = lz4_context();
    bool at_end_ = false;
};

}  // namespace

// Sources: RFC 1952, 2.3.1; RFC 8878, 3.1.1; lz4_Frame_format.md of lz4. zstd and lz4 have the same
// skippable frames; the data after one is most likely zstd.
std::unique_ptr<Decompressor> decompressor_of(util::Bytes begin) {
    std::uint32_t magic = 0;  // little-endian
    for (std::size_t i = 0; i < begin.size() && i < sizeof magic; ++i)
        magic |= std::to_integer<std::uint32_t>(begin[i]) << 8 * i;
    constexpr std::uint32_t gzip = 0x088b1f;  // with the method: deflate
    if ((magic & 0xffffffU) == gzip)
        return std::make_unique<Gzip>();
    if (magic == 0xfd2fb528U || (magic & 0xfffffff0U) == 0x184d2a50U)
        return std::make_unique<Zstd>();
    if (magic == 0x184d2204U)
        return std::make_unique<Lz4>();
    return nullptr;
}

}  // namespace capture
