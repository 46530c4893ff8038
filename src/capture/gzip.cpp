#include <algorithm>
#include <new>

#include <climits>
#include <zlib.h>

#include "capture/decompressor.hpp"

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

}  // namespace

std::unique_ptr<Decompressor> gzip_decompressor() {
    return std::make_unique<Gzip>();
}

}  // namespace capture
