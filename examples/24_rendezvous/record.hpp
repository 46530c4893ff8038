// Lesson 24: what ranks write into each other's memory, field by field in network byte order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "protocol.hpp"
#include "rdma/device.hpp"
#include "runlog/event.hpp"

namespace lesson24 {

/// One end of a future connection: a queue pair and the first PSN that it sends.
struct End {
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;

    bool operator==(const End&) const = default;
};
using Ends = std::array<End, most_rounds>;  // by round

/// What the others must know to write into a rank's memory: a row of the table.
struct Record {
    static constexpr std::size_t size = 128;
    static constexpr std::size_t longest_host = 16;

    std::uint16_t rank = 0;
    std::uint16_t path_mtu = 0;  ///< bytes
    std::uint32_t pid = 0;
    std::array<std::byte, 16> gid{};
    std::uint64_t va = 0;  ///< of its Window (memory.hpp)
    std::uint32_t rkey = 0;
    Ends out{};  ///< to the rank 2^round after this one
    Ends in{};   ///< from the rank 2^round before this one
    std::string host{};

    bool operator==(const Record&) const = default;

    std::array<std::byte, size> serialize() const {
        auto bytes = common::begin_message<size>(magic);
        const std::span<std::byte, size> all(bytes);
        util::put_be16<6>(all, rank);
        util::put_be16<8>(all, path_mtu);
        util::put_be32<12>(all, pid);
        std::ranges::copy(gid, all.begin() + 16);
        util::put_be64<32>(all, va);
        util::put_be32<40>(all, rkey);
        for (std::size_t round = 0; round < most_rounds; ++round) {
            put(all.subspan(48 + 8 * round).first<8>(), out[round]);
            put(all.subspan(80 + 8 * round).first<8>(), in[round]);
        }
        const std::size_t length = std::min(host.size(), longest_host);
        std::ranges::copy(std::as_bytes(std::span(host.data(), length)), all.begin() + 112);
        return bytes;
    }

    /// Throws util::Error if it is not a record of rank `expected`.
    static Record parse(util::FixedBytes<size> bytes, std::uint16_t expected) {
        common::check_message(bytes, magic);
        Record record{.rank = util::be16<6>(bytes),
                      .path_mtu = util::be16<8>(bytes),
                      .pid = util::be32<12>(bytes),
                      .va = util::be64<32>(bytes),
                      .rkey = util::be32<40>(bytes)};
        if (record.rank != expected)
            throw util::Error("the record of rank " + std::to_string(expected) + " has rank " +
                              std::to_string(record.rank) + ".");
        std::ranges::copy(bytes.subspan<16, 16>(), record.gid.begin());
        for (std::size_t round = 0; round < most_rounds; ++round) {
            record.out[round] = get(bytes.subspan(48 + 8 * round).first<8>());
            record.in[round] = get(bytes.subspan(80 + 8 * round).first<8>());
        }
        record.host = sentence_in(bytes.subspan<112, longest_host>());
        return record;
    }

    /// The fields of a run log event.
    runlog::Fields describe(std::uint16_t ranks) const {
        rdma::Gid text;
        std::ranges::copy(gid, reinterpret_cast<std::byte*>(text.raw.raw));
        return {{"rank", rank},
                {"host", host},
                {"pid", pid},
                {"gid", text.text()},
                {"va", va},
                {"rkey", rkey},
                {"out", text_of(out, rounds_of(ranks))},
                {"in", text_of(in, rounds_of(ranks))}};
    }

  private:
    static std::string text_of(const Ends& ends, unsigned rounds) {
        std::string text;
        for (unsigned round = 0; round < rounds; ++round)
            text += fmt::format("{}{:#08x} {:#08x}", round == 0 ? "" : ", ", ends[round].qpn,
                                ends[round].psn);
        return text;
    }
    static void put(std::span<std::byte, 8> bytes, const End& end) {
        util::put_be32<0>(bytes, end.qpn);
        util::put_be32<4>(bytes, end.psn);
    }
    static End get(util::FixedBytes<8> bytes) {
        return {util::be32<0>(bytes) & 0xffffff, util::be32<4>(bytes) & 0xffffff};
    }
};

/// A rank's entry into a barrier: the barrier, and a ticket, a random number drawn on entry.
/// Knowing the ticket proves that the rank has entered.
struct Entry {
    static constexpr std::size_t size = 8;

    std::uint32_t barrier = 0;
    std::uint32_t ticket = 0;

    bool operator==(const Entry&) const = default;

    std::array<std::byte, size> serialize() const {
        std::array<std::byte, size> bytes{};
        util::put_be32<0>(std::span(bytes), barrier);
        util::put_be32<4>(std::span(bytes), ticket);
        return bytes;
    }
    static Entry parse(util::FixedBytes<size> bytes) {
        return {util::be32<0>(bytes), util::be32<4>(bytes)};
    }
};

}  // namespace lesson24
