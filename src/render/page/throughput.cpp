#include "render/page/throughput.hpp"

#include <algorithm>
#include <utility>

namespace page {

void Throughput::add(Stream stream, std::int64_t t_ns, std::uint64_t bytes) {
    const std::int64_t t = std::max<std::int64_t>(t_ns, 0);
    while (t / width_ >= static_cast<std::int64_t>(most_parts))
        widen();
    auto& sums = sums_[static_cast<std::size_t>(stream)];
    const auto part = static_cast<std::size_t>(t / width_);
    if (sums.size() <= part)
        sums.resize(part + 1);
    sums[part] += bytes;
}

// Merges each two adjacent intervals.
void Throughput::widen() {
    width_ *= 2;
    for (auto& sums : sums_) {
        for (std::size_t part = 0; part < sums.size(); ++part) {
            const std::uint64_t bytes = std::exchange(sums[part], 0);
            sums[part / 2] += bytes;
        }
        sums.resize((sums.size() + 1) / 2);
    }
}

}  // namespace page
