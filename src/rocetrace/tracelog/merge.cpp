#include "rocetrace/tracelog/merge.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <queue>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/error.hpp"

namespace tracelog {
namespace {

constexpr std::uint64_t least_ring = ring_header_bytes + 4096;

bool is_sound(const RegionHeader& header, std::size_t bytes) {
    const std::uint64_t capacity = header.ring_bytes - ring_header_bytes;
    return header.magic == RegionHeader::expected_magic && header.ring_bytes >= least_ring &&
           (capacity & (capacity - 1)) == 0 && header.rings > 0 &&
           header.rings <= (bytes - RegionHeader::bytes) / header.ring_bytes;
}

}  // namespace

Region::Region(const util::Fd& memory, std::uint32_t pid) : pid_(pid) {
    struct stat facts {};
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
    if (!is_sound(*header_, mapped_)) {
        munmap(at, mapped_);
        throw util::Error("a traced process sent memory that is not a trace");
    }
}

Region::Region(RegionHeader* header, std::uint32_t pid) : header_(header), pid_(pid) {}

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
    const std::uint32_t begun =
        std::min(header_->begun.load(std::memory_order_acquire), header_->rings);
    while (rings_.size() < begun) {
        auto* at = reinterpret_cast<std::byte*>(header_) + RegionHeader::bytes +
                   rings_.size() * header_->ring_bytes;
        rings_.push_back(std::make_unique<Ring>(
            Ring{RingReader(reinterpret_cast<RingHeader*>(at), at + ring_header_bytes,
                            header_->ring_bytes - ring_header_bytes),
                 Writer{pid_, 0}}));
    }
    return rings_;
}

std::uint64_t Region::newly_homeless() {
    const std::uint64_t all = header_->homeless.load(std::memory_order_relaxed);
    return all - std::exchange(homeless_, all);
}

std::size_t Merge::take(const std::vector<Region*>& regions, std::int64_t until_ns) {
    struct Next {
        std::int64_t t_ns;
        Region::Ring* ring;
        bool operator>(const Next& other) const { return t_ns > other.t_ns; }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<Region::Ring*> rings;
    earliest_left_.reset();
    for (Region* region : regions)
        for (auto& ring : region->rings())
            rings.push_back(ring.get());
    const auto push = [&](Region::Ring* ring) {
        while (const Header* header = ring->reader.front()) {
            if (header->kind != Kind::thread || header->size < sizeof(Thread)) {
                if (header->size < sizeof(Header))
                    return;
                if (header->t_ns <= until_ns)
                    next.push({header->t_ns, ring});
                else if (!earliest_left_ || header->t_ns < *earliest_left_)
                    earliest_left_ = header->t_ns;
                return;
            }
            ring->writer.tid = reinterpret_cast<const Thread*>(header)->tid;
            ring->reader.pop();
        }
    };
    for (Region::Ring* ring : rings) {
        ring->reader.look();
        fill_ = std::max(fill_, ring->reader.fill());
        push(ring);
    }
    std::size_t taken = 0;
    while (!next.empty()) {
        Region::Ring* const ring = next.top().ring;
        next.pop();
        const Header* header = ring->reader.front();
        sink_({reinterpret_cast<const std::byte*>(header), header->size}, ring->writer);
        ring->reader.pop();
        if (++taken % 1024 == 0)
            ring->reader.release();
        push(ring);
    }
    for (Region::Ring* ring : rings)
        ring->reader.release();
    return taken;
}

}  // namespace tracelog
