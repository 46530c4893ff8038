// Lesson 10, the client: how a program learns that its requests are complete, in five parts.
#include "credits.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "inline_data.hpp"
#include "overrun.hpp"
#include "signalling.hpp"
#include "waiting.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    bool waiting = false;
    bool signalling = false;
    bool inline_data = false;
    bool overrun = false;
    bool credits = false;
    lesson10::WaitingOptions wait;
    lesson10::SignallingOptions signal;
    lesson10::CreditOptions credit;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const bool all = !options.waiting && !options.signalling && !options.inline_data &&
                     !options.overrun && !options.credits;
    const util::Address server = options.client.resolve_server();
    net::TcpChannel channel(net::connect_tcp(server,
                                             options.client.local.resolve(0, server.is_ipv6()),
                                             {stop, util::deadline_in(options.client.timeout)}));
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const lesson10::Side side{channel, port, pd.get(), 0xc12000, log, stop, options.client.timeout};

    if (all || options.waiting) {
        log.note("1. waiting: polling, or events");
        lesson10::compare_waiting(side, options.wait);
        lesson10::miss_a_wake_up(side);
    }
    if (all || options.signalling) {
        log.note("2. signalling: not every request needs a completion");
        lesson10::signal_some(side, options.signal);
        lesson10::fill_the_queue(side);
    }
    if (all || options.inline_data) {
        log.note("3. inline: when a buffer may be used again");
        lesson10::send_inline(side);
    }
    if (all || options.overrun) {
        log.note("4. overrun: a completion queue that is too small");
        lesson10::overrun_own_queue(side);
        lesson10::overrun_their_queue(side);
    }
    if (all || options.credits) {
        log.note("5. credits: the receiver limits the number of messages");
        lesson10::send_with_and_without_credits(side, options.credit);
    }
    lesson10::Ask{.task = lesson10::Task::Done}.send(side);
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 10, client: five parts about completions and flow control.");
    Options options;
    command_line.add(options.client);
    command_line.flag("--waiting", options.waiting, "Run this part: wait by polling and by events");
    command_line.flag("--signalling", options.signalling,
                      "Run this part: completions for some requests only");
    command_line.flag("--inline", options.inline_data, "Run this part: inline data");
    command_line.flag("--overrun", options.overrun,
                      "Run this part: completion queues that are too small");
    command_line.flag("--credits", options.credits, "Run this part: credits of the receiver");
    command_line.number("--pings", options.wait.pings, 1, 100'000, "WRITEs for each way to wait");
    command_line.number("--idle", options.wait.idle_ms, 1, 2000,
                        "Milliseconds without work for each way to wait");
    command_line.number("--writes", options.signal.writes, 1, 100'000,
                        "WRITEs for each way to signal");
    command_line.number("--signal-every", options.signal.every, 1, 1000, "Signal one request in N");
    command_line.number("--messages", options.credit.messages, 1, 10'000,
                        "Messages in each run, with and without credits");
    command_line.number("--receives", options.credit.receives, 1, 1000,
                        "Receives that the server posts for these messages");
    command_line.number("--work", options.credit.work_ms, 0, 1000,
                        "Milliseconds of work of the server for each message");
    command_line.number("--rnr-timer", options.credit.rnr_timer, 0, 31,
                        "RNR timer code, the wait that an RNR NAK asks for:\n1 is 0.01 ms, 14 is "
                        "1.28 ms, 0 is 655.36 ms");
    command_line.number("--long-rnr-timer", options.credit.long_rnr_timer, 0, 31,
                        "RNR timer code of the second run without credits:\n24 is 40.96 ms");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
