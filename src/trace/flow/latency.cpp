#include "trace/flow/latency.hpp"

#include <algorithm>
#include <bit>

namespace flow {
namespace {

constexpr unsigned bucket_bits = 5;
static_assert(Latency::buckets == 1U << bucket_bits);
constexpr std::uint64_t longest = (std::uint64_t{1} << 36) - 1;

// Group 0 holds 0 .. 31 ns in steps of 1 ns, group g the times from 2^(g+4) to 2^(g+5) in 32
// buckets.
struct BucketIndex {
    unsigned group;
    unsigned bucket;
};

BucketIndex index_of(std::uint64_t ns) {
    const unsigned width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= bucket_bits)
        return {.group = 0, .bucket = static_cast<unsigned>(ns)};
    const unsigned group = width - bucket_bits;
    return {.group = group,
            .bucket = static_cast<unsigned>(ns >> (group - 1)) & (Latency::buckets - 1)};
}
static_assert(36 - bucket_bits < Latency::buckets);

std::uint64_t middle_of(BucketIndex place) {
    if (place.group == 0)
        return place.bucket;
    const unsigned shift = place.group - 1;
    const std::uint64_t first = std::uint64_t{Latency::buckets + place.bucket} << shift;
    return first + ((std::uint64_t{1} << shift) >> 1);
}

}  // namespace

std::uint32_t* Latency::counter(std::uint64_t ns, Pages& pages) {
    const BucketIndex place = index_of(ns);
    if (directory_ == no_index) {
        directory_ = pages.take();
        if (directory_ == no_index)
            return nullptr;
    }
    std::uint32_t& entry = pages[directory_][place.group];
    if (entry == 0) {
        const PoolIndex page = pages.take();
        if (page == no_index)
            return nullptr;
        entry = page + 1;
    }
    return &pages[entry - 1][place.bucket];
}

void Latency::add(std::int64_t ns, Pages& pages) {
    const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    ++count_;
    min_ = std::min(min_, time);
    max_ = std::max(max_, time);
    std::uint32_t* samples = counter(std::min(time, longest), pages);
    if (samples == nullptr || *samples == UINT32_MAX)
        ++left_out_;
    else
        ++*samples;
}

std::int64_t Latency::percentile(std::uint64_t per_hundred, const Pages& pages) const {
    const std::uint64_t samples = count_ - left_out_;
    // Nearest rank: the least time that this share of the samples does not exceed. No product is
    // larger than the number of samples.
    const std::uint64_t rank =
        samples / 100 * per_hundred + (samples % 100 * per_hundred + 99) / 100;
    std::uint64_t passed = 0;
    for (unsigned group = 0; group < buckets; ++group) {
        const std::uint32_t entry = pages[directory_][group];
        if (entry == 0)
            continue;
        for (unsigned bucket = 0; bucket < buckets; ++bucket) {
            passed += pages[entry - 1][bucket];
            if (passed >= rank)
                return static_cast<std::int64_t>(
                    std::clamp(middle_of({.group = group, .bucket = bucket}), min_, max_));
        }
    }
    return static_cast<std::int64_t>(max_);
}

LatencySummary Latency::summary(const Pages& pages) const {
    LatencySummary summary{.count = count_,
                           .p50 = 0,
                           .p99 = 0,
                           .max = static_cast<std::int64_t>(max_),
                           .left_out = left_out_};
    if (count_ > left_out_) {
        summary.p50 = percentile(50, pages);
        summary.p99 = percentile(99, pages);
    }
    return summary;
}

void Latency::release(Pages& pages) {
    if (directory_ == no_index)
        return;
    for (const std::uint32_t entry : pages[directory_])
        if (entry != 0)
            pages.give_back(entry - 1);
    pages.give_back(directory_);
    *this = Latency();
}

}  // namespace flow
