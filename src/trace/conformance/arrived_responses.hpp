// The responses that arrived at a requester, and which of them make up for one that did not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "trace/conformance/half_connection.hpp"
#include "wire/psn.hpp"

namespace conformance {

/// Values at places 0, 1, 2, ...: finds the first one above a limit in logarithmic time.
class FirstAbove {
  public:
    explicit FirstAbove(const std::vector<std::int64_t>& values);
    /// The first place from this one on with a value greater than `limit`; SIZE_MAX: there is none.
    std::size_t find(std::size_t from, std::int64_t limit) const;

  private:
    std::size_t leaves_;
    std::vector<std::int64_t> highest_;  // a tree: of node n, the children are 2n and 2n + 1
};

class ArrivedResponses {
  public:
    /// Of the steps, which must stay where they are; without damaged ones.
    explicit ArrivedResponses(const std::deque<Step>& steps);

    /// Returns whether one before `sent` made it unnecessary: for data, one with its PSN; otherwise, one
    /// that acknowledges its request.
    bool made_unnecessary(const ObservedPacket& sent) const;
    /// Returns the first one behind `sent`, up to this frame, that makes it unnecessary; nullptr:
    /// there is none.
    const ObservedPacket* substitute(const ObservedPacket& sent, std::uint64_t until) const;
    /// Returns whether one behind `sent`, up to this frame, has a later PSN.
    bool go_past(const ObservedPacket& sent, std::uint64_t until) const;
    /// Returns the one with this frame; nullptr: there is none.
    const ObservedPacket* at(std::uint64_t frame) const;

  private:
    using Places = std::vector<std::size_t>;

    std::size_t place_of(std::uint64_t frame) const;
    const Places& data_with(wire::Psn psn) const;
    const ObservedPacket* until(std::size_t place, std::uint64_t frame) const;
    wire::ExtendedPsn extended(wire::Psn psn, std::size_t place) const;
    FirstAbove index(bool acknowledged) const;

    std::vector<const ObservedPacket*> all_;  // in the order of frames
    std::vector<wire::ExtendedPsn> highest_;  // PSN that those before a place acknowledge, plus one
    std::unordered_map<std::uint32_t, Places> data_;  // by PSN
    FirstAbove acknowledged_, psns_;
};

}  // namespace conformance
