// Lesson 12, the client: sends numbered messages over a connection that breaks, reconnects, finds
// out which messages were applied, and continues with the next one.
#include <algorithm>
#include <random>
#include <string>

#include "connection.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "util/check.hpp"

namespace {

using std::chrono::milliseconds;

struct Options {
    common::ClientOptions client;
    std::uint64_t messages = 20;
};

// Sends or reads one message. Returns false if the connection is broken: the completion does not
// tell whether the request was executed.
bool perform(const lesson12::Connection& on, ibv_wr_opcode opcode, std::uint64_t wr_id,
             util::StopSignal& stop, milliseconds timeout) {
    const rdma::Mr& mr = opcode == IBV_WR_SEND ? on.out_mr : on.in_mr;
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr->addr),
                .length = lesson12::Message::size,
                .lkey = mr->lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = opcode,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = on.theirs.va, .rkey = on.theirs.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(on.qp.get(), &wr, &bad_wr));
    const auto wc = common::next_completion(on.cq.get(), stop, util::deadline_in(timeout));
    return wc && wc->status == IBV_WC_SUCCESS;
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const milliseconds timeout = options.client.timeout;
    std::mt19937 random(std::random_device{}());
    milliseconds pause{10};
    std::uint64_t sent = 0, connections = 0;
    lesson12::Applied applied;
    while (applied.sequence < options.messages && !stop.requested()) {
        // 1. Connect. Retries the TCP connection until --timeout.
        const net::TimeLimit limit{stop, util::deadline_in(timeout)};
        const util::Address server = options.client.resolve_server();
        lesson12::Connection connection(
            net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit),
            limit);
        ++connections;
        const auto read_applied = [&] {
            const bool is_read = perform(connection, IBV_WR_RDMA_READ, 0, stop, timeout);
            if (is_read)
                applied = lesson12::Applied::parse(connection.in);
            return is_read;
        };

        // 2. READ what the server has applied. A READ changes nothing, so it may be repeated.
        bool is_up = read_applied();
        if (connections > 1)
            log.note("connection " + std::to_string(connections) + ": " + std::to_string(sent) +
                     " messages acknowledged, " + std::to_string(applied.sequence) + " applied");

        // 3. Continue after the last applied message. A SEND adds to a sum, so it must not be
        // applied twice.
        sent = applied.sequence;
        while (is_up && sent < options.messages) {
            const lesson12::Message message{.sequence = sent + 1, .amount = sent + 1};
            std::ranges::copy(message.serialize(), connection.out.begin());
            is_up = perform(connection, IBV_WR_SEND, message.sequence, stop, timeout);
            if (is_up)
                ++sent;
        }

        // 4. All messages are acknowledged; wait until all are applied.
        while (is_up && applied.sequence < options.messages)
            is_up = common::nap(stop, limit.deadline) && read_applied();

        // 5. Broken: pause before the next attempt, with exponential backoff and jitter, so that a
        // server's clients do not all reconnect at the same time.
        if (!is_up) {
            std::uniform_int_distribution<milliseconds::rep> some(pause.count() / 2, pause.count());
            util::wait_readable(stop.fd(), stop, util::deadline_in(milliseconds(some(random))));
            pause = std::min(2 * pause, milliseconds(1000));
        }
    }
    if (stop.requested())
        return 0;
    log.note(std::to_string(applied.sequence) + " messages over " + std::to_string(connections) +
             " connections");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 12, client: sends messages to be applied once, over connections that break.");
    Options options;
    command_line.add(options.client);
    command_line.number("--messages", options.messages, 1, 100'000, "Messages to send in total");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
