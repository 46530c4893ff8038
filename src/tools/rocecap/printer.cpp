#include "tools/rocecap/printer.hpp"

#include "filter/json.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/error.hpp"

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
      listing_(util::TextStyle(options.colour), options.columns),
      json_(options.json),
      row_(row_of(options)),
      where_(where_of(options)),
      icrc_(needs_icrc(row_, where_) ? wire::IcrcCheck::Compute : wire::IcrcCheck::Skip),
      flows_(options.trust_port),
      services_(options.services.told()) {
    if (row_ && options.header)
        sink_.append(row_->header());
}

void Printer::print(const capture::Frame& frame) {
    listing_.begin(frame.time);
    const wire::Packet packet = capture::decode(frame, flows_, icrc_);
    others_.add(packet);
    const std::uint64_t number = frame.number != 0 ? frame.number : packets_ + 1;
    ++packets_;
    const filter::View view{number,
                            frame.time,
                            packet,
                            frame.bytes,
                            frame.original_length,
                            scratch_,
                            frame.notes,
                            &services_.see(packet)};
    if (where_ && !where_->matches(view))
        return;
    ++printed_;
    if (packet.malformed)
        ++malformed_;
    text_.clear();
    if (row_)
        row_->append(text_, view);
    else if (json_) {
        filter::append_json(text_, view);
        text_.push_back('\n');
    } else
        list(view);
    sink_.append(text_);
}

void Printer::list(const filter::View& view) {
    upper_text_.clear();
    upper::append_text(upper_text_, *view.upper);
    listing_.append(text_, view.number, view.time, view.packet, view.frame, upper_text_);
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
