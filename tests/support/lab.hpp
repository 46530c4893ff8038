// The lab for tests: booted once, shared by all tests of the binary.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runlog/event.hpp"
#include "support/process.hpp"

namespace support {

inline const std::string server_ip = "192.0.2.1";
inline const std::string client_ip = "192.0.2.2";
inline const std::string server_ip6 = "2001:db8::1";
inline const std::string client_ip6 = "2001:db8::2";

/// The arguments of `lab/lab exec HOST -- COMMAND…`.
Argv on(const std::string& host, const Argv& command);

/// Runs `lab/lab exec` and waits for its end.
Outcome exec(const std::string& host, const Argv& command,
             std::chrono::milliseconds time = std::chrono::seconds(60));

/// Starts a command on the host. It gets SIGTERM when the Process ends or closes its input.
Process start(const std::string& host, const Argv& command);

/// Starts the lab if it is down. Returns the reason if that fails, otherwise nullopt.
std::optional<std::string> bring_up();

/// A run of `lab/lab capture`, read from its directory.
struct LabRun {
    Outcome outcome;
    std::string dir;  // relative to the repository; empty if not reported
    nlohmann::json info;
    std::vector<runlog::Event> server;
    std::vector<runlog::Event> client;

    std::string file(const std::string& name) const { return dir + "/" + name; }
    std::string text_of(const std::string& name) const;

    /// Returns the first event with this name, or nullptr.
    static const runlog::Event* find(const std::vector<runlog::Event>& events,
                                     std::string_view name);
    static std::vector<runlog::Event> all(const std::vector<runlog::Event>& events,
                                          std::string_view name);
    /// Returns the "qp_state" events of transitions to RTS.
    static std::vector<runlog::Event> ready_to_send(const std::vector<runlog::Event>& events);
};

LabRun capture(const std::string& step, const Argv& environment = {},
               const Argv& client_arguments = {});

/// The same with `lab/lab run`, which does not capture packets.
LabRun run_without_capture(const std::string& step, const Argv& environment);

/// The lesson without arguments, captured once for all its tests in this process, or in all processes
/// with the same TEST_RUNS folder.
const LabRun& plain_run(std::string_view name);

/// Reads a run directory whose outcome is known.
LabRun read_run(Outcome outcome);

/// Reads the events of a run log in JSON lines.
std::vector<runlog::Event> events_of(const std::string& path);

/// One RoCE packet, decoded by tshark. Missing fields are empty strings.
struct TsharkPacket {
    std::string source, destination;
    unsigned opcode = 0;
    std::uint32_t dest_qpn = 0;
    std::uint32_t psn = 0;
    std::uint32_t source_qpn = 0;  // from the DETH for UD; otherwise 0
};

/// Returns all packets of the file that tshark decodes as InfiniBand over UDP port 4791.
std::vector<TsharkPacket> tshark_packets(const std::string& pcap);

}  // namespace support
