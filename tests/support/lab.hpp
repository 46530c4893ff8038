// The lab as a test uses it: booted once, shared by all tests of the binary.
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

/// `lab/lab exec`, to its end.
Outcome exec(const std::string& host, const Argv& command,
             std::chrono::milliseconds time = std::chrono::seconds(60));

/// Started on the host, and ended there by SIGTERM when the Process ends or closes its input.
Process start(const std::string& host, const Argv& command);

/// Brings the lab up if it is not; the reason as text when that failed.
std::optional<std::string> bring_up();

/// A run of `lab/lab capture`, as it is on the disk afterwards.
struct LabRun {
    Outcome outcome;
    std::string dir;  // below the repository; empty where none was reported
    nlohmann::json info;
    std::vector<runlog::Event> server;
    std::vector<runlog::Event> client;

    std::string file(const std::string& name) const { return dir + "/" + name; }
    std::string text_of(const std::string& name) const;

    /// The first event of this name; nullptr where there is none.
    static const runlog::Event* find(const std::vector<runlog::Event>& events,
                                     std::string_view name);
    static std::vector<runlog::Event> all(const std::vector<runlog::Event>& events,
                                          std::string_view name);
    /// The "qp_state" events with which queue pairs came to RTS.
    static std::vector<runlog::Event> ready_to_send(const std::vector<runlog::Event>& events);
};

LabRun capture(const std::string& step, const Argv& environment = {},
               const Argv& client_arguments = {});

/// The same by `lab/lab run`, which captures nothing.
LabRun run_without_capture(const std::string& step, const Argv& environment);

/// The step without arguments, captured once for all tests that look at it: of this process, or of
/// all processes that have the same TEST_RUNS folder.
const LabRun& plain_run(std::string_view name);

/// Reads a run directory whose outcome is known.
LabRun read_run(Outcome outcome);

/// The events of a run log's JSON lines.
std::vector<runlog::Event> events_of(const std::string& path);

/// One RoCE packet as tshark reads it. Empty strings where a field is not there.
struct TsharkPacket {
    std::string source, destination;
    unsigned opcode = 0;
    std::uint32_t dest_qpn = 0;
    std::uint32_t psn = 0;
    std::uint32_t source_qpn = 0;  // of UD, in the DETH; otherwise 0
};

/// All packets of the file that tshark takes for InfiniBand over UDP port 4791.
std::vector<TsharkPacket> tshark_packets(const std::string& pcap);

}  // namespace support
