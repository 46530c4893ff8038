#include "rocecap/printer.hpp"

#include "report/json.hpp"
#include "rocecap/command.hpp"

namespace rocecap {

Printer::Printer(const Options& options)
    : sink_(capture::Sink::standard_output()),
      listing_(report::Style(options.colour)),
      json_(options.json) {}

void Printer::print(const capture::Frame& frame) {
    const wire::Packet packet = capture::decode(frame);
    ++packets_;
    if (packet.malformed)
        ++malformed_;
    if (json_)
        sink_.append(
            report::packet_json(packets_, frame.time, packet, frame.bytes, frame.original_length)
                .dump() +
            '\n');
    else
        sink_.append(listing_.line(packets_, frame.time, packet, frame.bytes));
}

int Printer::exit_code() const {
    return malformed_ == 0 ? all_decoded : malformed_seen;
}

}  // namespace rocecap
