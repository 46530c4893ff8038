// rocecap simulate: what both ends of a captured run would send if the link did something else.
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/pcapng_writer.hpp"
#include "capture/sink.hpp"
#include "emulator/recorder.hpp"
#include "emulator/rule.hpp"
#include "runlog/event.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/follow.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/simulate/model.hpp"
#include "trace/simulate/traffic.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/error.hpp"
#include "util/json.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

namespace fs = std::filesystem;

struct SimulateOptions {
    TraceArguments trace;
    std::vector<std::string> rules;
    std::string output;
    unsigned timeout = 14;
    unsigned retry_cnt = 7;
};

using Hosts = std::array<simulate::Model::Host, 2>;

constexpr const char* mode = "model";
constexpr std::size_t server = 0;

// Those of the run directory, or else those of the first connection.
Hosts hosts_of(const timeline::RunInfo& info, const std::vector<simulate::Traffic>& traffic) {
    const auto known = [&](const char* role) {
        const auto found = info.addresses.find(role);
        return found == info.addresses.end() ? std::string() : found->second;
    };
    Hosts hosts{{{"server", known("server")}, {"client", known("client")}}};
    if (hosts[0].address.empty() || hosts[1].address.empty()) {
        hosts[0].address = traffic.front().responder;
        hosts[1].address = traffic.front().requester;
    }
    return hosts;
}

std::vector<emulator::Rule> rules_of(const std::vector<std::string>& texts) {
    std::vector<emulator::Rule> rules;
    rules.reserve(texts.size());
    for (const std::string& text : texts)
        rules.push_back(emulator::parse_rule(text, {"server", "client"}));
    return rules;
}

// The run directory of the model: its link's capture and log, and the server's capture.
class ModelRun : public simulate::Model::Output {
  public:
    explicit ModelRun(const std::string& folder)
        : recorder_(names()),
          log_(capture::Sink::create(folder + "/link.jsonl")),
          capture_(capture::Sink::create(folder + "/wire.pcapng"),
                   {{}, {}, "rocecap simulate", "a model, not a capture"}) {
        recorder_.start(folder + "/link.pcapng", {});
        capture_.add_interface({.link_type = wire::LinkType::Ethernet,
                                .name = mode,
                                .description = "the server of a model",
                                .filter = {}});
    }

    std::uint64_t arrived(const emulator::ReceivedFrame& arrival, bool is_roce,
                          const std::vector<emulator::RuleEvent>& events) override {
        return recorder_.before(arrival, is_roce, events);
    }
    void acted(const emulator::Sent& sent, const emulator::RuleEvent& event) override {
        acted_.insert(event.rule);
        log_.append(runlog::to_json(log_event(sent, event, names(), sent.recorded)) + '\n');
    }
    void left(capture::Time time, emulator::Host from, util::Bytes bytes) override {
        recorder_.after(time, from, 1 - from, bytes, true);
    }
    void captured(capture::Time time, emulator::Host host, util::Bytes bytes) override {
        if (host == server)
            capture_.packet(0, {.time = time,
                                .bytes = bytes,
                                .original_length = static_cast<std::uint32_t>(bytes.size())});
    }
    void failed(const simulate::Traffic& traffic, std::size_t message) override {
        failures_ += fmt::format(
            "The requester {} gives up: its message {} of {} has failed, and its queue pair is in "
            "the error state.\n",
            traffic.requester, message + 1, traffic.messages.size());
    }

    bool has_acted(std::uint32_t rule) const { return acted_.contains(rule); }

    /// Returns sentences about the ends, or nothing.
    std::string close() {
        recorder_.stop();
        log_.close();
        capture_.close();
        return failures_;
    }

  private:
    static std::vector<std::string> names() { return {"server", "client"}; }

    emulator::Recorder recorder_;
    capture::Sink log_;
    capture::PcapngWriter capture_;
    std::string failures_;
    std::set<std::uint32_t> acted_;  // rules, from 1
};

// Refuses a folder with anything but an earlier model.
void make_folder(const std::string& folder) {
    std::error_code ignored;
    const bool is_used = fs::exists(folder) && !fs::is_empty(folder, ignored);
    if (is_used) {
        std::ifstream file(folder + "/run.json");
        const util::Json json = util::Json::parse(file, nullptr, false);
        if (!json.is_object() || json.value("mode", "") != mode)
            throw util::Error(
                fmt::format("{} is not empty: give -o a folder that does not exist.", folder));
    }
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw util::Error(fmt::format("cannot create the folder {}: {}.", folder, error.message()));
}

void describe(const std::string& folder, const std::string& name, const Hosts& hosts,
              const std::vector<std::string>& rules) {
    util::Json json{{"step", name}, {"mode", mode}, {"backend", mode}};
    for (const simulate::Model::Host& host : hosts)
        json["hosts"][host.name]["address"] = host.address;
    json["link"]["rules"] = rules;
    json["ended"] = true;
    capture::Sink sink = capture::Sink::replace(folder + "/run.json");
    sink.append(json.dump(2) + '\n');
    sink.close();
}

void check_traffic(const std::vector<simulate::Traffic>& traffic, const std::string& name) {
    if (traffic.empty())
        throw util::Error(fmt::format(
            "{} has no messages for a model: it needs requests of a reliable connection (RC) over "
            "Ethernet, whole from the first PSN on, and one of their responses.",
            name));
    for (const simulate::Traffic& one : traffic)
        if (one.is_cut)
            print_note(fmt::format(
                "the model has only {} messages of {} to queue pair 0x{:06x}: the packet behind "
                "them was not captured.",
                one.messages.size(), one.requester,
                one.requests.begin()->second.packet.bth->dest_qpn));
}

int simulate_run(const SimulateOptions& options, const Context& context) {
    std::vector<emulator::Rule> rules = rules_of(options.rules);
    simulate::TrafficReader reader;
    const timeline::FinishedRun run(files_of(options.trace), &reader);
    if (!run.has_capture())
        throw util::Error(fmt::format("{} has no capture: record a run with 'lab/lab capture'.",
                                      run.files().name));
    const std::vector<simulate::Traffic> traffic = reader.take();
    check_traffic(traffic, run.files().name);
    const Hosts hosts = hosts_of(run.info(), traffic);
    make_folder(options.output);
    // First: what an interrupted model leaves can be replaced.
    describe(options.output, run.files().short_name(), hosts, options.rules);
    ModelRun output(options.output);
    simulate::Model model(
        traffic, hosts, std::move(rules),
        {.requester = {.timeout = options.timeout, .retry_cnt = options.retry_cnt},
         .begin = reader.first_time()},
        output);
    const bool has_ended = model.run();
    const std::string failures = output.close();
    capture::Sink sink = capture::Sink::standard_output();
    sink.append(
        "A model, not a capture: what two hosts that follow the specification would send.\n");
    sink.close();
    list_run({.path = options.output, .logs = {}}, context);
    print_note(failures);
    for (std::uint32_t rule = 1; rule <= options.rules.size(); ++rule)
        if (!output.has_acted(rule))
            print_note(
                fmt::format("the rule '{}' has matched no packet of the model, which has no "
                            "messages of the connection manager.",
                            util::printable(options.rules[rule - 1])));
    if (!has_ended)
        throw util::Error("the model came to no end: it was stopped after 10 million steps.");
    require_whole(run.capture_damage());
    return fine;
}

constexpr const char* simulate_footer =
    R"(The model takes the messages of the reliable connections (RC) from a run, posts them at the same
times, and applies the link emulator's rules (docs/rocewire.md). Both ends follow the specification,
so a real host may differ: docs/on-rxe-behaviour.md. FOLDER becomes a run directory, which the other
commands read. It is a model: receives are always ready, and a program that waits for an answer
before its next message is not modelled.

Examples:
  rocecap simulate captures/samples/20_one_packet 'drop the 9th packet from client' -o model
  rocecap explain model
  rocecap predict model)";

}  // namespace

void add_simulate(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<SimulateOptions>(
        app, context, "simulate", "Model: what would both ends send if the link lost this packet?",
        simulate_footer, simulate_run);
    add_trace_arguments(*command, options->trace);
    command
        ->add_option("rules", options->rules, "Rules of the link emulator; none: nothing is lost")
        ->type_name("RULE");
    command->add_option("-o,--output", options->output, "The folder to write")
        ->required()
        ->type_name("FOLDER");
    command
        ->add_option("--ack-timeout", options->timeout,
                     "The requesters' ACK timeout: 4.096 us * 2^N; 0: none")
        ->capture_default_str()
        ->check(CLI::Range(0U, 31U))
        ->type_name("N");
    command
        ->add_option("--retry-cnt", options->retry_cnt,
                     "How often the requesters repeat without a response")
        ->capture_default_str()
        ->check(CLI::Range(0U, 7U))
        ->type_name("N");
}

}  // namespace rocecap
