// Maps Ethernet addresses to hosts. Learns from source addresses (IEEE 802.1D, 7.8).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "util/cursor.hpp"

namespace emulator {

class MacTable {
  public:
    /// `frame`: at least an Ethernet header. Returns the destination host; nullopt: all but `from`.
    std::optional<std::size_t> learn(util::Bytes frame, std::size_t from) {
        constexpr std::uint64_t group_bit = std::uint64_t{1} << 40U;
        const std::uint64_t dst = address(frame.first<6>());
        const std::uint64_t src = address(frame.subspan<6, 6>());
        // Limits the memory used if a program invents an address for each frame.
        if ((src & group_bit) == 0 && (hosts_.size() < most || hosts_.contains(src)))
            hosts_.insert_or_assign(src, from);
        const auto found = hosts_.find(dst);
        if ((dst & group_bit) != 0 || found == hosts_.end())
            return std::nullopt;
        return found->second;
    }

    void forget(std::size_t host) {
        std::erase_if(hosts_, [host](const auto& entry) { return entry.second == host; });
    }

  private:
    static constexpr std::size_t most = 1024;

    static std::uint64_t address(util::FixedBytes<6> bytes) {
        return util::read_be<std::uint64_t, 6, 0>(bytes);
    }

    std::unordered_map<std::uint64_t, std::size_t> hosts_;
};

}  // namespace emulator
