#include <new>
#include <zstd.h>

#include "capture/decompressor.hpp"

namespace capture {
namespace {

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

}  // namespace

std::unique_ptr<Decompressor> zstd_decompressor() {
    return std::make_unique<Zstd>();
}

}  // namespace capture
