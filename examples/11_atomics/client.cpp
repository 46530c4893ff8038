// Step 11, the active side: many clients, each a connection and a thread of its own, on the same
// two words. One is counted up, the other one is raised to the highest bid; and two requests are
// refused.
#include <future>
#include <memory>

#include <fmt/format.h>

#include "counting_client.hpp"
#include "refused.hpp"

namespace {

using step11::CountingClient;
using step11::Key;
using step11::Words;
using Clients = std::vector<std::unique_ptr<CountingClient>>;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 4;
    std::uint64_t adds = 4;
    std::uint64_t bids = 2;
    std::uint64_t in_flight = 2;
};

void log_proven(runlog::Log& log, const std::string& what) {
    log.event("check", {{"verdict", "good"}, {"what", what}});
}

// Each client's work on a thread of its own: what each of them makes of it, in their order.
template <typename Work>
auto at_once(const Clients& clients, Work work) {
    using Result = std::invoke_result_t<Work, CountingClient&>;
    std::vector<std::future<Result>> futures;
    futures.reserve(clients.size());
    for (const auto& client : clients)
        futures.push_back(std::async(std::launch::async, work, std::ref(*client)));
    std::vector<Result> results;
    results.reserve(futures.size());
    for (auto& future : futures)
        results.push_back(future.get());
    return results;
}

// 1. FETCH_ADD: nobody waits for anybody, and no update is lost. As each finds what the one before
// it has left, the values found are numbers that are given out: 0 to the last, each once.
void count(const Clients& clients, const Options& options, runlog::Log& log) {
    const auto found =
        at_once(clients, [&](CountingClient& client) { return client.count(options.adds); });
    std::vector<std::uint64_t> all;
    for (const auto& of_one : found)
        all.insert(all.end(), of_one.begin(), of_one.end());
    std::ranges::sort(all);
    for (std::uint64_t expected = 0; expected < all.size(); ++expected)
        if (all[expected] != expected)
            throw util::Error(fmt::format(
                "a FETCH_ADD found {}, where {} was to come: is another client counting, too?",
                all[expected], expected));
    log_proven(log,
               fmt::format("{} FETCH_ADDs found 0 to {}, each once", all.size(), all.size() - 1));
}

// 2. CMP_SWAP: the clients' bids rise by turns, and each knows at first of none but its own.
void bid(const Clients& clients, const Options& options, runlog::Log& log) {
    const auto contests = at_once(clients, [&](CountingClient& client) {
        step11::Contest contest;
        for (std::uint64_t round = 0; round < options.bids; ++round)
            client.raise_maximum_to(round * clients.size() + client.number(), contest);
        return contest;
    });
    step11::Contest all;
    for (const step11::Contest& contest : contests) {
        all.swaps += contest.swaps;
        all.lost += contest.lost;
    }
    log.event("check",
              {{"verdict", "good"},
               {"what", fmt::format("{} CMP_SWAPs for {} bids: {} swapped, {} lost", all.swaps,
                                    options.bids * clients.size(), all.swaps - all.lost, all.lost)},
               {"swaps", all.swaps},
               {"lost", all.lost}});
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    Clients clients;  // all are connected before one begins
    while (clients.size() < options.clients)
        clients.push_back(std::make_unique<CountingClient>(clients.size() + 1, options.client,
                                                           options.in_flight, log, stop));
    count(clients, options, log);
    bid(clients, options, log);

    // 3. Refused by the peer's device; and the words are as they were.
    log.note("trying an address that 8 does not divide");
    step11::be_refused(options.client, Key::WithAtomics, 1, IBV_WC_REM_INV_REQ_ERR, log, stop);
    log.note("trying a key without the right to atomics");
    step11::be_refused(options.client, Key::WithoutAtomics, 0, IBV_WC_REM_ACCESS_ERR, log, stop);

    // 4. What the words are in the end. The server looks at them, too.
    const std::uint64_t counter = clients.front()->read(offsetof(Words, counter));
    const std::uint64_t maximum = clients.front()->read(offsetof(Words, maximum));
    log.event("words", {{"counter", counter}, {"maximum", maximum}});
    for (const auto& client : clients)
        client->disconnect();
    if (counter != options.clients * options.adds || maximum != options.clients * options.bids)
        throw util::Error(fmt::format("the counter should be {}, and the maximum {}.",
                                      options.clients * options.adds,
                                      options.clients * options.bids));
    log_proven(log, "the counter is the sum of all that was added, the maximum the highest bid");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Step 11, client: many clients at once on two words of the server's memory.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 1000, "Be so many clients at once");
    command_line.number("--adds", options.adds, 1, 1'000'000, "FETCH_ADDs of each");
    command_line.number("--bids", options.bids, 1, 1'000'000, "Bids of each for the maximum");
    command_line.number("--in-flight", options.in_flight, 1, 128, "FETCH_ADDs posted at once");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
