// Step 18, the active side: clients of an inference server. Requests come to them, and go to the
// server in batches.
#include <array>
#include <memory>

#include "examples/common/program.hpp"
#include "frontend.hpp"

namespace {

using step18::Figures;
using step18::Frontend;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 1;
    std::uint64_t frontends = 1;
    std::uint64_t batch = 8;
    std::uint64_t depth = 2;
    std::uint64_t requests = 60;
    std::uint64_t rate = 0;
    std::uint64_t wait_us = 2000;
    bool is_even = false;
    bool is_quiet = false;
    std::string wrong;

    step18::Terms terms() const {
        return {.shape = {static_cast<std::uint16_t>(batch), static_cast<std::uint16_t>(depth)},
                .clients = static_cast<std::uint16_t>(clients * frontends),
                .is_quiet = is_quiet,
                .wrong = wrong};
    }
    step18::Work work() const {
        return {.requests = requests,
                .rate = static_cast<double>(rate),
                .is_even = is_even,
                .wait = std::chrono::microseconds(wait_us)};
    }
};

using Frontends = std::vector<std::unique_ptr<Frontend>>;

// For what comes in, or is due. The log is written while nothing is.
void wait(const Frontends& all, step18::Recorder& recorder, util::StopSignal& stop) {
    recorder.write_old();
    constexpr std::chrono::milliseconds quiet{50};
    util::Deadline due = recorder.is_empty() ? util::Deadline() : util::deadline_in(quiet);
    std::vector<pollfd> fds{{stop.fd(), POLLIN, 0}};
    for (const auto& one : all) {
        due = step18::earlier(due, one->due());
        fds.push_back({one->connection().completions_fd(), POLLIN, 0});
        fds.push_back({one->connection().events_fd(), POLLIN, 0});
    }
    step18::wait_for_any(fds, due);
    if (stop.requested())
        throw util::Error("stopped by a signal.");
    for (std::size_t i = 0; i < all.size(); ++i)
        if (fds[2 * i + 2].revents != 0)
            all[i]->connection().take_event();
}

void serve_all(const Frontends& all, step18::Recorder& recorder, util::StopSignal& stop) {
    while (!std::ranges::all_of(all, [](const auto& one) { return one->is_done(); })) {
        bool has_worked = false;
        for (const auto& one : all)
            has_worked |= one->advance();
        if (!has_worked)
            wait(all, recorder, stop);
    }
    recorder.write();
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    if (!options.wrong.empty() && options.wrong != "id" && options.wrong != "count" &&
        options.wrong != "length")
        throw util::Error("--wrong is id, count or length, not '" + options.wrong + "'.");
    Figures figures;
    step18::Recorder recorder(log);
    Frontends all;
    while (all.size() < options.frontends)
        all.push_back(std::make_unique<Frontend>(options.client, options.terms(), options.work(),
                                                 all.size() + 1, figures, recorder, log, stop));
    serve_all(all, recorder, stop);
    for (const auto& one : all)
        one->connection().disconnect();

    runlog::Fields fields{{"batch", options.batch},
                          {"depth", options.depth},
                          {"wait_us", options.wait_us},
                          {"rate", options.rate},
                          {"clients", options.frontends}};
    figures.describe(fields);
    log.event("serving", std::move(fields));
    const step18::Model model;
    for (const auto& one : all)
        one->check(model);
    log.event("check", {{"verdict", "good"},
                        {"what", fmt::format("{} results are, bit for bit, those of this program's "
                                             "own model, request by request",
                                             figures.requests())}});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Step 18, client: requests that go to an inference server in batches.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 100,
                        "Programs like this one that begin together");
    command_line.number("--frontends", options.frontends, 1, 32,
                        "Clients in this program, each with a connection and requests of its own");
    command_line.number("--batch", options.batch, 1, step18::most_batch,
                        "Requests in a batch, at most");
    command_line.number("--depth", options.depth, 1, step18::most_depth,
                        "Slots: batches on their way at once, at most");
    command_line.number("--requests", options.requests, 1, 20'000, "Requests of each client");
    command_line.number("--rate", options.rate, 0, 1'000'000,
                        "Requests a second that come to each client; 0: all are there at once");
    command_line.number("--wait", options.wait_us, 0, 10'000'000,
                        "Microseconds that a request waits for others, at most");
    command_line.flag("--even", options.is_even,
                      "Requests come at even distances, not at random ones");
    command_line.flag("--quiet", options.is_quiet,
                      "Write down no posts, completions and batches: to measure");
    command_line.text("--wrong", options.wrong,
                      "Make one thing of the first batch wrong: id, count or length");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
