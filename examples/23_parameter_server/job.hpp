// Lesson 23, the messages of worker and server: rdma_cm's private data when they connect, and the
// immediate data of a push.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "rdma/capability.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson23 {

/// In a worker's request. All workers must request the same job.
struct Job {
    static constexpr std::size_t size = 4;

    std::uint16_t workers = 0;
    std::uint16_t steps = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        util::put_be16<0>(std::span(bytes), workers);
        util::put_be16<2>(std::span(bytes), steps);
        return bytes;
    }
    static Job parse(std::span<const std::byte> bytes) {
        if (bytes.size() < size)
            throw util::Error("the request has no job: it is not from a worker of this lesson.");
        return {util::be16<0>(bytes.first<size>()), util::be16<2>(bytes.first<size>())};
    }
    bool operator==(const Job&) const = default;
};

/// In the server's reply: the worker's slot to write to, the weights to read, and the worker's
/// rank, from 0.
struct Assignment {
    static constexpr std::size_t size = 2 * rdma::Capability::size + 2;

    rdma::Capability slot;
    rdma::Capability weights;
    std::uint16_t rank = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        std::ranges::copy(slot.serialize(), bytes.begin());
        std::ranges::copy(weights.serialize(), bytes.begin() + rdma::Capability::size);
        util::put_be16<size - 2>(std::span(bytes), rank);
        return bytes;
    }
    static Assignment parse(std::span<const std::byte> bytes) {
        if (bytes.size() < size)
            throw util::Error(
                "the server's response is too short: it is not the server of this lesson.");
        return {rdma::Capability::parse(bytes),
                rdma::Capability::parse(bytes.subspan(rdma::Capability::size)),
                util::be16<size - 2>(bytes.first<size>())};
    }
};

/// The immediate data of a push: rank and step of the gradient, and flags for the server.
struct Notice {
    static constexpr std::uint32_t stop_halfway = 1u << 31;  // pauses the update until go_on
    static constexpr std::uint32_t go_on = 1u << 30;         // without a gradient

    static constexpr std::uint32_t of(std::uint16_t rank, std::uint16_t step) {
        return std::uint32_t{rank} << 16 | step;
    }
};

}  // namespace lesson23
