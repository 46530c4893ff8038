#include <lz4frame.h>
#include <new>

#include "capture/decompressor.hpp"

namespace capture {
namespace {

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

std::unique_ptr<Decompressor> lz4_decompressor() {
    return std::make_unique<Lz4>();
}

}  // namespace capture
