// The messages of lesson 25: rdma_cm's private data when connecting, the header of a batch, and the
// immediate data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "model.hpp"
#include "rdma/capability.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"

namespace lesson25 {

inline constexpr std::uint16_t most_batch = 64;  // requests
inline constexpr std::uint16_t most_depth = 64;  // slots

/// The immediate data of the server's start message, sent when all clients of a run have connected.
/// All other values are batch ids.
inline constexpr std::uint32_t begin = 0xffff'ffff;

/// The layout of a connection's slots, which both sides must use.
struct Shape {
    std::uint16_t batch = 1;  // maximum number of requests in a slot
    std::uint16_t depth = 1;  // slots

    std::size_t slot_of(std::uint32_t id) const { return id % depth; }
    /// The server's slots: a header followed by the inputs, each aligned to a cache line.
    std::size_t slot_size() const;
    std::size_t input_at(std::uint32_t id, std::size_t request) const;
    std::size_t header_at(std::uint32_t id) const { return slot_of(id) * slot_size(); }
    std::size_t slots_size() const { return depth * slot_size(); }
    /// The client's slots: outputs.
    std::size_t output_at(std::uint32_t id) const { return slot_of(id) * batch; }
    std::size_t results() const { return std::size_t{depth} * batch; }
};

/// The header of a batch, which the notice writes.
struct Header {
    static constexpr std::size_t size = 8;

    std::uint32_t id = 0;
    std::uint32_t requests = 0;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        util::put_be32<0>(std::span(bytes), id);
        util::put_be32<4>(std::span(bytes), requests);
        return bytes;
    }
    static Header parse(util::FixedBytes<size> bytes) {
        return {util::be32<0>(bytes), util::be32<4>(bytes)};
    }
};

inline std::size_t Shape::slot_size() const {
    constexpr std::size_t line = 64;
    return (Header::size + batch * sizeof(Input) + line - 1) / line * line;
}

inline std::size_t Shape::input_at(std::uint32_t id, std::size_t request) const {
    return header_at(id) + Header::size + request * sizeof(Input);
}

/// In a client's connection request.
struct Greeting {
    static constexpr std::size_t size = rdma::Capability::size + 6;

    rdma::Capability results;  // where the server writes the outputs
    Shape shape;
    std::uint16_t clients = 1;  // connections in the run, which starts when all are established

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        std::ranges::copy(results.serialize(), bytes.begin());
        util::put_be16<rdma::Capability::size>(std::span(bytes), shape.batch);
        util::put_be16<rdma::Capability::size + 2>(std::span(bytes), shape.depth);
        util::put_be16<rdma::Capability::size + 4>(std::span(bytes), clients);
        return bytes;
    }
    /// Throws util::Error if it is missing or out of range.
    static Greeting parse(std::span<const std::byte> bytes) {
        if (bytes.size() < size)
            throw util::Error(
                "the request has no batch and depth: it is not from a client of this lesson.");
        const auto fixed = bytes.first<size>();
        const Greeting greeting{rdma::Capability::parse(bytes),
                                {util::be16<rdma::Capability::size>(fixed),
                                 util::be16<rdma::Capability::size + 2>(fixed)},
                                util::be16<rdma::Capability::size + 4>(fixed)};
        const Shape& shape = greeting.shape;
        if (shape.batch == 0 || shape.batch > most_batch || shape.depth == 0 ||
            shape.depth > most_depth || greeting.clients == 0)
            throw util::Error(
                "a client requests batches of 0 or more than 64 requests, 0 or more than 64 slots, "
                "or a run without clients.");
        if (greeting.results.length != shape.results() * sizeof(Output))
            throw util::Error("a client's memory for results does not fit its batch and depth.");
        return greeting;
    }
};

}  // namespace lesson25
