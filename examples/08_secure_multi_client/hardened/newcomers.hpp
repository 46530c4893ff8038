// Lesson 08, hardened, the server: connections whose peer has not presented a certificate yet. Limits their
// number, and selects the next handshake and the connection to drop when a new one needs room.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace lesson08 {

/// Identifies a connection; never reused.
using Id = std::uint64_t;

/// A silent connection costs a descriptor, so many are allowed. A handshake costs CPU time: few run
/// concurrently, and fewer per source (an IPv4 address, or the first 64 bits of an IPv6 one).
struct Bounds {
    std::size_t newcomers = 512;
    std::size_t handshakes = 32;
    std::size_t handshakes_a_source = 8;
    std::chrono::milliseconds setup_time{10'000};  // until the first byte, and for the handshake
    std::chrono::milliseconds hello_time{2000};    // for the rest of a ClientHello
};

class Newcomers {
  public:
    enum class State : std::uint8_t {
        Silent,     // no data yet
        Hello,      // part of a ClientHello
        Waiting,    // a complete ClientHello: the server must start the handshake
        Handshake,  // handshake in progress
    };

    explicit Newcomers(const Bounds& bounds) : bounds_(bounds) {}

    void add(Id id, const util::Address& peer) { all_[id].source = source_of(peer); }
    void change(Id id, State state) {
        Newcomer& one = all_.at(id);
        if (std::exchange(one.state, state) != state)
            one.since = util::Clock::now();
    }
    /// Removes a connection after its handshake or its end.
    void remove(Id id) { all_.erase(id); }
    State state_of(Id id) const { return all_.at(id).state; }

    /// Returns the connection that has waited longest, among sources below their handshake limit.
    std::optional<Id> next_handshake() const {
        std::map<Source, std::size_t> handshakes;
        std::size_t sum = 0;
        for (const auto& [id, one] : all_)
            if (one.state == State::Handshake) {
                ++handshakes[one.source];
                ++sum;
            }
        std::optional<Id> found;
        for (const auto& [id, one] : all_)
            if (sum < bounds_.handshakes && one.state == State::Waiting &&
                handshakes[one.source] < bounds_.handshakes_a_source &&
                (!found || one.since < all_.at(*found).since))
                found = id;
        return found;
    }

    /// Returns the connection to drop: of the source with the most newcomers, the one that has kept
    /// the server waiting longest, and for at least `hello_time`.
    std::optional<Id> makes_room() const {
        std::map<Source, std::size_t> newcomers;
        for (const auto& [id, one] : all_)
            ++newcomers[one.source];
        const auto before = util::Clock::now() - bounds_.hello_time;
        const auto rank = [&](const Newcomer& one) {
            return std::pair(newcomers[one.source], before - one.since);
        };
        std::optional<Id> found;
        for (const auto& [id, one] : all_)
            if (one.state != State::Waiting && one.since <= before &&
                (!found || rank(one) > rank(all_.at(*found))))
                found = id;
        return found;
    }

  private:
    using Source = std::array<std::byte, 16>;
    struct Newcomer {
        Source source{};
        State state = State::Silent;
        util::Clock::time_point since = util::Clock::now();  // of this state
    };

    // The owner of one IPv6 address usually has the whole /64.
    static Source source_of(const util::Address& peer) {
        constexpr std::array<std::byte, 12> ipv4{
            {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::byte{0xff}, std::byte{0xff}}};
        Source source = peer.ipv6_bytes();
        if (!std::equal(ipv4.begin(), ipv4.end(), source.begin()))
            std::fill(source.begin() + 8, source.end(), std::byte{});
        return source;
    }

    Bounds bounds_;
    std::map<Id, Newcomer> all_;
};

}  // namespace lesson08
