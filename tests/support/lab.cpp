#include "support/lab.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <sys/file.h>

#include "runlog/tail.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace support {

std::vector<runlog::Event> events_of(const std::string& path) {
    std::vector<runlog::Event> events;
    runlog::Tail tail(path);
    while (auto event = tail.next())
        events.push_back(*std::move(event));
    return events;
}

Argv on(const std::string& host, const Argv& command) {
    Argv argv{"lab/lab", "exec", host, "--"};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

Outcome exec(const std::string& host, const Argv& command, std::chrono::milliseconds time) {
    return run(on(host, command), {}, time);
}

Process start(const std::string& host, const Argv& command) {
    Argv argv = on(host, {"bash", "lab/host/supervise", "0"});
    argv.insert(argv.end(), command.begin(), command.end());
    return Process(argv, {}, Input::held_open);
}

std::optional<std::string> bring_up() {
    const Outcome up = run({"lab/lab", "up"}, {}, std::chrono::minutes(8));
    if (up.exit_code != 0)
        return "lab/lab up: " + up.all();
    return std::nullopt;
}

std::string LabRun::text_of(const std::string& name) const {
    std::ifstream file_stream(file(name));
    std::ostringstream text;
    text << file_stream.rdbuf();
    return text.str();
}

const runlog::Event* LabRun::find(const std::vector<runlog::Event>& events, std::string_view name) {
    for (const runlog::Event& event : events)
        if (event.name == name)
            return &event;
    return nullptr;
}

std::vector<runlog::Event> LabRun::ready_to_send(const std::vector<runlog::Event>& events) {
    auto states = all(events, "qp_state");
    std::erase_if(states, [](const auto& state) { return state.text("state") != "RTS"; });
    return states;
}

std::vector<runlog::Event> LabRun::all(const std::vector<runlog::Event>& events,
                                       std::string_view name) {
    std::vector<runlog::Event> found;
    for (const runlog::Event& event : events)
        if (event.name == name)
            found.push_back(event);
    return found;
}

LabRun capture(const std::string& step, const Argv& environment, const Argv& client_arguments) {
    Argv argv{"lab/lab", "capture", step};
    if (!client_arguments.empty()) {
        argv.emplace_back("--");
        argv.insert(argv.end(), client_arguments.begin(), client_arguments.end());
    }
    return read_run(run(argv, environment, std::chrono::minutes(3)));
}

LabRun run_without_capture(const std::string& step, const Argv& environment) {
    return read_run(run({"lab/lab", "run", step}, environment, std::chrono::minutes(5)));
}

namespace {

// A run that all test processes of one `tests/run` share; the folder TEST_RUNS contains its output.
// The first process makes the run; the others wait.
LabRun shared_run(const std::string& folder, const std::string& step) {
    const std::string path = folder + "/" + step;
    const util::Fd lock(
        CHECK_ERRNO(open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)));
    CHECK_ERRNO(flock(lock.get(), LOCK_EX));
    if (std::ifstream kept(path); kept) {
        Outcome outcome;
        outcome.exit_code = 0;
        outcome.out.assign(std::istreambuf_iterator<char>(kept), {});
        return read_run(std::move(outcome));
    }
    LabRun run = capture(step);
    if (run.outcome.exit_code == 0)
        std::ofstream(path) << run.outcome.out << run.outcome.err;
    return run;
}

}  // namespace

const LabRun& plain_run(std::string_view name) {
    const std::string step(name);
    static std::map<std::string, LabRun> runs;
    const char* folder = std::getenv("TEST_RUNS");
    if (!runs.contains(step))
        runs.emplace(step, folder == nullptr ? capture(step) : shared_run(folder, step));
    return runs.at(step);
}

LabRun read_run(Outcome outcome) {
    LabRun result;
    result.outcome = std::move(outcome);
    const std::string text = result.outcome.all();
    constexpr std::string_view before = "lab: everything of this run: ";
    if (const auto at = text.rfind(before); at != std::string::npos) {
        const auto begin = at + before.size();
        result.dir = text.substr(begin, text.find('\n', begin) - begin);
        std::ifstream file(result.file("run.json"));
        result.info = nlohmann::json::parse(file, nullptr, false);
        result.server = events_of(result.file("server.jsonl"));
        result.client = events_of(result.file("client.jsonl"));
    }
    return result;
}

std::vector<TsharkPacket> tshark_packets(const std::string& pcap) {
    const Outcome tshark = run({"tshark",
                                "-r",
                                pcap,
                                "-Y",
                                "infiniband && udp.dstport == 4791",
                                "-T",
                                "fields",
                                "-E",
                                "separator=,",
                                "-e",
                                "ip.src",
                                "-e",
                                "ipv6.src",
                                "-e",
                                "ip.dst",
                                "-e",
                                "ipv6.dst",
                                "-e",
                                "infiniband.bth.opcode",
                                "-e",
                                "infiniband.bth.destqp",
                                "-e",
                                "infiniband.bth.psn",
                                "-e",
                                "infiniband.deth.srcqp"});
    std::vector<TsharkPacket> packets;
    std::istringstream lines(tshark.out);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> cells;
        std::istringstream cell_stream(line);
        for (std::string cell; std::getline(cell_stream, cell, ',');)
            cells.push_back(cell);
        // The last cell is missing if it is empty.
        if (cells.size() != 7 && cells.size() != 8)
            continue;
        const auto number = [](const std::string& text) {
            return static_cast<std::uint32_t>(std::stoul(text, nullptr, 0));
        };
        packets.push_back({cells[0] + cells[1], cells[2] + cells[3], number(cells[4]),
                           number(cells[5]), number(cells[6]),
                           cells.size() == 8 ? number(cells[7]) : 0});
    }
    return packets;
}

}  // namespace support
