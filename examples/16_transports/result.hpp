// Lesson 16, both sides: the result of the numbered messages over one transport, and a comparison of
// the transports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rdma/counters.hpp"
#include "side.hpp"

namespace lesson16 {

inline ibv_qp_type type_of(Part part) {
    return part == Part::Rc ? IBV_QPT_RC : part == Part::Uc ? IBV_QPT_UC : IBV_QPT_UD;
}

/// Counts RoCE packets with a device counter since construction; nullopt if the device does not
/// have the counter (the names are rxe's).
class PacketCount {
  public:
    PacketCount(const Side& side, const char* counter)
        : side_(side), counter_(counter), before_(now()) {}
    std::optional<std::uint64_t> value() const {
        const auto after = now();
        return before_ && after ? std::optional(*after - *before_) : std::nullopt;
    }

  private:
    std::optional<std::uint64_t> now() const {
        const auto all =
            rdma::read_counters(ibv_get_device_name(side_.context()->device), side_.port.number);
        const auto entry = all.find(counter_);
        return entry == all.end() ? std::nullopt : std::optional(entry->second);
    }

    const Side& side_;
    const char* counter_;
    std::optional<std::uint64_t> before_;
};

/// The result of the messages over one transport; packets are counted by the devices.
struct Result {
    Request request;
    std::uint32_t successes = 0;
    Report report;
    std::optional<std::uint64_t> packets_out, packets_back;
};

inline void log_result(runlog::Log& log, const Result& result) {
    runlog::Fields fields{{"transport", rdma::name_of(type_of(result.request.part))},
                          {"messages", result.request.messages},
                          {"len", result.request.length},
                          {"successes", result.successes},
                          {"arrived", result.report.arrived}};
    if (result.packets_out)
        fields.emplace_back("packets_out", *result.packets_out);
    if (result.report.packets != Report::not_counted)
        fields.emplace_back("packets_come", result.report.packets);
    if (result.packets_back)
        fields.emplace_back("packets_back", *result.packets_back);
    log.event("transport", std::move(fields));
}

inline void log_table(runlog::Log& log, const std::vector<Result>& results) {
    const auto number = [](std::optional<std::uint64_t> value) {
        return value ? std::to_string(*value) : "-";
    };
    log.note("           of bytes  messages  SUCCESS  arrived  packets sent  received  returned");
    for (const Result& result : results)
        log.note(fmt::format("{:<9} {:>9} {:>9} {:>8} {:>8} {:>13} {:>9} {:>9}",
                             rdma::name_of(type_of(result.request.part)), result.request.length,
                             result.request.messages, result.successes, result.report.arrived,
                             number(result.packets_out),
                             result.report.packets == Report::not_counted
                                 ? "-"
                                 : std::to_string(result.report.packets),
                             number(result.packets_back)));
}

}  // namespace lesson16
