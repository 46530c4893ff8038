// rocecap decode: the packets of a capture file.
#include <cstdint>
#include <cstdio>
#include <string>

#include "capture/file_source.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/parallel_printer.hpp"
#include "tools/rocecap/printer.hpp"
#include "tools/rocecap/trace_arguments.hpp"

namespace rocecap {
namespace {

struct DecodeOptions {
    std::string file;
    std::string interface;
    Printer::Options display;
    std::uint64_t count = UINT64_MAX;
};

// More take longer than it takes to start threads.
constexpr std::uint64_t few_packets = 1000;

constexpr const char* decode_footer = R"(Examples:
  rocecap decode run.pcapng
  rocecap decode run.pcapng --where 'aeth.type == NAK or icrc.status == bad'
  rocecap decode run.pcapng --fields frame,ip.src,bth.destqp,bth.psn --header
  rocecap decode run.pcapng --json | jq -c 'select(.reth) | [.bth.psn, .reth.r_key]'
  ssh host sudo rocecap live -i eth0 -w - | rocecap decode -)";

void print_all(const DecodeOptions& options, Printer& printer) {
    capture::FileSource source(capture_of(options.file),
                               capture::InterfaceChoice(options.interface));
    const unsigned cpus = source.is_file() ? usable_cpus() : 1;
    while (printer.printed() < options.count) {
        if (cpus > 1 && printer.packets() == few_packets) {
            print_in_parallel(cpus, source, printer, options.count);
            break;
        }
        if (source.must_wait())
            printer.sink().flush();
        const auto frame = source.next();
        if (!frame)
            break;
        printer.print(*frame);
    }
    printer.sink().close();
    for (const std::string& line : printer.others())
        std::fputs(("rocecap: " + line + '\n').c_str(), stderr);
}

int decode(DecodeOptions& options, const Context& context) {
    options.display.colour = context.colour;
    options.display.columns = context.columns;
    Printer printer(options.display);
    try {
        print_all(options, printer);
    } catch (const capture::ReaderGone&) {  // NOLINT(bugprone-empty-catch): `| head` has enough
    }
    return printer.exit_code();
}

}  // namespace

void add_decode(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<DecodeOptions>(
        app, context, "decode", "Decode the packets of a capture file", decode_footer, decode);
    add_file_argument(*command, options->file);
    Printer::add_options(*command, options->display);
    add_interface_option(*command, options->interface);
    add_count_option(*command, "-c,--count", options->count,
                     "Stop after this many printed packets");
}

}  // namespace rocecap
