#include "trace/logged/collectives.hpp"

#include <fmt/format.h>

namespace logged {

namespace key = runlog::key;

namespace {

constexpr std::size_t most_collectives = 65'536;
constexpr std::uint64_t most_ranks = 65'536;

}  // namespace

// In each step, a rank sends what it has received in the step before: the chunks of its left neighbour.
std::uint32_t Chunk::number() const {
    const std::uint32_t owner = (rank + ranks - (step() - 1) % ranks) % ranks;
    return 2 * owner + sent_before % 2;
}

// In the steps 1 to N - 1, each rank adds its own values; after them, complete chunks go round.
std::string Chunk::contents() const {
    if (step() == 1)
        return "its own";
    return step() < ranks ? fmt::format("sum of {}", step()) : "complete";
}

std::string Chunk::text() const {
    return fmt::format("all_reduce {} · step {} · chunk {} · rank {} → {}", all_reduce, step(),
                       number(), rank, to());
}

std::optional<Chunk> Collectives::learn(const runlog::Event& event) {
    if (event.is("post_send")) {
        constexpr std::uint64_t credit = 4;  // bytes
        const auto rank = ranks_.find(event.role);
        if (rank == ranks_.end() || !rank->second.all_reduce ||
            event[key::opcode] != "RDMA_WRITE_WITH_IMM" || event[key::len].value_or(0) <= credit)
            return std::nullopt;
        auto& [number, ranks, all_reduce, sent, last] = rank->second;
        if (ranks == 0 || sent == 4 * ranks - 4)
            return std::nullopt;
        return Chunk{static_cast<std::uint32_t>(*all_reduce), sent++, number, ranks};
    }
    if (event.is("joined")) {
        const auto number = event[key::rank], ranks = event[key::ranks];
        const bool is_ring = number && ranks && *ranks >= 2 && *ranks <= most_ranks &&
                             *number < *ranks && event[key::chunks] == 2 * *ranks;
        ranks_[event.role] = is_ring ? Rank{.number = static_cast<std::uint32_t>(*number),
                                            .ranks = static_cast<std::uint32_t>(*ranks),
                                            .all_reduce = {},
                                            .last_collective = {}}
                                     : Rank{};
    } else if (event.is_one_of({"collective", "collective_end"})) {
        if (const auto step = event[key::iteration])
            event.is("collective") ? begin(event, *step) : end(event, *step);
    }
    return std::nullopt;
}

void Collectives::begin(const runlog::Event& event, std::uint64_t step) {
    Rank& rank = ranks_[event.role];
    rank.all_reduce = step;
    rank.sent = 0;
    rank.last_collective.reset();
    if (all_.size() == most_collectives)
        return;
    rank.last_collective = all_.size();
    all_.push_back({step, event, std::nullopt});
}

void Collectives::shift(const std::string& role, std::int64_t by) {
    for (Collective& one : all_)
        if (one.began.role == role)
            one.began.t_ns += by;
}

void Collectives::end(const runlog::Event& event, std::uint64_t step) {
    Rank& rank = ranks_[event.role];
    rank.all_reduce.reset();
    if (!rank.last_collective)
        return;
    Collective& one = all_[*rank.last_collective];
    if (one.step == step && !one.took_ns)
        one.took_ns = event.t_ns - one.began.t_ns;
}

}  // namespace logged
