#include "tools/rocecap/printer.hpp"

#include <span>

#include "filter/json.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/error.hpp"
#include "util/in_place.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

std::optional<filter::Row> row_of(const Printer::Options& options) {
    if (!options.fields) {
        if (options.csv || options.header)
            throw util::Error("--csv and --header need --fields");
        return std::nullopt;
    }
    if (options.json)
        throw util::Error("--json prints every field: omit --fields");
    return filter::Row(*options.fields,
                       options.csv ? filter::Row::Format::Csv : filter::Row::Format::Tsv);
}

std::optional<filter::Where> where_of(const Printer::Options& options) {
    if (!options.where)
        return std::nullopt;
    return filter::Where::parse(*options.where);
}

// Text and JSON show whether the ICRC is good; rows and filters only if they use that field.
bool needs_icrc(const std::optional<filter::Row>& row, const std::optional<filter::Where>& where) {
    return !row || row->needs_icrc() || (where && where->needs_icrc());
}

filter::View view_of(const Decoded& decoded, std::string& scratch) {
    static constexpr upper::Message nothing;
    const capture::Frame& frame = decoded.frame;
    return {frame.number,          frame.time,
            *decoded.packet,       frame.bytes,
            frame.original_length, scratch,
            frame.notes,           decoded.upper ? &*decoded.upper : &nothing};
}

}  // namespace

void Printer::add_options(CLI::App& command, Options& options) {
    command.add_flag("--json", options.json, "Print one JSON object per packet instead of text");
    command
        .add_option("--fields", options.fields,
                    "Print only these fields, separated by tabs:\n"
                    "bth.psn,reth.r_key; 'rocecap fields' lists them")
        ->type_name("A,B,...");
    command.add_flag("--csv", options.csv, "Separate fields by commas; quote them where needed");
    command.add_flag("--header", options.header, "Print the fields' names in the first line");
    command
        .add_option("--where", options.where,
                    "Print only packets that match: 'aeth.type == NAK',\n"
                    "'bth.psn in 0x10..0x20 and reth.r_key == 0x220'")
        ->type_name("FILTER");
    add_trust_port_option(command, options.trust_port);
    options.services.add_to(command);
}

Printer::Printer(const Options& options)
    : sink_(capture::Sink::standard_output()),
      json_(options.json),
      row_(row_of(options)),
      where_(where_of(options)),
      icrc_(needs_icrc(row_, where_) ? wire::IcrcCheck::Compute : wire::IcrcCheck::Skip),
      flows_(options.trust_port),
      services_(options.services.told()),
      formatter_{wire::Listing(util::TextStyle(options.colour), options.columns)} {
    if (row_ && options.header)
        sink_.append(row_->header());
}

void Printer::print(const capture::Frame& frame) {
    decoded_.frame = frame;
    decode(decoded_);
    if (!take(decoded_))
        return;
    text_.clear();
    format(text_, decoded_, formatter_);
    put(text_, decoded_.packet->malformed.has_value());
}

void Printer::decode(Decoded& decoded) const {
    const capture::Frame& frame = decoded.frame;
    util::emplace_result(decoded.packet, [&] {
        return wire::decode(frame.bytes, frame.link_type, frame.original_length, icrc_);
    });
}

bool Printer::take(Decoded& decoded) {
    capture::Frame& frame = decoded.frame;
    wire::Packet& packet = *decoded.packet;
    if (packets_ == 0)
        formatter_.listing.begin(frame.time);
    flows_.settle(packet, frame.bytes, frame.link_type, frame.original_length, icrc_);
    if (packet.icrc && packet.icrc->hint != nullptr) {
        decoded.hint = *packet.icrc->hint;
        packet.icrc->hint = &decoded.hint;
    }
    others_.add(packet);
    ++packets_;
    if (frame.number == 0)
        frame.number = packets_;
    decoded.upper.reset();
    if (const upper::Message& message = services_.see(packet); message.body.index() != 0)
        decoded.upper = message;
    if (where_ && !where_->matches(view_of(decoded, scratch_)))
        return false;
    ++printed_;
    return true;
}

void Printer::format(std::string& out, const Decoded& decoded, Formatter& formatter) const {
    const std::size_t begin = out.size();
    const filter::View view = view_of(decoded, formatter.scratch);
    if (row_)
        row_->append(out, view);
    else if (json_) {
        filter::append_json(out, view);
        out.push_back('\n');
    } else {
        formatter.upper_text.clear();
        upper::append_text(formatter.upper_text, *view.upper);
        formatter.listing.append(out, view.number, view.time, view.packet, view.frame,
                                 formatter.upper_text);
    }
    if (const auto line = std::string_view(out).substr(begin); !util::are_printable_lines(line))
        out.replace(begin, std::string::npos, util::printable_lines(line));
}

void Printer::put(std::string_view line, bool is_malformed) {
    if (is_malformed)
        ++malformed_;
    sink_.append(std::as_bytes(std::span(line)));
}

std::vector<std::string> Printer::others() const {
    std::vector<std::string> lines = others_.lines();
    if (flows_.left_out() != 0)
        lines.push_back(left_out());
    return lines;
}

int Printer::exit_code() const {
    return malformed_ == 0 ? fine : found;
}

}  // namespace rocecap
