// rocecap annotate: a run's capture once more, each packet with what caused it as its comment.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "capture/pcapng_writer.hpp"
#include "report/cause_text.hpp"
#include "rocecap/command.hpp"
#include "timeline/join.hpp"
#include "timeline/packet_row.hpp"
#include "timeline/run_dir.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

struct Options {
    std::string directory;
    std::string output;
};

struct Counts {
    std::uint64_t packets = 0;
    std::uint64_t annotated = 0;
};

// Empty where the run kept no secrets.
std::string tls_secrets(const std::string& directory) {
    std::ifstream file(directory + "/tls-keys.log", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Annotator {
  public:
    Annotator(timeline::RunDir& directory, const std::string& secrets, capture::Sink sink)
        : directory_(directory),
          info_(directory.info()),
          writer_(std::move(sink),
                  {.hardware = {},
                   .os = {},
                   .application = "rocecap annotate",
                   .comment = "step " + info_.step + ": each packet's comment names its cause"}) {
        if (!secrets.empty())
            writer_.add_tls_secrets(secrets);
        std::map<std::string, std::string> names;
        for (const auto& [role, address] : info_.addresses)
            names.emplace(address, "rdma-" + role);
        writer_.add_names(names);
    }

    // All events first: which of them a packet belongs to may be told after it has passed.
    Counts run() {
        while (true) {
            auto item = directory_.next();
            if (std::holds_alternative<std::monostate>(item))
                break;
            if (const auto* event = std::get_if<runlog::Event>(&item))
                join_.learn(*event);
            else
                add(std::get<capture::Frame>(item));
        }
        writer_.close();
        return counts_;
    }

  private:
    void add(const capture::Frame& frame) {
        if (counts_.packets++ == 0)
            writer_.add_interface({.link_type = frame.link_type,
                                   .name = info_.interfaces["server"],
                                   .description = "the server's end of the cable",
                                   .filter = {}});
        const wire::Packet packet = capture::decode(frame, wire::IcrcCheck::Skip);
        timeline::PacketRow row = timeline::row_of(packet, frame.bytes, frame.time.count(), {});
        join_.find_cause(row);
        counts_.annotated += row.has_cause();
        writer_.packet(0, frame, report::cause_comment(row));
    }

    timeline::RunDir& directory_;
    timeline::RunInfo info_;
    capture::PcapngWriter writer_;
    timeline::Join join_;
    Counts counts_;
};

int annotate(const Options& options) {
    timeline::RunDir directory(options.directory);
    const std::string path =
        options.output.empty() ? options.directory + "/annotated.pcapng" : options.output;
    if (!std::filesystem::exists(options.directory + "/wire.pcapng"))
        throw util::Error(
            fmt::format("{} has no wire.pcapng: 'lab/lab capture' makes runs with a capture.",
                        options.directory));
    const std::string secrets = tls_secrets(options.directory);
    const bool is_file = path != "-";
    capture::Sink sink = is_file ? capture::Sink::create(path) : capture::Sink::standard_output();
    if (is_file && !secrets.empty())
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const Counts counts = Annotator(directory, secrets, std::move(sink)).run();
    std::fputs(
        fmt::format("{}: {} packets, {} with a cause\n", path, counts.packets, counts.annotated)
            .c_str(),
        stderr);
    return all_decoded;
}

constexpr const char* footer =
    R"(Wireshark shows the comments in the packets' details and, as a column, by the field frame.comment.
A run made with --keylog takes its TLS secrets along: whoever has the file reads the exchange.)";

}  // namespace

void add_annotate(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "annotate", "A run's capture for Wireshark, each packet's cause in its comment");
    command->add_option("directory", options->directory, "A run's directory")
        ->required()
        ->type_name("RUN_DIR");
    command
        ->add_option("-o,--output", options->output,
                     "The file to write; -: standard output (default: RUN_DIR/annotated.pcapng)")
        ->type_name("FILE");
    command->footer(footer);
    command->callback(
        [&context, options] { context.run = [options] { return annotate(*options); }; });
}

}  // namespace rocecap
