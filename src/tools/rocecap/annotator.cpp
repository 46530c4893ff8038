#include "tools/rocecap/annotator.hpp"

#include <fmt/format.h>

#include "render/cause_text.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

std::string title_of(const timeline::TraceFiles& files) {
    if (!files.info.step.empty())
        return "step " + files.info.step;
    return files.is_run_dir ? "a run" : util::printable(files.short_name());
}

}  // namespace

Annotator::Annotator(const timeline::TraceFiles& files, const std::string& secrets,
                     capture::Sink sink)
    : writer_(std::move(sink),
              {.hardware = {},
               .os = {},
               .application = "rocecap annotate",
               .comment = title_of(files) + ": each packet's comment names its cause"}) {
    if (!secrets.empty())
        writer_.add_tls_secrets(secrets);
    name_hosts(files.info);
    if (const timeline::RunHost* host = files.info.host(files.capture_role))
        run_interface_ = host->interface;
}

void Annotator::name_hosts(const timeline::RunInfo& info) {
    std::map<std::string, std::string> names;
    for (const auto& [role, address] : info.addresses)
        names.emplace(address, "rdma-" + role);
    writer_.add_names(names);
}

void Annotator::packet(const capture::Frame& frame, const timeline::PacketRow& row) {
    writer_.packet(interface_of(frame), frame, render::cause_comment(row));
}

// The interface is named by the run, else by the capture.
std::uint32_t Annotator::interface_of(const capture::Frame& frame) {
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

std::string annotated_text(const timeline::TraceFiles& files, std::uint64_t packets,
                           std::uint64_t with_cause) {
    return fmt::format("{} packets, {} with a cause{}", packets, with_cause,
                       files.logs.empty() ? ": causes come from run logs (--log)" : "");
}

}  // namespace rocecap
