// Lesson 13, the client: several clients in one program, each with its own connection. Their
// requests are concurrently in flight to the same two words: a counter, and a maximum that is
// raised to the highest bid. Then two requests are refused.
#include <deque>

#include "cmp_swap.hpp"
#include "examples/common/tracer.hpp"
#include "fetch_add.hpp"
#include "flush.hpp"
#include "refused.hpp"

namespace {

using lesson13::Key;
using lesson13::Words;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 4;
    std::uint64_t adds = 4;
    std::uint64_t bids = 2;
    std::uint64_t in_flight = 2;
    bool flush = false;
};

// Throws util::Error unless each number from 0 was found exactly once.
void check_each_once(std::vector<std::uint64_t> found) {
    std::ranges::sort(found);
    for (std::uint64_t expected = 0; expected < found.size(); ++expected)
        if (found[expected] != expected)
            throw util::Error(fmt::format(
                "a FETCH_ADD returned {} instead of {}: does another client use the counter, too?",
                found[expected], expected));
}

void log_good(runlog::Log& log, const std::string& what, runlog::Fields more = {}) {
    runlog::Fields fields{{"verdict", "good"}, {"what", what}};
    fields.insert(fields.end(), more.begin(), more.end());
    log.event("check", std::move(fields));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // 1. Connect all clients before the first begins.
    std::deque<lesson13::Connection> clients;
    while (clients.size() < options.clients)
        clients.emplace_back(clients.size() + 1, options.client, options.in_flight, log, stop);

    // 2. FETCH_ADD: all clients count.
    const std::vector<std::uint64_t> found = lesson13::count(clients, options.adds, log);
    check_each_once(found);
    log_good(log,
             fmt::format("{} FETCH_ADDs found 0 to {}, each once", found.size(), found.size() - 1));

    // 3. CMP_SWAP: all clients bid for the maximum.
    const lesson13::Contest contest = lesson13::bid(clients, options.bids, log);
    log_good(log,
             fmt::format("{} CMP_SWAPs for {} bids: {} swapped, {} lost", contest.swaps,
                         options.bids * clients.size(), contest.swaps - contest.lost, contest.lost),
             {{"swaps", contest.swaps}, {"lost", contest.lost}});

    // 4. Two requests that the server's device refuses, without changing the words.
    log.note("trying an address that is not a multiple of 8");
    lesson13::be_refused(options.client, Key::WithAtomics, 1, IBV_WC_REM_INV_REQ_ERR, log, stop);
    log.note("trying a key without the right to atomics");
    lesson13::be_refused(options.client, Key::WithoutAtomics, 0, IBV_WC_REM_ACCESS_ERR, log, stop);

    // 5. An ATOMIC WRITE and a FLUSH, if the device has them.
    if (options.flush) {
        constexpr std::uint64_t stamp = 42;
        lesson13::write_and_flush(options.client, stamp, log, stop);
        if (lesson13::read(clients.front(), offsetof(Words, stamp), log) != stamp)
            throw util::Error("the stamp is not what the ATOMIC WRITE wrote.");
        log_good(log, "the stamp is written, and flushed to memory");
    }

    // 6. The final values. The server reads them, too.
    const std::uint64_t counter = lesson13::read(clients.front(), offsetof(Words, counter), log);
    const std::uint64_t maximum = lesson13::read(clients.front(), offsetof(Words, maximum), log);
    log.event("words", {{"counter", counter}, {"maximum", maximum}});
    for (lesson13::Connection& client : clients)
        client.client.disconnect();
    if (counter != options.clients * options.adds || maximum != options.clients * options.bids)
        throw util::Error(fmt::format("the counter should be {}, and the maximum {}.",
                                      options.clients * options.adds,
                                      options.clients * options.bids));
    log_good(log, "the counter is the sum of all additions, and the maximum is the highest bid");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 13, client: many clients change two words of the server's memory concurrently.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 1000,
                        "Number of clients, each with its connection");
    command_line.number("--adds", options.adds, 1, 1'000'000, "FETCH_ADDs of each client");
    command_line.number("--bids", options.bids, 1, 1'000'000,
                        "Bids of each client for the maximum");
    command_line.number("--in-flight", options.in_flight, 1, 128,
                        "Outstanding FETCH_ADDs of each client");
    command_line.flag("--flush", options.flush,
                      "Also an ATOMIC WRITE and a FLUSH (Soft-RoCE: from Linux 6.2 on)");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
