// rocecap fields: lists the fields that --fields prints and --where compares.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "filter/field.hpp"
#include "tools/rocecap/command.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

std::size_t longest_name() {
    std::size_t longest = 0;
    for (const filter::Field& field : filter::fields())
        longest = std::max(longest, field.name.size());
    return longest;
}

int list_fields(std::string_view part, const Context& /*context*/) {
    capture::Sink sink = capture::Sink::standard_output();
    const std::size_t width = longest_name();
    bool found = false;
    for (const filter::Field& field : filter::fields()) {
        if (field.name.find(part) == std::string_view::npos &&
            field.help.find(part) == std::string_view::npos)
            continue;
        found = true;
        sink.append(
            fmt::format("{:<{}}  {:<13}  {}\n", field.name, width, name(field.kind), field.help));
    }
    sink.close();
    if (!found)
        throw util::Error(fmt::format("no field has '{}' in its name or description", part));
    return fine;
}

constexpr const char* fields_footer =
    R"(The names are those of 'decode --json'. They are Wireshark's names without the protocol's prefix:
bth.psn is infiniband.bth.psn in Wireshark. Wireshark's names are accepted, too:
infiniband.cm.rep.localqpn is cm.localqpn of a ConnectReply only. A header's name ('reth') is a
field.

Filters (--where) compare fields and join comparisons with and, or, not and parentheses:
  bth.psn in 0x10..0x20 and reth.r_key == 0x220   numbers in decimal or hexadecimal; a range of PSNs
                                                  may wrap around: 0xfffff0..0x10
  ip.addr == 10.77.0.0/16 and not cm              either address; a network; no CM message
  aeth.type == NAK or icrc.status == bad          words; with spaces in quotes: "RNR NAK"
  bth.opcode in {6..11, 17}                       a set of values and ranges
  bth.opcode_name contains WRITE                  part of a text, or hexadecimal digits of bytes
  bth.a == 1 and not aeth                         a flag's value; a header's absence
A name alone is true if the packet has the field, whatever its value. A comparison with a field that
the packet does not have is false, also with !=.)";

}  // namespace

void add_fields(CLI::App& app, Context& context) {
    const auto [command, part] = add_command<std::string>(
        app, context, "fields", "List the fields for --fields and --where, and explain filters",
        fields_footer, list_fields);
    command->add_option("part", *part, "List only fields with this text in name or description")
        ->type_name("TEXT");
}

}  // namespace rocecap
