// A finished run's rows, and a check of their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/timeline/finished_run.hpp"

namespace support {

struct RunRow {
    std::int64_t t_ns = 0;
    std::optional<runlog::Event> event;  // nullopt: a packet's row
    timeline::PacketRow packet;
    std::uint64_t number = 0;  // of the packet
    const timeline::WorkRequest* request = nullptr;

    bool is(std::string_view name) const { return event && event->name == name; }
};

std::vector<RunRow> rows_of(timeline::FinishedRun& run);

/// Expects that each packet follows its post, each response its request, and each completion the
/// response to its request's last packet.
void expect_effects_after_causes(timeline::FinishedRun& run);

}  // namespace support
