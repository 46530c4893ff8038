#include "trace/flow/ack_index.hpp"

namespace flow {
namespace {

constexpr std::size_t entry_count = 8192;

}  // namespace

AckIndex::AckIndex() : entries_(entry_count) {}

std::uint64_t AckIndex::hash_of(const Host& src, const Host& dst, const StreamKey& key,
                                wire::Psn psn) {
    const std::uint64_t rest = std::uint64_t{psn.value()} << 8 |
                               static_cast<std::uint64_t>(key.transport) << 4 |
                               static_cast<std::uint64_t>(key.network);
    return mixed(mixed(src.low, dst.low) ^ mixed(src.high, dst.high), rest);
}

AckIndex::Noted AckIndex::answered_by(const StreamKey& response, wire::Psn psn) const {
    const std::uint64_t hash = hash_of(response.dst, response.src, response, psn);
    const Entry& entry = entries_[hash % entries_.size()];
    if (entry.tag != static_cast<std::uint32_t>(hash >> 32) || entry.is_shared)
        return {};
    return entry.stream;
}

}  // namespace flow
