// rocecap annotate: a run's capture once more, each packet with what caused it as its comment.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/stat.h>

#include <fmt/format.h>

#include "capture/pcapng_writer.hpp"
#include "report/cause_text.hpp"
#include "rocecap/command.hpp"
#include "timeline/finished_run.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct AnnotateOptions {
    std::string directory;
    std::string output;
};

// Empty where the run kept no secrets.
std::string tls_secrets(const std::string& directory) {
    std::ifstream file(directory + "/tls-keys.log", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Annotator : public timeline::RowVisitor {
  public:
    Annotator(const timeline::RunInfo& info, const std::string& secrets, capture::Sink sink)
        : writer_(std::move(sink),
                  {.hardware = {},
                   .os = {},
                   .application = "rocecap annotate",
                   .comment = "step " + info.step + ": each packet's comment names its cause"}) {
        if (!secrets.empty())
            writer_.add_tls_secrets(secrets);
        std::map<std::string, std::string> names;
        for (const auto& [role, address] : info.addresses)
            names.emplace(address, "rdma-" + role);
        writer_.add_names(names);
        if (const auto name = info.interfaces.find("server"); name != info.interfaces.end())
            interface_ = name->second;
    }

    void event(const runlog::Event& /*event*/, std::int64_t /*t_ns*/,
               const timeline::WorkRequest* /*request*/) override {}

    void packet(const timeline::PacketRow& row, const wire::Packet& /*packet*/,
                const capture::Frame& frame, std::uint64_t number,
                const timeline::WorkRequest* /*request*/) override {
        if (number == 1)
            writer_.add_interface({.link_type = frame.link_type,
                                   .name = interface_,
                                   .description = "the server's end of the cable",
                                   .filter = {}});
        writer_.packet(0, frame, report::cause_comment(row));
    }

    void close() { writer_.close(); }

  private:
    capture::PcapngWriter writer_;
    std::string interface_;
};

int annotate(const AnnotateOptions& options) {
    timeline::FinishedRun run(options.directory);
    const std::string path =
        options.output.empty() ? options.directory + "/annotated.pcapng" : options.output;
    if (!run.has_capture())
        throw util::Error(
            fmt::format("{} has no wire.pcapng: 'lab/lab capture' makes runs with a capture.",
                        options.directory));
    const std::string secrets = tls_secrets(options.directory);
    const bool is_file = path != "-";
    capture::Sink sink = is_file ? capture::Sink::replace(path) : capture::Sink::standard_output();
    if (is_file && !secrets.empty())
        util::check_errno(fchmod(sink.fd(), S_IRUSR | S_IWUSR), "fchmod " + path);
    Annotator annotator(run.info(), secrets, std::move(sink));
    run.each_row(annotator, wire::IcrcCheck::Skip);
    annotator.close();
    const timeline::JoinCount& joins = run.joins();
    util::print_error(fmt::format("{}: {} packets, {} with a cause\n", util::printable(path),
                                  joins.packets, joins.packets - joins.causeless()));
    return all_decoded;
}

constexpr const char* annotate_footer =
    R"(Wireshark shows the comments in the packets' details and, as a column, by the field frame.comment.
A run made with --keylog takes its TLS secrets along: whoever has the file reads the exchange.)";

}  // namespace

void add_annotate(CLI::App& app, Context& context) {
    auto options = std::make_shared<AnnotateOptions>();
    CLI::App* command = app.add_subcommand(
        "annotate", "A run's capture for Wireshark, each packet's cause in its comment");
    command->add_option("directory", options->directory, "A run's directory")
        ->required()
        ->type_name("RUN_DIR");
    command
        ->add_option("-o,--output", options->output,
                     "The file to write; -: standard output (default: RUN_DIR/annotated.pcapng)")
        ->type_name("FILE");
    command->footer(annotate_footer);
    command->callback(
        [&context, options] { context.run = [options] { return annotate(*options); }; });
}

}  // namespace rocecap
