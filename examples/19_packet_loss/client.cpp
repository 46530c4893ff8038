// Lesson 19, the client: the effect of packet loss on WRITEs, and of a peer that does not respond.
#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "silence.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    lesson19::Settings settings;
    bool transfer = false;
    bool silence = false;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const bool all = !options.transfer && !options.silence;
    const common::RcEnd end(options.client, log, stop);
    const common::RcSide& side = end.side();
    if (all || options.transfer) {
        log.note("1. a transfer: which packets were sent, and how often");
        lesson19::transfer(side, options.settings);
    }
    if (all || options.silence) {
        log.note("2. silence: a WRITE without a response");
        lesson19::write_to_nobody(side, options.settings);
    }
    lesson19::Ask{}.send(side.channel, side.limit());
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 19, client: WRITEs whose packets are lost, and one WRITE without a response.\n"
        "lab/lab wire, lab/lab netem or tc make the link lose packets.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);
    command_line.add(options.client);
    command_line.flag("--transfer", options.transfer, "Run this part: the WRITEs");
    command_line.flag("--silence", options.silence, "Run this part: a peer that has disappeared");
    command_line.size("--size", options.settings.bytes.size, 1, lesson19::most_memory,
                      "Bytes to transfer [1MiB]");
    command_line.size("--chunk", options.settings.bytes.chunk, 1, 1 << 30,
                      "Bytes of a WRITE [64KiB]");
    command_line.number("--depth", options.settings.depth, 1, 1024,
                        "WRITEs outstanding at the same time");
    command_line.path_mtu(options.settings.path_mtu, "Path MTU: the largest payload of a packet");
    command_line.number("--ack-timeout", options.settings.timeout, 1, 31,
                        "timeout: a packet without an ACK is retransmitted after\n4.096 us * 2^N: "
                        "14 is 67 ms, 16 is 268 ms");
    command_line.number("--retry-cnt", options.settings.retry_cnt, 0, 7,
                        "retry_cnt: retransmissions in a row; 7: without limit on Soft-RoCE");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
