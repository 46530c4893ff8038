// rocecap annotate: copies a capture, with the cause of each packet as its comment.
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/stat.h>
#include <tuple>

#include <fmt/format.h>

#include "capture/pcapng_writer.hpp"
#include "render/cause_text.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

struct AnnotateOptions {
    TraceArguments trace;
    std::string output;
};

// Empty if the run kept no secrets.
std::string tls_secrets(const timeline::TraceFiles& files) {
    if (!files.is_run_dir)
        return {};
    std::ifstream file(files.name + "/tls-keys.log", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Annotator {
  public:
    Annotator(const timeline::TraceFiles& files, const std::string& secrets, capture::Sink sink)
        : writer_(std::move(sink),
                  {.hardware = {},
                   .os = {},
                   .application = "rocecap annotate",
                   .comment = title_of(files) + ": each packet's comment names its cause"}) {
        const timeline::RunInfo& info = files.info;
        if (!secrets.empty())
            writer_.add_tls_secrets(secrets);
        std::map<std::string, std::string> names;
        for (const auto& [role, address] : info.addresses)
            names.emplace(address, "rdma-" + role);
        writer_.add_names(names);
        if (const timeline::RunHost* host = info.host(files.capture_role))
            run_interface_ = host->interface;
    }

    void packet(const capture::Frame& frame, const timeline::PacketRow& row) {
        writer_.packet(interface_of(frame), frame, render::cause_comment(row));
    }

    void close() { writer_.close(); }

  private:
    static std::string title_of(const timeline::TraceFiles& files) {
        if (!files.info.step.empty())
            return "step " + files.info.step;
        return files.is_run_dir ? "a run" : util::printable(files.short_name());
    }

    // The interface is named by the run, else by the capture.
    std::uint32_t interface_of(const capture::Frame& frame) {
        const auto [known, is_new] =
            interfaces_.try_emplace({frame.notes.interface_id.value_or(0), frame.link_type,
                                     std::string(frame.notes.interface_name)});
        if (is_new && !run_interface_.empty())
            known->second = writer_.add_interface({.link_type = frame.link_type,
                                                   .name = run_interface_,
                                                   .description = "the server's end of the link",
                                                   .filter = {}});
        else if (is_new)
            known->second = writer_.add_interface({.link_type = frame.link_type,
                                                   .name = std::string(frame.notes.interface_name),
                                                   .description = {},
                                                   .filter = {}});
        return known->second;
    }

    capture::PcapngWriter writer_;
    std::string run_interface_;
    std::map<std::tuple<std::uint32_t, wire::LinkType, std::string>, std::uint32_t> interfaces_;
};

int annotate(const AnnotateOptions& options, const Context& /*context*/) {
    timeline::FinishedRun run(files_of(options.trace));
    const timeline::TraceFiles& files = run.files();
    const std::string path = output_of(files, options.output, "annotated.pcapng");
    if (!run.has_capture())
        throw util::Error(
            fmt::format("{} has no wire.pcapng: record a run with 'lab/lab capture'.", files.name));
    check_trace(run);
    const std::string secrets = tls_secrets(files);
    const bool is_file = path != "-";
    capture::Sink sink = is_file ? capture::Sink::replace(path) : capture::Sink::standard_output();
    if (is_file && !secrets.empty())
        util::check_errno(fchmod(sink.fd(), S_IRUSR | S_IWUSR), "fchmod " + path);
    Annotator annotator(files, secrets, std::move(sink));
    run.each_frame([&](const capture::Frame& frame, const timeline::PacketRow& row) {
        annotator.packet(frame, row);
    });
    annotator.close();
    const timeline::JoinCount& joins = run.joins();
    util::print_error(fmt::format("{}: {} packets, {} with a cause{}\n", util::printable(path),
                                  joins.packets, joins.packets - joins.causeless(),
                                  files.logs.empty() ? ": causes come from run logs (--log)" : ""));
    require_whole(run.capture_damage());
    return fine;
}

constexpr const char* annotate_footer =
    R"(Wireshark shows the comments in the packet details and, in a column, as the field frame.comment.
If the run was made with --keylog, the file contains the TLS secrets: anyone who has the file can
decrypt the exchange.)";

}  // namespace

void add_annotate(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<AnnotateOptions>(
        app, context, "annotate",
        "Write a capture for Wireshark with each packet's cause as a comment", annotate_footer,
        annotate);
    add_trace_arguments(*command, options->trace);
    add_output_option(*command, options->output, "annotated.pcapng");
}

}  // namespace rocecap
