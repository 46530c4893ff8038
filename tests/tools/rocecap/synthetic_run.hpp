// A synthetic run directory with the files of a run in the lab.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runlog/event.hpp"
#include "support/temp_path.hpp"
#include "tools/rocecap/capture_file.hpp"
#include "wire/cm_data.hpp"

namespace rocecap_test {

// A run of a client (192.0.2.2, QP 0x12) and a server (192.0.2.1, QP 0x11).
class SyntheticRun {
  public:
    explicit SyntheticRun(const std::string& name)
        : temp_("run_" + name), capture_("run_capture_" + name) {
        std::filesystem::create_directories(path());
        std::ofstream(path() + "/run.json") << R"({"step":")" << name << R"(","ended":"now",
                "hosts":{"server":{"address":"192.0.2.1","interface":"eth0"},"client":{"address":"192.0.2.2"}}})";
        log("server", "device", {{"gid", "::ffff:192.0.2.1"}});
        log("client", "device", {{"gid", "::ffff:192.0.2.2"}});
    }

    std::string path() const { return temp_.str(); }

    void log(const std::string& role, const std::string& name, runlog::Fields fields) const {
        std::ofstream(path() + "/" + role + ".jsonl", std::ios::app)
            << runlog::to_json({1, role, name, std::move(fields)}) << '\n';
    }
    void log_states(const auto& server_psn, const auto& client_psn) const {
        log("server", "qp_state",
            {{"qpn", 0x11u}, {"state", "RTS"}, {"dest_qpn", 0x12u}, {"sq_psn", server_psn}});
        log("client", "qp_state",
            {{"qpn", 0x12u}, {"state", "RTS"}, {"dest_qpn", 0x11u}, {"sq_psn", client_psn}});
    }

    void packet(std::uint8_t opcode, std::uint32_t psn, bool from_server = false) {
        packet_with(opcode, psn, from_server, [](wire::Packet&) {});
    }
    /// `change` may set fields to other values than the defaults.
    void packet_with(std::uint8_t opcode, std::uint32_t psn, bool from_server, const auto& change) {
        auto packet =
            wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, 64);
        packet.bth->dest_qpn = from_server ? 0x12 : 0x11;
        packet.bth->psn = wire::Psn(psn);
        change(packet);
        add(packet, from_server);
    }
    void cm_message(wire::CmAttribute attribute, const wire_test::CmData& data, bool from_server) {
        const auto mad = wire_test::cm_mad(attribute, data.bytes());
        add(wire_test::cm_packet(mad, wire_test::Network::Ipv4), from_server);
    }
    void tcp(std::span<const std::byte> payload, bool from_server = false) {
        const std::string size = fmt::format("{:04x}", 40 + payload.size());
        auto frame = wire_test::from_hex("020000000001 020000000002 0800 4500" + size +
                                         "00000000 4006 0000" +
                                         (from_server ? "c0000201 c0000202" : "c0000202 c0000201") +
                                         "9c40 4853 00000000 00000000 5018 0000 0000 0000");
        frame.insert(frame.end(), payload.begin(), payload.end());
        capture_.add(frame);
    }

    /// Copies the capture to the run directory.
    void keep_capture() const {
        std::filesystem::copy_file(capture_.path(), path() + "/wire.pcapng");
    }

  private:
    void add(wire::Packet packet, bool from_server) {
        if (from_server)
            std::swap(packet.ipv4->src, packet.ipv4->dst);
        capture_.add(wire::encode(packet));
    }

    support::TempPath temp_;
    rocecap_test::CaptureFile capture_;
};

}  // namespace rocecap_test
