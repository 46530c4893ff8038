// A synthetic run with a WRITE, as a run directory and as the arguments CAPTURE [--log FILE]...
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "support/process.hpp"
#include "tools/rocecap/synthetic_run.hpp"
#include "wire/cm_data.hpp"

namespace written_run {

using rocecap_test::SyntheticRun;

inline constexpr std::uint8_t write_first = 0x06;
inline constexpr std::uint8_t write_last = 0x08;
inline constexpr std::uint8_t acknowledge = 0x11;

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A run with a connection of rdma_cm and a WRITE of two packets.
class Written : public SyntheticRun {
  public:
    explicit Written(const std::string& name) : SyntheticRun(name) {
        log_states(0x54b40du, 0x0deeedu);
        log("client", "post_send",
            {{"qpn", 0x12u},
             {"wr_id", 7u},
             {"opcode", "RDMA_WRITE"},
             {"len", 5000u},
             {"psn_first", 0x0deeedu},
             {"psn_last", 0x0deeeeu}});
        cm_message(wire::CmAttribute::ConnectRequest,
                   wire_test::CmData()
                       .put(0, "00000077")
                       .put(32, "000012")
                       .put(43, "00")
                       .put(44, "54b40d"),
                   false);
        cm_message(wire::CmAttribute::ConnectReply,
                   wire_test::CmData().put(4, "00000077").put(12, "000011").put(20, "0deeed"),
                   true);
        packet(write_first, 0x0deeed);
        packet(write_last, 0x0deeee);
        packet(acknowledge, 0x0deeee, true);
        keep_capture();
    }

    std::string wire() const { return path() + "/wire.pcapng"; }
    std::string log_of(const std::string& role) const { return path() + "/" + role + ".jsonl"; }
    support::Argv both_logs() const {
        return {"--log", log_of("server"), "--log", log_of("client")};
    }
};

inline support::Argv operator+(support::Argv argv, const support::Argv& more) {
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
}

inline std::string new_log(const SyntheticRun& run, const std::string& name,
                           const std::string& text) {
    std::string path = run.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
}

}  // namespace written_run
