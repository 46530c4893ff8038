// Lesson 25, the clients of an inference server: they receive requests and send them in batches.
#include <memory>

#include "examples/common/tracer.hpp"
#include "frontend.hpp"

namespace {

using lesson25::Frontend;
using Frontends = std::vector<std::unique_ptr<Frontend>>;

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
};

// Waits for input or the next deadline.
void wait(const Frontends& all, util::StopSignal& stop) {
    util::Deadline due;
    std::vector<pollfd> fds{{stop.fd(), POLLIN, 0}};
    for (const auto& one : all) {
        due = lesson25::earlier(due, one->due());
        common::CmClient& client = one->connection().client;
        fds.push_back({client.completions().channel->fd, POLLIN, 0});
        fds.push_back({client.events_fd(), POLLIN, 0});
    }
    lesson25::wait_for_any(fds, due);
    if (stop.requested())
        throw util::Error("stopped by a signal.");
    for (std::size_t i = 0; i < all.size(); ++i)
        if (fds[2 * i + 2].revents != 0 && all[i]->connection().client.has_ended())
            throw util::Error(
                fmt::format("the server has ended the connection with {} outstanding: its "
                            "log gives the reason if it still runs.",
                            all[i]->connection().unanswered()));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    if (!options.wrong.empty() && options.wrong != "id" && options.wrong != "count" &&
        options.wrong != "length")
        throw util::Error("--wrong is id, count or length, not '" + options.wrong + "'.");
    if (options.is_quiet)
        common::trace_no_requests();

    // 1. Connect. The server reports when all clients have connected.
    const lesson25::Terms terms{
        .shape = {static_cast<std::uint16_t>(options.batch),
                  static_cast<std::uint16_t>(options.depth)},
        .clients = static_cast<std::uint16_t>(options.clients * options.frontends),
        .wrong = options.wrong};
    const lesson25::Work work{.requests = options.requests,
                              .rate = static_cast<double>(options.rate),
                              .is_even = options.is_even,
                              .wait = std::chrono::microseconds(options.wait_us),
                              .is_quiet = options.is_quiet};
    lesson25::Figures figures;
    Frontends all;
    while (all.size() < options.frontends)
        all.push_back(std::make_unique<Frontend>(options.client, terms, work, all.size() + 1,
                                                 figures, log, stop));

    // 2. Send batches and receive results until all requests have theirs.
    while (!std::ranges::all_of(all, [](const auto& one) { return one->is_done(); })) {
        bool has_worked = false;
        for (const auto& one : all)
            has_worked |= one->advance();
        if (!has_worked)
            wait(all, stop);
    }
    for (const auto& one : all)
        one->connection().client.disconnect();

    // 3. Log the times, and check the results.
    runlog::Fields fields{{"batch", options.batch},
                          {"depth", options.depth},
                          {"wait_us", options.wait_us},
                          {"rate", options.rate},
                          {"clients", options.frontends}};
    figures.describe(fields);
    log.event("serving", std::move(fields));
    const lesson25::Model model;
    for (const auto& one : all)
        one->check(model);
    log.event(
        "check",
        {{"verdict", "good"},
         {"what", fmt::format("{} results equal, bit for bit, those of this program's own model",
                              figures.requests())}});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 25, client: sends requests to an inference server in batches.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 100,
                        "Number of these programs, which start together");
    command_line.number("--frontends", options.frontends, 1, 32,
                        "Clients in this program, each with its connection and requests");
    command_line.number("--batch", options.batch, 1, lesson25::most_batch,
                        "Largest number of requests in a batch");
    command_line.number("--depth", options.depth, 1, lesson25::most_depth,
                        "Slots: largest number of outstanding batches");
    command_line.number("--requests", options.requests, 1, 20'000, "Requests of each client");
    command_line.number("--rate", options.rate, 0, 1'000'000,
                        "Requests per second at each client; 0: all at the start");
    command_line.number("--wait", options.wait_us, 0, 10'000'000,
                        "Longest wait of a request for others, in microseconds");
    command_line.flag("--even", options.is_even,
                      "Requests arrive at regular intervals, not at random");
    command_line.flag("--quiet", options.is_quiet,
                      "Do not log requests and batches, for measurements");
    command_line.text("--wrong", options.wrong,
                      "Make one field of the first batch invalid: id, count or length");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
