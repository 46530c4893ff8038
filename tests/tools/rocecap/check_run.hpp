// A synthetic run directory for tests of rocecap check.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/pcapng_writer.hpp"
#include "runlog/event.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "trace/conformance/trace.hpp"

namespace check_run {

using namespace conformance_test;
using nlohmann::json;

inline capture::PcapngInterface named(const char* name) {
    capture::PcapngInterface interface;
    interface.name = name;
    return interface;
}

/// The run directory of a run over rocewire. The client is 192.0.2.1, the server 192.0.2.2.
class LinkRun {
  public:
    explicit LinkRun(const std::string& name) : temp_("check_" + name) {
        std::filesystem::create_directories(path());
        writer_.emplace(capture::Sink::create(link_capture()), capture::PcapngSection{});
        before_ = writer_->add_interface(named("before"));
        after_ = writer_->add_interface(named("after"));
    }

    std::string path() const { return temp_.str(); }
    std::string link_capture() const { return path() + "/link.pcapng"; }
    void wait(std::int64_t ns) { now_ += ns; }

    std::uint64_t pass(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto number = write(before_, frame);
        write(after_, frame);
        return number;
    }
    std::uint64_t lose(const wire::Packet& packet) {
        const auto number = write(before_, wire::encode(packet));
        std::ofstream(path() + "/link.jsonl", std::ios::app)
            << runlog::to_json({1,
                                "link",
                                "drop",
                                {{"rule", 1u}, {"text", "drop psn 0 once"}, {"frame", number}}})
            << '\n';
        return number;
    }

    void tell(const json& client_counters) const {
        const json zero{{"sent_pkts", 10}, {"rcvd_pkts", 10}, {"completer_retry_err", 0}};
        std::ofstream(path() + "/run.json") << json{
            {"hosts",
             {{"client",
               {{"address", "192.0.2.1"},
                {"device", "rxe0"},
                {"port", 1},
                {"counters",
                 {{"before", {{"rxe0/1", zero}}}, {"after", {{"rxe0/1", client_counters}}}}}}},
              {"server", {{"address", "192.0.2.2"}}}}}};
        log("client", "::ffff:192.0.2.1",
            {{"qpn", 0x22u},
             {"state", "RTS"},
             {"dest_qpn", 0x11u},
             {"sq_psn", 0u},
             {"timeout", 12u},
             {"path_mtu", 1024u}});
        log("server", "::ffff:192.0.2.2",
            {{"qpn", 0x11u},
             {"state", "RTS"},
             {"dest_qpn", 0x22u},
             {"sq_psn", 7u},
             {"timeout", 12u},
             {"path_mtu", 1024u}});
    }

    support::Outcome check(support::Argv options = {}) {
        writer_->close();
        options.insert(options.begin(), {support::rocecap(), "check", path()});
        return support::run(options);
    }

  private:
    void log(const std::string& role, const char* gid, runlog::Fields state) const {
        std::ofstream(path() + "/" + role + ".jsonl")
            << runlog::to_json({1, role, "device", {{"gid", gid}}}) << '\n'
            << runlog::to_json({2, role, "qp_state", std::move(state)}) << '\n';
    }
    std::uint64_t write(std::uint32_t interface, const std::vector<std::byte>& frame) {
        now_ += 5'000;
        writer_->packet(interface, {.time = capture::Time(now_),
                                    .bytes = frame,
                                    .original_length = static_cast<std::uint32_t>(frame.size())});
        return ++frames_;
    }

    support::TempPath temp_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t before_ = 0;
    std::uint32_t after_ = 0;
    std::int64_t now_ = 1'000'000'000;
    std::uint64_t frames_ = 0;
};

inline bool has(const support::Outcome& outcome, const std::string& text) {
    return outcome.out.find(text) != std::string::npos;
}

}  // namespace check_run
