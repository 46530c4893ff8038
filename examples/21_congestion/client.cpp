// Lesson 21, the client: the same WRITEs with more and more of them outstanding, and then with a
// window that adapts to their delay. The link emulator provides the bottleneck: lab/lab wire 'limit
// to ...'.
#include <charconv>

#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "transfer.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    lesson21::Settings settings;
    std::string windows = "1,4,16,64,adaptive";
};

struct Named {
    std::string name;
    lesson21::Window window;
};

std::vector<Named> windows_of(const Options& options) {
    std::vector<Named> windows;
    for (std::string_view rest = options.windows; !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::string word(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        std::uint64_t chunks = 0;
        const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), chunks);
        const bool is_number =
            error == std::errc{} && stop == word.data() + word.size() && chunks > 0;
        if (word == "adaptive")
            windows.push_back({word, lesson21::Window::adaptive(options.settings.most)});
        else if (is_number && chunks <= options.settings.most)
            windows.push_back({word, lesson21::Window::fixed(chunks)});
        else
            throw util::Error(fmt::format(
                "--windows: '{}' is neither a number from 1 to {} (--most) nor 'adaptive'.", word,
                options.settings.most));
    }
    return windows;
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto windows = windows_of(options);
    const common::RcEnd end(options.client, log, stop);
    const common::RcSide& side = end.side();
    for (const auto& [name, window] : windows)
        lesson21::transfer(side, options.settings, name, window);
    lesson21::Ask{}.send(side.channel, side.limit());
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 21, client: sends through a bottleneck with different numbers of outstanding "
        "chunks.\nSet the bottleneck with lab/lab wire 'limit to 20Mbit/s queue 32 packets from "
        "client'.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);
    command_line.add(options.client);
    command_line.text(
        "--windows", options.windows,
        "Outstanding chunks, one transfer for each value;\n'adaptive': set from their delay");
    command_line.size("--size", options.settings.bytes.size, 1, lesson21::most_memory,
                      "Bytes of each transfer [256KiB]");
    command_line.size("--chunk", options.settings.bytes.chunk, 1, 1 << 20,
                      "Bytes of a WRITE [4KiB]");
    command_line.number("--most", options.settings.most, 1, 1024,
                        "Largest number of outstanding chunks");
    command_line.path_mtu(options.settings.path_mtu, "Largest payload of a packet");
    command_line.number("--traffic-class", options.settings.traffic_class, 0, 255,
                        "DSCP and ECN of the sent packets; 2: ECN-capable, ECT(0)");
    command_line.number(
        "--ack-timeout", options.settings.ack_timeout, 1, 31,
        "A packet is retransmitted after\n4.096 us * 2^N without an acknowledgement");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
