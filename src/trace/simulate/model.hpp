// A model of a run: the requesters post what they posted in a capture, at the same times, and the link
// emulator's rules are applied to what they and the responders send. Both conform to the
// specification. A responder refuses what was refused in the capture. Receives are always ready, and no program reacts to what arrives: a program that
// would have waited for a late message posts its next one as early as in the capture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/stage.hpp"
#include "trace/simulate/events.hpp"
#include "trace/simulate/requester.hpp"
#include "trace/simulate/traffic.hpp"

namespace simulate {

class Model {
  public:
    struct Settings {
        Requester::Settings requester{};
        std::int64_t delay_ns = 20'000;   ///< of the link, in each direction
        std::int64_t execute_ns = 2'000;  ///< that a responder takes for a request
        capture::Time begin{};            ///< the time of the first event
    };
    /// What happens at the link, as in emulator::StageOutput, and at the second host.
    class Output {
      public:
        Output() = default;
        Output(const Output&) = delete;
        Output& operator=(const Output&) = delete;
        Output(Output&&) = delete;
        Output& operator=(Output&&) = delete;
        virtual ~Output() = default;

        virtual std::uint64_t arrived(const emulator::ReceivedFrame& arrival, bool is_roce,
                                      const std::vector<emulator::RuleEvent>& events) = 0;
        virtual void acted(const emulator::Sent& sent, const emulator::RuleEvent& event) = 0;
        virtual void left(capture::Time time, emulator::Host from, util::Bytes bytes) = 0;
        /// A frame that this host sends or receives.
        virtual void captured(capture::Time time, emulator::Host host, util::Bytes bytes) = 0;
        /// A requester's queue pair is in the error state.
        virtual void failed(const Traffic& traffic, std::size_t message) = 0;
    };

    /// `hosts`: their names and addresses. Traffic of other hosts is left out.
    struct Host {
        std::string name, address;
    };
    Model(const std::vector<Traffic>& traffic, const std::array<Host, 2>& hosts,
          std::vector<emulator::Rule> rules, const Settings& settings, Output& output);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    Model(Model&&) = delete;
    Model& operator=(Model&&) = delete;

    /// Returns false if it came to no end.
    bool run();

  private:
    class Half;
    class Link;

    void send(emulator::Host from, wire::Packet packet);
    void release();
    void arrive(emulator::Host host, const std::vector<std::byte>& frame);
    capture::Time time() const { return is_.begin + capture::Time(events_.now()); }

    Events events_;
    Settings is_;
    Output& output_;
    std::array<Host, 2> hosts_;
    emulator::Stage stage_;
    std::unique_ptr<Link> link_;
    std::vector<std::unique_ptr<Half>> halves_;
    std::array<std::uint16_t, 2> ip_ids_{};
    std::optional<std::int64_t> release_at_;
};

}  // namespace simulate
