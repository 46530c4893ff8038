// Lesson 09, the client: the observed effects of a forged packet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialogue.hpp"
#include "rdma/names.hpp"

namespace lesson09 {

/// Returns the increase of a counter; 0 if the device does not have it.
inline std::uint64_t grown(const std::optional<std::uint64_t>& before,
                           const std::optional<std::uint64_t>& after) {
    return before && after ? *after - *before : 0;
}

/// The observed effects of a forged packet.
struct Trial {
    Report before;
    Report after;
    std::vector<std::string> answers;  // responses to the target: "ACK", "NAK Remote Access Error"

    std::string_view outcome() const { return completion().empty() ? "ignored" : completion(); }
    bool changed_memory() const { return before.memory_crc != after.memory_crc; }
    bool changed_read() const { return before.read_crc != after.read_crc; }
    std::string_view state() const { return rdma::name_of(static_cast<ibv_qp_state>(after.state)); }
    /// Empty if the server's request has not completed.
    std::string_view completion() const {
        return after.completion == Report::none
                   ? std::string_view()
                   : rdma::name_of(static_cast<ibv_wc_status>(after.completion));
    }
};

}  // namespace lesson09
