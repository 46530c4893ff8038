#include "render/page/facts.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/json.hpp"

namespace page {
namespace {

class Facts {
  public:
    explicit Facts(const timeline::FinishedRun& run) : run_(run) {}

    util::Json all() && {
        if (run_.files().is_run_dir) {
            // The server is the first role: move it to the end.
            std::vector<std::string> roles = run_.info().roles;
            std::rotate(roles.begin(), roles.begin() + 1, roles.end());
            for (const std::string& role : roles)
                if (const auto* host = run_.info().host(role))
                    program(*host);
            for (const std::string& role : roles)
                if (const auto* host = run_.info().host(role))
                    machine(*host);
            for (const std::string& rule : run_.info().link_rules)
                add("The link emulator's rule", rule);
        } else {
            hosts();
        }
        packets();
        causes();
        work_requests();
        clocks();
        return std::move(facts_);
    }

  private:
    void add(std::string name, std::string value, bool is_bad = false) {
        if (!value.empty())
            facts_.push_back({std::move(name), std::move(value), is_bad});
    }

    void program(const timeline::RunHost& host) {
        if (!host.command)
            return;
        const std::string& code = host.exit_code;
        const std::string end = code.empty()  ? "it is still running"
                                : code == "0" ? "it succeeded"
                                              : "it failed with exit code " + code;
        add("The " + host.role, fmt::format("{}: {}", *host.command, end), code != "0");
    }

    void machine(const timeline::RunHost& host) {
        std::vector<std::string> parts;
        for (const auto& [value, before] : {std::pair{&host.address, ""},
                                            {&host.device, ""},
                                            {&host.path_mtu, "path MTU "},
                                            {&host.kernel, "kernel "},
                                            {&host.rdma_core, "rdma-core "}})
            if (!value->empty())
                parts.push_back(before + *value);
        add("The " + host.role + "'s host", fmt::format("{}", fmt::join(parts, ", ")));
    }

    void hosts() {
        const timeline::Hosts hosts = run_.hosts();
        for (const auto& [address, role] : hosts.clients)
            add("On the client's side",
                role == address ? address : fmt::format("{}, {}", role, address));
        add("On the server's side", hosts.server);
    }

    void packets() {
        const std::string& dropped = run_.info().dropped;
        if (!run_.has_capture())
            return add("Capture", "none: the run was not captured");
        std::string text = fmt::format("{} packets", run_.joins().packets);
        if (!dropped.empty())
            text += fmt::format(", {} dropped by the capture", dropped);
        const bool is_cut = !run_.capture_damage().empty();
        if (is_cut)
            text += "; it ends inside a packet";
        add("Capture", text, (!dropped.empty() && dropped != "0") || is_cut);
    }

    void causes() {
        const timeline::JoinCount& joins = run_.joins();
        if (joins.packets == 0 || run_.files().logs.empty())
            return;
        std::string text =
            fmt::format("{} of {}: {} by a work request, {} by a connection's set-up",
                        joins.joined + joins.set_up, joins.packets, joins.joined, joins.set_up);
        if (joins.causeless() > 0)
            text += fmt::format("; no event accounts for {}", joins.causeless());
        add("Packets with a cause", std::move(text), joins.joined < joins.joinable);
    }

    void work_requests() {
        const auto requests = run_.work_requests();
        if (requests.empty())
            return;
        std::uint64_t seen = 0;
        std::uint64_t again = 0;
        std::uint64_t naks = 0;
        for (const timeline::WorkRequest* request : requests) {
            seen += request->sent > 0;
            again += request->repeats;
            naks += request->naks;
        }
        add("Work requests",
            fmt::format("{}, {} of them on the wire; {} packets retransmitted, {} NAKs",
                        requests.size(), seen, again, naks));
    }

    void clocks() {
        for (const auto& [role, clock] : run_.clocks())
            if (clock.known())
                add("Clocks", fmt::format("the {}'s times are shifted by {:+.3f} ms, ± {:.3f} ms, "
                                          "from matching pairs of events and packets",
                                          role, static_cast<double>(clock.shift()) / 1e6,
                                          static_cast<double>(clock.uncertainty()) / 1e6));
    }

    const timeline::FinishedRun& run_;
    util::Json facts_ = util::Json::array();
};

}  // namespace

util::Json facts_of(const timeline::FinishedRun& run) {
    return Facts(run).all();
}

std::string about(const timeline::TraceFiles& files) {
    std::string text = files.short_name();
    const auto add = [&text](std::string_view before, const std::string& value) {
        if (!value.empty())
            text.append(before).append(value);
    };
    for (const timeline::LogFile& log : files.logs)
        if (!files.is_run_dir)
            add(", log ", log.path());
    add(", started ", files.info.started);
    add(", backend ", files.info.backend);
    if (files.is_run_dir && !files.info.ended)
        text += ". The run had not ended when this page was made";
    return text;
}

}  // namespace page
