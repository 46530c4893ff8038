// Step 20, the active side: the same WRITEs with ever more of them under way, and then with as many
// as the answers' delay allows. The bottleneck is the cable's: lab/lab wire 'limit to ...'.
#include <bit>
#include <charconv>

#include "exchange/tcp.hpp"
#include "lesson/program.hpp"
#include "transfer.hpp"
#include "util/check.hpp"

namespace {

struct Options {
    lesson::ClientOptions client;
    step20::Settings settings;
    std::string windows = "1,4,16,64,adaptive";
};

struct Named {
    std::string name;
    step20::Window window;
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
            windows.push_back({word, step20::Window::adaptive(options.settings.most)});
        else if (is_number && chunks <= options.settings.most)
            windows.push_back({word, step20::Window::fixed(chunks)});
        else
            throw util::Error(
                fmt::format("--windows has numbers from 1 to {} (--most) and 'adaptive', with ',' "
                            "between them, not '{}'.",
                            options.settings.most, word));
    }
    return windows;
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto windows = windows_of(options);
    if (!std::has_single_bit(options.settings.path_mtu))
        throw util::Error(fmt::format("--path-mtu is 256, 512, 1024, 2048 or 4096, not {}.",
                                      options.settings.path_mtu));
    const util::Address server = options.client.resolve_server();
    exchange::TcpChannel channel(
        exchange::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()),
                              {stop, util::deadline_in(options.client.timeout)}));
    const auto [context, gid] = verbs::open_device_of(channel.socket().local());
    log.event("device", verbs::describe_device(context.get(), gid.port, &gid));
    const verbs::Pd pd{util::check_ptr(ibv_alloc_pd(context.get()), "ibv_alloc_pd")};
    const lesson::LinkSide side{channel, context.get(),         gid, pd.get(), log,
                                stop,    options.client.timeout};
    for (const auto& [name, window] : windows)
        step20::transfer(side, options.settings, name, window);
    step20::Ask{}.send(channel, side.patience());
    side.meet();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "client",
        "Step 20, client: how much to have under way through a bottleneck.\n"
        "The bottleneck is set with lab/lab wire 'limit to 20Mbit/s queue 32 packets from "
        "client'.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);
    command_line.add(options.client);
    command_line.text("--windows", options.windows,
                      "Chunks under way, one transfer each; 'adaptive': by the answers' delay");
    command_line.size("--size", options.settings.size, 1, step20::most_memory,
                      "Bytes of each transfer [256KiB]");
    command_line.size("--chunk", options.settings.chunk, 1, 1 << 20, "Bytes of a WRITE [4KiB]");
    command_line.number("--most", options.settings.most, 1, 1024, "Chunks under way at most");
    command_line.number("--path-mtu", options.settings.path_mtu, 256, 4096,
                        "Bytes of a packet at most");
    command_line.number("--traffic-class", options.settings.traffic_class, 0, 255,
                        "DSCP and ECN of what is sent; 2: ECN-capable, ECT(0)");
    command_line.number("--ack-timeout", options.settings.ack_timeout, 1, 31,
                        "A packet without an answer is sent again after\n4.096 us * 2^N");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
