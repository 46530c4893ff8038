#include "rocetrace/tracelog/merge.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <queue>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/error.hpp"

namespace tracelog {
namespace {

constexpr std::uint64_t least_ring = ring_header_bytes + 4096;

bool is_sound(std::uint64_t magic, std::uint64_t ring_bytes, std::uint32_t rings,
              std::size_t bytes) {
    return magic == RegionHeader::expected_magic && ring_bytes >= least_ring &&
           std::has_single_bit(ring_bytes - ring_header_bytes) && rings > 0 &&
           rings <= (bytes - RegionHeader::bytes) / ring_bytes;
}

}  // namespace

Region::Region(const util::Fd& memory, std::uint32_t pid) : pid_(pid) {
    struct stat facts {};
    const int seals = fcntl(memory.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        throw util::Error("a traced process sent something other than its memory");
    if (fstat(memory.get(), &facts) != 0 ||
        facts.st_size < static_cast<off_t>(RegionHeader::bytes + least_ring))
        throw util::Error("a traced process sent something other than its memory");
    mapped_ = static_cast<std::size_t>(facts.st_size);
    void* at =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.get(), 0);
    if (at == MAP_FAILED)
        throw util::Error(std::string("cannot map the memory of a traced process: ") +
                          std::strerror(errno));
    header_ = static_cast<RegionHeader*>(at);
    ring_bytes_ = header_->ring_bytes;
    most_rings_ = header_->rings;
    if (!is_sound(header_->magic, ring_bytes_, most_rings_, mapped_)) {
        munmap(at, mapped_);
        throw util::Error("a traced process sent memory that is not a trace");
    }
}

Region::Region(RegionHeader* header, std::uint32_t pid)
    : header_(header), ring_bytes_(header->ring_bytes), most_rings_(header->rings), pid_(pid) {}

Region::~Region() {
    if (mapped_ != 0)
        munmap(header_, mapped_);
}

std::string Region::name() const {
    return {header_->comm, strnlen(header_->comm, sizeof header_->comm)};
}

std::string Region::command() const {
    std::string text(header_->command, sizeof header_->command);
    text.resize(text.find_last_not_of('\0') + 1);
    std::ranges::replace(text, '\0', ' ');
    return text;
}

std::vector<std::unique_ptr<Region::Ring>>& Region::rings() {
    const std::uint32_t begun = header_->begun.load(std::memory_order_acquire);
    is_damaged_ = is_damaged_ || begun < rings_.size() || begun > most_rings_;
    while (!is_damaged_ && rings_.size() < begun) {
        auto* at = reinterpret_cast<std::byte*>(header_) + RegionHeader::bytes +
                   rings_.size() * ring_bytes_;
        rings_.push_back(std::make_unique<Ring>(
            Ring{RingReader(reinterpret_cast<RingHeader*>(at), at + ring_header_bytes,
                            ring_bytes_ - ring_header_bytes),
                 Writer{pid_, 0},
                 {}}));
    }
    return rings_;
}

std::uint64_t Region::newly_homeless() {
    const std::uint64_t all = header_->homeless.load(std::memory_order_relaxed);
    is_damaged_ = is_damaged_ || is_absurd(all, homeless_);
    return is_damaged_ ? 0 : all - std::exchange(homeless_, all);
}

bool Region::is_newly_damaged() {
    is_damaged_ = is_damaged_ || std::ranges::any_of(rings_, [](const auto& ring) {
                      return ring->reader.is_damaged();
                  });
    return is_damaged_ && !std::exchange(was_told_damaged_, is_damaged_);
}

// Returns the time before which the ring's calls in progress do not keep records waiting, and adds
// those to `begun_` that nothing waits for any more.
std::int64_t Merge::look_at_open_calls(Region::Ring& ring, bool has_ended, std::int64_t until_ns) {
    const RingHeader& header = ring.reader.header();
    const std::uint32_t open =
        std::min(header.open_calls.load(std::memory_order_acquire), RingHeader::most_open_calls);
    for (std::uint32_t i = 0; i < open; ++i) {
        const OpenCallSlot& slot = header.slots[i];
        const std::int64_t begin_ns = slot.begin_ns.load(std::memory_order_acquire);
        const bool waits = slot.waits.load(std::memory_order_relaxed) != 0;
        if (begin_ns <= 0 || begin_ns == ring.told_ns.at(i) || (waits && !has_ended))
            continue;
        if (!has_ended && (until_ns == all_times || until_ns - begin_ns < patience_ns))
            return until_ns == all_times ? all_times : std::min(until_ns, begin_ns - 1);
        const std::uint32_t size = slot.size.load(std::memory_order_relaxed);
        if (size == 0 || size > sizeof slot.bytes)
            continue;
        const std::uint32_t padded = (size + 7U) & ~7U;
        std::vector<std::byte> bytes(sizeof(Header) + padded);
        const Header record{static_cast<std::uint32_t>(bytes.size()), Kind::begun,
                            static_cast<std::uint16_t>(padded - size), begin_ns};
        std::memcpy(bytes.data(), &record, sizeof record);
        for (std::uint32_t at = 0; at < padded; at += 8) {
            const std::uint64_t word = slot.bytes[at / 8].load(std::memory_order_relaxed);
            std::memcpy(bytes.data() + sizeof record + at, &word, sizeof word);
        }
        // Not if it has returned meanwhile.
        std::atomic_thread_fence(std::memory_order_acquire);
        if (slot.begin_ns.load(std::memory_order_relaxed) != begin_ns)
            continue;
        ring.told_ns.at(i) = begin_ns;
        begun_.emplace_back(&ring, std::move(bytes));
    }
    return until_ns;
}

std::size_t Merge::take(const std::vector<Region*>& regions, std::int64_t until_ns) {
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<Region::Ring*> rings;
    earliest_left_.reset();
    begun_.clear();
    // First: a call's record is published before its slot is free again.
    std::int64_t limit_ns = until_ns;
    for (Region* region : regions)
        for (auto& ring : region->rings()) {
            rings.push_back(ring.get());
            limit_ns = std::min(limit_ns, look_at_open_calls(*ring, region->has_ended(), until_ns));
            if (region->has_ended())
                ring->reader.look_at_all();
            else
                ring->reader.look();
        }
    const auto push = [&](Region::Ring* ring) {
        while (const RingReader::Record record = ring->reader.earliest()) {
            if (record.kind != Kind::thread || record.size < sizeof(Thread)) {
                if (record.t_ns <= limit_ns)
                    next.push({record.t_ns, ring, record});
                else if (!earliest_left_ || record.t_ns < *earliest_left_)
                    earliest_left_ = record.t_ns;
                return;
            }
            ring->writer.tid = reinterpret_cast<const Thread*>(record.data)->tid;
            ring->reader.pop(record);
        }
    };
    for (Region::Ring* ring : rings) {
        fill_ = std::max(fill_, ring->reader.fill());
        push(ring);
    }
    for (std::size_t i = 0; i < begun_.size(); ++i)
        next.push({reinterpret_cast<const Header*>(begun_[i].second.data())->t_ns,
                   begun_[i].first,
                   {},
                   i});
    std::size_t taken = 0;
    while (!next.empty()) {
        const Next first = next.top();
        Region::Ring* const ring = first.ring;
        next.pop();
        if (!first.record) {
            sink_(begun_[first.begun].second, ring->writer);
            ++taken;
            continue;
        }
        // With the size that was checked, which the process cannot change.
        copy_.assign(first.record.data, first.record.data + first.record.size);
        std::memcpy(copy_.data(), &first.record.size, sizeof first.record.size);
        ring->reader.pop(first.record);
        if (!sink_(copy_, ring->writer))
            ring->reader.set_damaged();
        if (++taken % 1024 == 0)
            ring->reader.release();
        push(ring);
    }
    for (Region::Ring* ring : rings)
        ring->reader.release();
    return taken;
}

}  // namespace tracelog
