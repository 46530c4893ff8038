// The transports side by side.
#pragma once

#include <vector>

#include "numbered.hpp"

namespace step10 {

inline void log_result(runlog::Log& log, const Result& result) {
    runlog::Fields fields{{"transport", name_of(result.task)},
                          {"messages", result.messages},
                          {"len", result.length},
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
    log.note("           of bytes  messages  SUCCESS  arrived  packets sent  came  came back");
    for (const Result& result : results)
        log.note(fmt::format("{:<9} {:>9} {:>9} {:>8} {:>8} {:>13} {:>5} {:>10}",
                             name_of(result.task), result.length, result.messages, result.successes,
                             result.report.arrived, number(result.packets_out),
                             result.report.packets == Report::not_counted
                                 ? "-"
                                 : std::to_string(result.report.packets),
                             number(result.packets_back)));
}

}  // namespace step10
