// rocecap verify: the invariant CRC of each packet of a capture file.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "capture/file_source.hpp"
#include "capture/sink.hpp"
#include "filter/json.hpp"
#include "render/icrc_tally.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/error.hpp"
#include "util/json.hpp"
#include "wire/text/line.hpp"

namespace rocecap {
namespace {

struct VerifyOptions {
    std::string file;
    std::string interface;
    std::uint64_t first = 10;
    bool json = false;
    bool trust_port = false;
};

class Verification {
  public:
    Verification(const VerifyOptions& options, const Context& context)
        : options_(options),
          source_(capture_of(options.file), capture::InterfaceChoice(options.interface)),
          flows_(options.trust_port),
          listing_(util::TextStyle(context.colour), context.columns) {}

    /// Reports also what was read before an error.
    void run() {
        std::exception_ptr failure;
        try {
            while (const auto frame = source_.next())
                check(*frame);
        } catch (const util::Error&) {
            failure = std::current_exception();
        }
        conclude();
        if (failure)
            std::rethrow_exception(failure);
    }

    int exit_code() const {
        return tally_.bad() == 0 && tally_.malformed() == 0 && tally_.checked() != 0 ? fine : found;
    }

  private:
    void check(const capture::Frame& frame) {
        listing_.begin(frame.time);
        const wire::Packet packet = capture::decode(frame, flows_);
        tally_.add(packet);
        const bool is_bad = packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad;
        if ((!is_bad && !packet.malformed) || ++listed_ > options_.first)
            return;
        if (options_.json)
            list_json(frame, packet);
        else
            sink_.append(listing_.line(frame.number, frame.time, packet, frame.bytes));
    }

    void list_json(const capture::Frame& frame, const wire::Packet& packet) {
        std::string json;
        std::string scratch;
        filter::append_json(json, {frame.number, frame.time, packet, frame.bytes,
                                   frame.original_length, scratch, frame.notes});
        first_.push_back(util::Json::parse(json));
    }

    void conclude() {
        if (options_.json) {
            util::Json json = tally_.json();
            json["first"] = std::move(first_);
            sink_.append(json.dump() + '\n');
        } else {
            if (listed_ > options_.first && options_.first != 0)
                sink_.append("... and " + std::to_string(listed_ - options_.first) + " more\n");
            sink_.append((listed_ != 0 && options_.first != 0 ? "\n" : "") + tally_.text());
        }
        sink_.close();
        print_note(flows_.left_out_text());
        if (tally_.checked() == 0)
            std::fputs("rocecap: no packet has an ICRC that could be checked.\n", stderr);
    }

    const VerifyOptions& options_;
    capture::FileSource source_;
    wire::RoceFlows flows_;
    wire::Listing listing_;
    capture::Sink sink_ = capture::Sink::standard_output();
    render::IcrcTally tally_;
    util::Json first_ = util::Json::array();  // packets
    std::uint64_t listed_ = 0;
};

int verify(const VerifyOptions& options, const Context& context) {
    Verification verification(options, context);
    verification.run();
    return verification.exit_code();
}

constexpr const char* verify_footer =
    R"(The ICRC (invariant CRC) is a CRC-32 at the end of each RoCE packet, over all fields that routers do
not change. The ICRC of a packet that was not captured in full is not checked.

Exit status: 0 all checked ICRCs are good, 1 a bad ICRC, a malformed packet, or nothing to check,
2 it cannot run, or the capture is damaged or ends too early.)";

}  // namespace

void add_verify(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<VerifyOptions>(
        app, context, "verify", "Check each packet's ICRC and format", verify_footer, verify);
    add_file_argument(*command, options->file);
    add_interface_option(*command, options->interface);
    add_trust_port_option(*command, options->trust_port);
    command
        ->add_option("--first", options->first, "List at most N bad and malformed packets; 0: none")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}).description(""))
        ->type_name("N");
    command->add_flag("--json", options->json, "Print one JSON object instead of text");
}

}  // namespace rocecap
