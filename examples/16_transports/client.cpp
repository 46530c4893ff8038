// Lesson 16, the client: the same messages over each transport, then the features specific to one.
#include <algorithm>
#include <array>

#include "datagrams.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "multicast.hpp"
#include "net/tcp.hpp"
#include "shared_queue.hpp"
#include "transports.hpp"
#include "xrc.hpp"

namespace {

using lesson16::Part;
using lesson16::Side;

constexpr std::uint32_t q_key = 0x11223344;

struct Options {
    common::ClientOptions client;
    std::string transport = "all";
    std::uint64_t messages = 8;
    std::uint64_t length = 6000;
    std::string group;
    bool messages_only = false;
};

lesson16::Result send_over(const Side& side, const Options& options, Part part) {
    // UD is limited to the path MTU: a longer message is lost without an error.
    const std::uint64_t limit = part == Part::Ud ? side.port.path_mtu : options.length;
    const auto result = lesson16::send_numbered(
        side, {.part = part,
               .messages = static_cast<std::uint32_t>(options.messages),
               .length = static_cast<std::uint32_t>(std::min(options.length, limit)),
               .q_key = q_key});
    lesson16::log_result(side.log, result);
    return result;
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto is_wanted = [&](std::string_view name) {
        return options.transport == "all" || options.transport == name;
    };
    if (!std::ranges::any_of(std::array{"rc", "uc", "ud", "xrc"}, is_wanted))
        throw util::Error(fmt::format(
            "--transport '{}' is not valid: choose rc, uc, ud, xrc or all.", options.transport));
    const net::TimeLimit limit{stop, util::deadline_in(options.client.timeout)};
    const util::Address server = options.client.resolve_server();
    const ibv_gid group = lesson16::group_of(!options.group.empty() ? options.group
                                             : server.is_ipv6()     ? "ff05::10:2:3"
                                                                    : "239.10.2.3");
    net::TcpChannel channel(
        net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit));
    lesson06::Port port = lesson06::open_port(channel.socket().local());
    rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const Side side{channel, std::move(port),       std::move(pd), 0xc11000, log,
                    stop,    options.client.timeout};
    const bool has_xrc = lesson16::has_xrc(side);
    if (options.transport == "xrc" && !has_xrc)
        throw util::Error(lesson16::no_xrc(side));

    // 1. The same messages over RC, UC and UD.
    std::vector<lesson16::Result> results;
    if (is_wanted("rc"))
        results.push_back(send_over(side, options, Part::Rc));
    if (is_wanted("uc"))
        results.push_back(send_over(side, options, Part::Uc));
    if (is_wanted("ud"))
        results.push_back(send_over(side, options, Part::Ud));

    // 2. The features specific to one transport.
    if (is_wanted("ud") && !options.messages_only) {
        lesson16::send_datagrams(side, q_key);
        lesson16::send_to_group(side, group, q_key);
    }
    if (is_wanted("rc") && !options.messages_only)
        lesson16::send_to_shared_queue(side);
    if (is_wanted("xrc") && !options.messages_only) {
        if (has_xrc)
            lesson16::send_over_xrc(side);
        else
            log.note(lesson16::no_xrc(side));
    }
    lesson16::log_table(log, results);
    send(side, lesson16::Request{.part = Part::Done});
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 16, client: sends the same messages over RC, UC and UD, "
        "and compares the transports.");
    Options options;
    command_line.add(options.client);
    command_line.text("--transport", options.transport, "rc, uc, ud, xrc, or all");
    command_line.number("--messages", options.messages, 1, lesson16::most_messages,
                        "Messages to send over each transport");
    command_line.size("--length", options.length, 4, lesson16::most_bytes,
                      "Bytes of each message; over UD at most the path MTU");
    command_line.text("--group", options.group, "Multicast address, 239.10.2.3 or ff05::10:2:3");
    command_line.flag("--messages-only", options.messages_only,
                      "Send these messages only; skip the other parts");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
