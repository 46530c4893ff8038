// Lesson 24: the messages of the ranks, field by field in network byte order: the connection's
// request and reply, and the 32 bits of immediate data. What ranks WRITE is in record.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "examples/common/message.hpp"
#include "rdma/capability.hpp"
#include "schedule.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson24 {

inline constexpr std::uint32_t magic = common::magic_of_lesson(24);

/// Returns a rank's text up to the first zero, safe to print.
inline std::string sentence_in(std::span<const std::byte> bytes) {
    std::string sentence;
    for (const std::byte byte : bytes) {
        const char c = std::to_integer<char>(byte);
        if (c == 0)
            break;
        sentence += c >= ' ' && c <= '~' ? c : '?';
    }
    return sentence;
}

/// Formats as "rank 2" or "ranks 2, 3".
inline std::string names_of(const std::set<std::uint16_t>& ranks) {
    std::string names = ranks.size() == 1 ? "rank" : "ranks";
    for (const std::uint16_t rank : ranks)
        names += (rank == *ranks.begin() ? " " : ", ") + std::to_string(rank);
    return names;
}

/// All ranks of a rendezvous must request the same job.
struct Job {
    std::uint16_t ranks = 4;
    std::uint16_t barriers = 3;  ///< of each kind
    std::uint16_t late = 0;      ///< the late rank; `ranks` or more: none
    bool no_barrier = false;     ///< does not wait until all ranks can receive

    bool operator==(const Job&) const = default;
};

/// In a rank's request, as rdma_cm private data.
struct Request {
    static constexpr std::size_t size = 16;
    static constexpr std::uint16_t any_rank = 0xffff;

    Job job;
    std::uint16_t rank = any_rank;  ///< the requested rank

    std::array<std::byte, size> serialize() const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> out(bytes);
        util::put_be8<5>(out, job.no_barrier ? 1 : 0);
        util::put_be16<6>(out, rank);
        util::put_be16<8>(out, job.ranks);
        util::put_be16<10>(out, job.barriers);
        util::put_be16<12>(out, job.late);
        return bytes;
    }
    static Request parse(std::span<const std::byte> bytes) {
        if (bytes.size() < size)
            throw util::Error(
                "the request has no private data: it is not from a rank of lesson 24.");
        const auto in = bytes.first<size>();
        common::check_message(in, magic);
        const std::uint16_t ranks = util::be16<8>(in);
        if (ranks < least_ranks || ranks > most_ranks)
            throw util::Error("a rendezvous has " + std::to_string(least_ranks) + " to " +
                              std::to_string(most_ranks) + " ranks, not " + std::to_string(ranks) +
                              ".");
        return {.job = {.ranks = ranks,
                        .barriers = util::be16<10>(in),
                        .late = util::be16<12>(in),
                        .no_barrier = util::be8<5>(in) != 0},
                .rank = util::be16<6>(in)};
    }
};

/// In rank 0's reply: the rank's slot, its number, and how long rank 0 waits for the others.
struct Assignment {
    static constexpr std::size_t size = rdma::Capability::size + 4;

    rdma::Capability slot;
    std::uint16_t rank = 0;
    std::uint16_t time_limit_s = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        std::ranges::copy(slot.serialize(), bytes.begin());
        util::put_be16<size - 4>(std::span(bytes), rank);
        util::put_be16<size - 2>(std::span(bytes), time_limit_s);
        return bytes;
    }
    static Assignment parse(std::span<const std::byte> bytes) {
        if (bytes.size() < size)
            throw util::Error("rank 0's reply is too short: is it the server of another lesson?");
        const auto in = bytes.first<size>();
        return {rdma::Capability::parse(bytes), util::be16<size - 4>(in), util::be16<size - 2>(in)};
    }
};

/// The 32 bits of immediate data: the writer's rank and the generation of the data. Each flag is
/// used only once, so that a barrier's flag cannot be taken for the next one's.
namespace flag {
inline constexpr std::uint32_t ring = 1u << 31;
inline constexpr std::uint32_t round = 1u << 30;
inline constexpr std::uint32_t failed = 0xffffffff;  // from rank 0: the verdict gives the reason

constexpr std::uint32_t of(std::uint16_t rank, std::uint16_t generation) {
    return std::uint32_t{rank} << 16 | generation;
}
constexpr std::uint32_t of_ring(std::uint16_t rank, unsigned step) {
    return ring | of(rank, static_cast<std::uint16_t>(step));
}
constexpr std::uint32_t of_round(std::uint16_t rank, std::uint16_t barrier, unsigned in_round) {
    return round | of(rank, static_cast<std::uint16_t>(barrier << 8 | in_round));
}
}  // namespace flag

/// Generations of the exchanges through rank 0. The barriers follow, and a final one at the end.
namespace generation {
inline constexpr std::uint16_t table = 1;
inline constexpr std::uint16_t ready = 2;

constexpr std::uint16_t of_barrier(std::uint16_t number) {
    return static_cast<std::uint16_t>(ready + number);
}
constexpr std::uint16_t end_of(const Job& job) {
    return of_barrier(static_cast<std::uint16_t>(job.barriers + 1));
}
}  // namespace generation

}  // namespace lesson24
