// Step 15, the active side: what becomes of WRITEs whose packets are lost, and of one that nobody
// answers.
#include "examples/common/link_end.hpp"
#include "silence.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    step15::Settings settings;
    bool transfer = false;
    bool silence = false;
};

int run(Options options, runlog::Log& log, util::StopSignal& stop) {
    if (!options.transfer && !options.silence)
        options.transfer = options.silence = true;
    const common::LinkEnd end(options.client, log, stop);
    const common::LinkSide& side = end.side();
    if (options.transfer) {
        log.note("1. a transfer: what was sent, and how often");
        step15::transfer(side, options.settings);
    }
    if (options.silence) {
        log.note("2. silence: a WRITE that nobody answers");
        step15::meet_silence(side, options.settings);
    }
    step15::Ask{}.send(side.channel, side.patience());
    side.meet();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Step 15, client: WRITEs whose packets are lost, and one that nobody answers.\n"
        "Packets are lost where lab/lab wire or lab/lab netem (or tc) has them lost.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);
    command_line.add(options.client);
    command_line.flag("--transfer", options.transfer, "Only this part: the WRITEs");
    command_line.flag("--silence", options.silence, "Only this part: a peer that is gone");
    command_line.size("--size", options.settings.bytes.size, 1, step15::most_memory,
                      "Bytes to transfer [1MiB]");
    command_line.size("--chunk", options.settings.bytes.chunk, 1, 1 << 30,
                      "Bytes of a WRITE [64KiB]");
    command_line.number("--depth", options.settings.depth, 1, 1024,
                        "WRITEs that are under way at once");
    command_line.path_mtu(options.settings.path_mtu,
                          "Bytes of a packet at most: the less, the more packets");
    command_line.number("--ack-timeout", options.settings.ack_timeout, 1, 31,
                        "A packet without an answer is sent again after\n4.096 us * 2^N: 14 is 67 "
                        "ms, 16 is 268 ms");
    command_line.number("--retry-cnt", options.settings.retry_cnt, 0, 7,
                        "Times in a row; 7: without end, for Soft-RoCE");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
