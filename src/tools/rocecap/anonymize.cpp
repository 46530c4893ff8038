// rocecap anonymize: copies the RoCE packets of a capture without what identifies hosts and data.
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "anonymize/frame.hpp"
#include "capture/file_source.hpp"
#include "capture/pcapng_writer.hpp"
#include "capture/sink.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct AnonymizeOptions {
    std::string file;
    std::string output;
    std::string interface;
    bool keep_payloads = false;
    bool shift_times = false;
    bool trust_port = false;
};

std::string counted(std::uint64_t count, const char* what, const char* plural) {
    return fmt::format("{} {}", count, count == 1 ? what : plural);
}

class AnonymousCopy {
  public:
    AnonymousCopy(const AnonymizeOptions& options, const std::string& capture, capture::Sink sink)
        : options_(options),
          source_(capture, capture::InterfaceChoice(options.interface)),
          flows_(options.trust_port),
          anonymizer_(options.keep_payloads ? anonymize::Data::Kept : anonymize::Data::Replaced),
          writer_(std::move(sink),
                  {.hardware = {}, .os = {}, .application = "rocecap anonymize", .comment = {}}) {}

    /// Also writes what was read before an error.
    void run(const std::string& capture) {
        std::exception_ptr failure;
        try {
            while (const auto frame = source_.next())
                copy(*frame);
        } catch (const util::Error&) {
            failure = std::current_exception();
        }
        if (written_ == 0 && failure)
            std::rethrow_exception(failure);
        if (written_ == 0)
            throw util::Error(fmt::format("'{}' has no RoCE packet: nothing is written.", capture));
        writer_.close();
        util::print_error(summary());
        if (failure)
            std::rethrow_exception(failure);
    }

  private:
    using Interface = std::tuple<std::uint32_t, wire::LinkType, std::string_view>;

    void copy(const capture::Frame& frame) {
        const wire::Packet packet = capture::decode(frame, flows_);
        const auto anonymous = anonymizer_.frame(packet, frame.bytes, frame.link_type);
        if (!anonymous) {
            ++left_out_;
            return;
        }
        ++written_;
        unwrapped_ += anonymous->removed != 0 ? 1U : 0U;
        const auto interface = interface_of(frame, anonymous->link);
        writer_.packet(interface,
                       {.time = time_of(frame),
                        .bytes = anonymous->bytes,
                        .original_length = frame.original_length -
                                           static_cast<std::uint32_t>(anonymous->removed)});
    }

    capture::Time time_of(const capture::Frame& frame) {
        constexpr std::chrono::sys_days first =
            std::chrono::year(2000) / std::chrono::January / 1;  // UTC
        if (!options_.shift_times)
            return frame.time;
        if (!shift_)
            shift_ = first.time_since_epoch() - frame.time;
        return frame.time + *shift_;
    }

    // An interface keeps its number, so that --interface and --end mean the same one. The names of
    // the link emulator's two sides have a meaning to other commands; all other names go.
    std::uint32_t interface_of(const capture::Frame& frame, wire::LinkType link) {
        const std::uint32_t number = frame.notes.interface_id.value_or(0);
        const std::string_view name = frame.notes.interface_name;
        const Interface interface {
            number, link, name == "before" ? "before" : name == "after" ? "after" : ""
        };
        const auto [known, is_new] = interfaces_.try_emplace(interface, number);
        if (!is_new)
            return known->second;
        while (interface_count_ < number) {
            const std::uint32_t unused = add_interface(link, "");
            interfaces_.try_emplace({unused, link, ""}, unused);
        }
        known->second = add_interface(link, std::get<2>(interface));
        return known->second;
    }
    std::uint32_t add_interface(wire::LinkType link, std::string_view name) {
        ++interface_count_;
        return writer_.add_interface(
            {.link_type = link, .name = std::string(name), .description = {}, .filter = {}});
    }

    std::string summary() const {
        const anonymize::Pseudonyms& replaced = anonymizer_.pseudonyms();
        return fmt::format(
            "{}: {}, {} left out{}; replaced {}, {} and {}. Still visible: QPNs, PSNs, P_Keys, "
            "ports, VLANs, sizes and times{}.\n",
            util::printable(options_.output), counted(written_, "packet", "packets"), left_out_,
            unwrapped_ == 0 ? "" : fmt::format(", {} without encapsulations", unwrapped_),
            counted(replaced.ip_addresses(), "IP address", "IP addresses"),
            counted(replaced.mac_addresses(), "Ethernet address", "Ethernet addresses"),
            counted(replaced.rkeys(), "rkey", "rkeys"),
            options_.keep_payloads ? ", and the payloads" : "");
    }

    const AnonymizeOptions& options_;
    capture::FileSource source_;
    wire::RoceFlows flows_;
    anonymize::Anonymizer anonymizer_;
    capture::PcapngWriter writer_;
    std::map<Interface, std::uint32_t> interfaces_;
    std::uint32_t interface_count_ = 0;
    std::optional<capture::Time> shift_;
    std::uint64_t written_ = 0;
    std::uint64_t left_out_ = 0;
    std::uint64_t unwrapped_ = 0;
};

int anonymize_capture(const AnonymizeOptions& options, const Context& /*context*/) {
    const std::string capture = capture_of(options.file);
    std::error_code ignored;
    if (std::filesystem::equivalent(options.output, capture, ignored))
        throw util::Error(
            fmt::format("'{}' is the capture itself: choose another file.", options.output));
    AnonymousCopy(options, capture,
                  options.output == "-" ? capture::Sink::standard_output()
                                        : capture::Sink::replace(options.output))
        .run(capture);
    return fine;
}

constexpr const char* anonymize_footer =
    R"(For a public bug report: replaces IP and Ethernet addresses, GUIDs, rkeys, virtual addresses,
Q_Keys, payloads and private data; equal values stay equal. Leaves out other protocols, comments,
names, TLS secrets and encapsulations. QPNs, PSNs, P_Keys, ports, VLANs, sizes and times stay
visible.)";

}  // namespace

void add_anonymize(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<AnonymizeOptions>(
        app, context, "anonymize", "Write a capture that can be published", anonymize_footer,
        anonymize_capture);
    add_file_argument(*command, options->file);
    command->add_option("output", options->output, "The pcapng file to write; '-': standard output")
        ->required()
        ->type_name("OUT");
    add_interface_option(*command, options->interface);
    add_trust_port_option(*command, options->trust_port);
    command->add_flag("--keep-payloads", options->keep_payloads,
                      "Keep payloads, immediate data, operands of atomics\nand the CM's private "
                      "data");
    command->add_flag("--shift-times", options->shift_times,
                      "Let the first packet be at 2000-01-01 00:00:00 UTC");
}

}  // namespace rocecap
