// rocecap live: the packets of a network interface, decoded, kept, or passed on.
#include <memory>
#include <string>

#include "capture/sink.hpp"
#include "report/device_list.hpp"
#include "rocecap/command.hpp"
#include "rocecap/live_run.hpp"
#include "rocecap/validators.hpp"

namespace rocecap {
namespace {

constexpr const char* footer = R"(Examples:
  rocecap live --list                           what there is to capture on
  sudo rocecap live -i eth0                     watch; Ctrl-C ends it
  sudo rocecap live -i eth0 -w run.pcapng -d 10 and keep the packets of ten seconds
  sudo rocecap live -i eth0 -w - | wireshark -k -i -
Without --filter, RoCEv2 (UDP port 4791, over IPv4 and IPv6) and RoCEv1 (EtherType 0x8915) are
captured, with or without one VLAN tag. A hardware NIC that offloads RDMA does not show these
packets on its Ethernet interface: name its RDMA device (-i mlx5_0) where libpcap can, capture on
the other host, or mirror the switch's port.)";

int print_list(bool json) {
    const auto list = report::DeviceList::gather();
    capture::Sink sink = capture::Sink::standard_output();
    sink.append(json ? list.json() : list.text());
    sink.close();
    return all_decoded;
}

}  // namespace

void add_live(CLI::App& app, Context& context) {
    auto options = std::make_shared<LiveRun::Options>();
    CLI::App* command = app.add_subcommand("live", "Capture and decode packets as they pass");
    auto* interface =
        command->add_option("-i,--interface", options->interface, "Capture here; 'any': everywhere")
            ->type_name("IF");
    auto list = std::make_shared<bool>(false);
    command->add_flag("--list", *list, "Only say what can be captured on here; also as --json")
        ->excludes(interface);
    command->add_option("-f,--filter", options->filter, "Which packets, written as for tcpdump")
        ->type_name("BPF");
    command
        ->add_option("-w,--write", options->write,
                     "Keep the packets in this pcapng file; '-': write\nthem to standard output "
                     "and decode nothing")
        ->type_name("FILE");
    command->add_option("-d,--duration", options->seconds, "Stop after so many seconds")
        ->check(is_duration())
        ->type_name("SECONDS");
    command->add_option("-c,--count", options->count, "Stop after this many packets")
        ->check(is_count())
        ->type_name("N");
    Printer::add_options(*command, options->display);
    command->add_flag("-q,--quiet", options->quiet, "With --write: decode nothing");
    command
        ->add_option("-s,--snaplen", options->snaplen,
                     "Keep this much of each packet: 128 has all headers,\n384 the connection "
                     "manager's messages, too; the\nICRC needs whole packets")
        ->check(CLI::Range(1, 262144).description(""))
        ->type_name("BYTES");
    command
        ->add_option("-B,--buffer", options->buffer_mib, "The kernel's buffer for waiting packets")
        ->check(CLI::Range(1, 1024).description(""))
        ->capture_default_str()
        ->type_name("MIB");
    command->add_flag("-p,--promiscuous", options->promiscuous,
                      "Also packets addressed to other machines");
    command->footer(footer);
    command->callback([&context, options, list, interface] {
        if (!*list && interface->empty())
            throw CLI::RequiredError("--interface (or --list)");
        context.run = [&context, options, list] {
            if (*list)
                return print_list(options->display.json);
            options->display.colour = context.colour;
            return LiveRun(*options).run();
        };
    });
}

}  // namespace rocecap
