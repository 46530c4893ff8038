// Step 12, the client: how a program learns that its work is done, in five parts.
#include "credit_sender.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "full_queue.hpp"
#include "inline_data.hpp"
#include "overrun_responder.hpp"
#include "signalling.hpp"
#include "waiting.hpp"
#include "wake_up.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    bool waiting = false;
    bool signalling = false;
    bool inline_data = false;
    bool overrun = false;
    bool credits = false;
    step12::WaitingOptions wait;
    step12::SignallingOptions signal;
    step12::CreditOptions credit;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const bool all = !options.waiting && !options.signalling && !options.inline_data &&
                     !options.overrun && !options.credits;
    const util::Address server = options.client.resolve_server();
    net::TcpChannel channel(net::connect_tcp(server,
                                             options.client.local.resolve(0, server.is_ipv6()),
                                             {stop, util::deadline_in(options.client.timeout)}));
    const step06::Port port = step06::open_port(channel.socket().local());
    const rdma::Pd pd{util::check_ptr(ibv_alloc_pd(port.context.get()), "ibv_alloc_pd")};
    const step12::Side side{channel, port, pd.get(), 0xc12000, log, stop, options.client.timeout};

    if (all || options.waiting) {
        log.note("1. waiting: polling, or events");
        step12::compare_waiting(side, options.wait);
        step12::miss_a_wake_up(side);
    }
    if (all || options.signalling) {
        log.note("2. signalling: not every request needs a completion");
        step12::signal_some(side, options.signal);
        step12::fill_the_queue(side);
    }
    if (all || options.inline_data) {
        log.note("3. inline: when a buffer may be used again");
        step12::send_inline(side);
    }
    if (all || options.overrun) {
        log.note("4. overrun: a completion queue that is too small");
        step12::overrun_own_queue(side);
        step12::overrun_their_queue(side);
    }
    if (all || options.credits) {
        log.note("5. credits: a receiver that says how many messages may come");
        step12::send_with_and_without_credits(side, options.credit);
    }
    step12::Ask{.task = step12::Task::Done}.send(side);
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Step 12, client: how a program learns that its work is done, in five parts.");
    Options options;
    command_line.add(options.client);
    command_line.flag("--waiting", options.waiting,
                      "Only this part (and others named): polling, or events");
    command_line.flag("--signalling", options.signalling,
                      "Only this part: a completion for some requests only");
    command_line.flag("--inline", options.inline_data,
                      "Only this part: buffers that may be used again at once");
    command_line.flag("--overrun", options.overrun,
                      "Only this part: completion queues that are too small");
    command_line.flag("--credits", options.credits,
                      "Only this part: a receiver that says how much may come");
    command_line.number("--pings", options.wait.pings, 1, 100'000, "WRITEs for each way to wait");
    command_line.number("--idle", options.wait.idle_ms, 1, 2000,
                        "Milliseconds to wait for nothing, in each way");
    command_line.number("--writes", options.signal.writes, 1, 100'000,
                        "WRITEs for each way to signal");
    command_line.number("--signal-every", options.signal.every, 1, 1000,
                        "One request in so many has a completion");
    command_line.number("--messages", options.credit.messages, 1, 10'000,
                        "Messages with credits, and without");
    command_line.number("--receives", options.credit.receives, 1, 1000,
                        "Receives that the server has posted for them");
    command_line.number("--work", options.credit.work_ms, 0, 1000,
                        "Milliseconds of work that each makes for the server");
    command_line.number("--rnr-timer", options.credit.rnr_timer, 0, 31,
                        "Code of the time a RNR NAK asks for: 1 is 0.01 ms,\n14 is 1.28 ms, 0 is "
                        "655.36 ms");
    command_line.number("--long-rnr-timer", options.credit.long_rnr_timer, 0, 31,
                        "The same for the second run without credits:\n24 is 40.96 ms");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
