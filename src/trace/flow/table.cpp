#include "trace/flow/table.hpp"

#include <algorithm>
#include <bit>

namespace flow {
namespace {

std::uint32_t tag_of(const StreamKey& key) {
    return static_cast<std::uint32_t>(key.hash() >> 32);
}

}  // namespace

StreamTable::StreamTable(std::size_t capacity)
    : streams_(capacity),
      slots_(std::bit_ceil(capacity * 2)),
      mask_(slots_.size() - 1),
      order_(capacity) {}

PoolIndex StreamTable::find(const StreamKey& key) const {
    const std::uint32_t tag = tag_of(key);
    for (std::size_t i = home(tag); slots_[i].index != no_index; i = (i + 1) & mask_)
        if (slots_[i].tag == tag && streams_[slots_[i].index].key == key)
            return slots_[i].index;
    return no_index;
}

PoolIndex StreamTable::add(const StreamKey& key) {
    const PoolIndex index = streams_.take();
    streams_[index].key = key;
    streams_[index].number = ++number_;
    const std::uint32_t tag = tag_of(key);
    std::size_t i = home(tag);
    while (slots_[i].index != no_index)
        i = (i + 1) & mask_;
    slots_[i] = {.tag = tag, .index = index};
    link_front(index);
    return index;
}

std::size_t StreamTable::slot_of(PoolIndex index) const {
    std::size_t i = home(tag_of(streams_[index].key));
    while (slots_[i].index != index)
        i = (i + 1) & mask_;
    return i;
}

// Knuth, The Art of Computer Programming, 6.4, algorithm R: moves up the following entries, so that
// no search stops at the slot that is now empty.
void StreamTable::close(PoolIndex index) {
    std::size_t hole = slot_of(index);
    for (std::size_t i = (hole + 1) & mask_; slots_[i].index != no_index; i = (i + 1) & mask_) {
        const std::size_t from_home = (i - home(slots_[i].tag)) & mask_;
        if (from_home < ((i - hole) & mask_))
            continue;
        slots_[hole] = slots_[i];
        hole = i;
    }
    slots_[hole] = Slot();
    streams_[index].is_closed = true;
}

void StreamTable::remove(PoolIndex index) {
    if (!streams_[index].is_closed)
        close(index);
    unlink(index);
    streams_[index].number = 0;
    streams_.give_back(index);
}

void StreamTable::move_to_front(PoolIndex index) {
    unlink(index);
    link_front(index);
}

void StreamTable::unlink(PoolIndex index) {
    const Neighbours stream = order_[index];
    (stream.newer == no_index ? newest_ : order_[stream.newer].older) = stream.older;
    (stream.older == no_index ? oldest_ : order_[stream.older].newer) = stream.newer;
}

void StreamTable::link_front(PoolIndex index) {
    order_[index] = {.newer = no_index, .older = newest_};
    (newest_ == no_index ? oldest_ : order_[newest_].newer) = index;
    newest_ = index;
}

std::vector<PoolIndex> StreamTable::by_number() const {
    std::vector<PoolIndex> all;
    all.reserve(size());
    for (PoolIndex index = oldest_; index != no_index; index = order_[index].newer)
        all.push_back(index);
    std::ranges::sort(all, {}, [this](PoolIndex index) { return streams_[index].number; });
    return all;
}

}  // namespace flow
