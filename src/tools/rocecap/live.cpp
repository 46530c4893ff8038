// rocecap live: decodes, saves, or forwards the packets of a network interface.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/device_list.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/live_run.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/number.hpp"

namespace rocecap {
namespace {

constexpr const char* live_footer = R"(Examples:
  rocecap live --list                           list the interfaces and RDMA devices
  sudo rocecap live -i eth0                     print packets until Ctrl-C
  sudo rocecap live -i eth0 -w run.pcapng -d 10 the same for 10 s, and write them to a file
  sudo rocecap live -i eth0 -q -w run.pcapng --rotate-size 100 --keep 20
                                                keep the last two gigabytes
  sudo rocecap live -i eth0 -w - | wireshark -k -i -
Without --filter, RoCEv2 (UDP port 4791, over IPv4 and IPv6) and RoCEv1 (EtherType 0x8915) are
captured, with or without one VLAN tag. A hardware NIC that offloads RDMA does not show these
packets on its Ethernet interface: capture on its RDMA device (-i mlx5_0) if libpcap supports that,
capture on the other host, or mirror the switch's port.)";

int print_list(bool json) {
    const auto list = render::DeviceList::gather();
    capture::Sink sink = capture::Sink::standard_output();
    sink.append(json ? list.json() : list.text());
    sink.close();
    return fine;
}

// CLI11's own validator accepts "nan".
CLI::Validator is_duration() {
    return {[](const std::string& text) -> std::string {
                constexpr double longest = 1e8;
                const auto seconds = util::number_of<double>(text);
                // This form rejects NaN.
                if (seconds && *seconds >= 0 && *seconds <= longest)
                    return {};
                return fmt::format("'{}' is not a number of seconds from 0 to 100000000", text);
            },
            ""};
}

// The size of each capture file, and the number of files to keep.
struct Rotating {
    std::uint64_t megabytes = 0;  // 0: no limit
    std::uint64_t seconds = 0;    // 0: no limit
    CLI::Option* keep = nullptr;
};

void add_rotation(CLI::App& command, LiveRun::Options& options, Rotating& rotating) {
    constexpr int most = 1'000'000;
    command
        .add_option("--rotate-size", rotating.megabytes,
                    "With --write: start a new file after this many\nmegabytes (10^6 bytes): "
                    "run_00001.pcapng, …")
        ->check(CLI::Range(1, most).description(""))
        ->type_name("MB");
    command
        .add_option("--rotate-seconds", rotating.seconds,
                    "Start a new file after this many seconds")
        ->check(CLI::Range(1, most).description(""))
        ->type_name("SECONDS");
    rotating.keep = add_count_option(command, "--keep", options.rotation.keep,
                                     "Keep only the last N of these files");
}

void settle_rotation(const Rotating& rotating, LiveRun::Options& options) {
    if (rotating.megabytes != 0)
        options.rotation.bytes = rotating.megabytes * 1'000'000;
    if (rotating.seconds != 0)
        options.rotation.time = std::chrono::seconds(rotating.seconds);
    if (options.rotation.is_wanted() && options.write.value_or("-") == "-")
        throw CLI::ValidationError(
            "--rotate-size and --rotate-seconds need a file name, as in --write run.pcapng");
    if (!rotating.keep->empty() && !options.rotation.is_wanted())
        throw CLI::ValidationError("--keep needs --rotate-size or --rotate-seconds");
}

}  // namespace

void add_live(CLI::App& app, Context& context) {
    auto options = std::make_shared<LiveRun::Options>();
    CLI::App* command =
        app.add_subcommand("live", "Capture packets on an interface and decode them");
    auto* interface = command
                          ->add_option("-i,--interface", options->interface,
                                       "Capture on this interface; 'any': on all")
                          ->type_name("IF");
    auto list = std::make_shared<bool>(false);
    command->add_flag("--list", *list,
                      "List the interfaces and RDMA devices that can be\ncaptured on (with --json: "
                      "as JSON), then exit");
    command
        ->add_option("-f,--filter", options->filter,
                     "Capture filter in tcpdump's syntax: pcap-filter(7)")
        ->type_name("BPF");
    command
        ->add_option("-w,--write", options->write,
                     "Write the packets to this pcapng file; '-': to\nstandard output, and do not "
                     "decode them")
        ->type_name("FILE");
    auto rotating = std::make_shared<Rotating>();
    add_rotation(*command, *options, *rotating);
    command->add_option("-d,--duration", options->seconds, "Stop after this many seconds")
        ->check(is_duration())
        ->type_name("SECONDS");
    add_count_option(*command, "-c,--count", options->count, "Stop after this many packets");
    Printer::add_options(*command, options->display);
    command->add_flag("-q,--quiet", options->quiet, "With --write: do not decode the packets");
    command
        ->add_option("-s,--snaplen", options->snaplen,
                     "Capture at most this many bytes of each packet: 128\nhold all headers, 384 "
                     "also the connection manager's\nmessages; the ICRC needs whole packets")
        ->check(CLI::Range(1, 262144).description(""))
        ->type_name("BYTES");
    command
        ->add_option("-B,--buffer", options->buffer_mib,
                     "Size of the kernel's capture buffer, in MiB\n(default: 64)")
        ->check(CLI::Range(1, 1024).description(""))
        ->type_name("MIB");
    command->add_flag("-p,--promiscuous", options->promiscuous,
                      "Also capture packets addressed to other machines");
    command
        ->add_option("--user", options->user,
                     "Run as this user instead of root when the capture has\nstarted; default: the "
                     "caller of sudo, or nobody")
        ->type_name("NAME");
    command->footer(live_footer);
    command->callback([&context, options, list, interface, rotating] {
        if (!*list && interface->empty())
            throw CLI::RequiredError("--interface (or --list)");
        settle_rotation(*rotating, *options);
        context.run = [&context, options, list] {
            if (*list)
                return print_list(options->display.json);
            options->display.colour = context.colour;
            options->display.columns = context.columns;
            return LiveRun(*options).run();
        };
    });
}

}  // namespace rocecap
