// The cost of a transfer, for the log, as a table and as CSV.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "meter.hpp"
#include "protocol.hpp"

namespace lesson22 {

struct Outcome {
    std::string transport;
    Plan plan;
    std::int64_t elapsed_ns = 0;
    double mib_per_s = 0;
    util::CpuUsage client{};
    Result server{};
    std::uint32_t expected_crc = 0;

    bool is_intact() const { return server.crc == expected_crc; }

    runlog::Fields fields() const {
        return {{"transport", transport},
                {"len", plan.size},
                {"chunk", plan.chunk},
                {"elapsed_us", elapsed_ns / 1000},
                {"mib_per_s", fmt::format("{:.1f}", mib_per_s)},
                {"client_user_us", client.user.count()},
                {"client_system_us", client.system.count()},
                {"client_machine_us", client.machine().count()},
                {"server_user_us", server.user.count()},
                {"server_system_us", server.system.count()},
                {"server_machine_us", server.machine.count()},
                {"crc32", server.crc},
                {"expected_crc32", expected_crc},
                {"bytes", is_intact() ? "intact" : "DAMAGED"}};
    }
};

inline double seconds(util::CpuUsage::Time time) {
    return static_cast<double>(time.count()) / 1e6;
}

inline void write_table(const std::vector<Outcome>& outcomes, runlog::Log& log) {
    constexpr auto line = "{:<13} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}  {}";
    log.note(fmt::format(line, "CPU seconds:", "elapsed", "MiB/s", "client", "machine", "server",
                         "machine", "bytes"));
    for (const Outcome& o : outcomes)
        log.note(fmt::format("{:<13} {:>8.2f} {:>8.1f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}  {}",
                             o.transport, static_cast<double>(o.elapsed_ns) / 1e9, o.mib_per_s,
                             seconds(o.client.process()), seconds(o.client.machine()),
                             seconds(o.server.user + o.server.system), seconds(o.server.machine),
                             o.is_intact() ? "intact" : "DAMAGED"));
}

inline void write_csv(const std::string& path, const std::vector<Outcome>& outcomes) {
    std::ofstream file(path);
    std::string names;
    for (const Outcome& outcome : outcomes) {
        std::string values;
        const bool is_first = names.empty();
        for (const runlog::Field& field : outcome.fields()) {
            const char* comma = values.empty() ? "" : ",";
            values += comma;
            if (const auto* text = std::get_if<std::string>(&field.value))
                values += *text;
            else if (const auto* number = std::get_if<std::int64_t>(&field.value))
                values += fmt::format("{}", *number);
            else
                values += fmt::format("{}", std::get<std::uint64_t>(field.value));
            if (is_first)
                names += comma + field.key;
        }
        file << (is_first ? names + "\n" : "") << values << "\n";
    }
    if (!file.flush())
        throw util::Error(fmt::format(
            "cannot write {}: check that the folder exists and that you may write there.", path));
}

}  // namespace lesson22
