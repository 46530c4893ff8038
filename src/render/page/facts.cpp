#include "render/page/facts.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/json.hpp"

namespace page {
namespace {

// Returns the value as text. Empty if missing: an interrupted run has only its beginning.
std::string at(const util::Json& json, const std::string& path) {
    const util::Json::json_pointer pointer(path);
    if (!json.contains(pointer))
        return {};
    const util::Json& value = json.at(pointer);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

class Facts {
  public:
    Facts(const util::Json& run_json, const timeline::FinishedRun& run)
        : json_(run_json), run_(run) {}

    util::Json all() && {
        if (run_.files().is_run_dir) {
            // The server is the first role: move it to the end.
            std::vector<std::string> roles = run_.info().roles;
            std::rotate(roles.begin(), roles.begin() + 1, roles.end());
            std::erase_if(roles, [&](const std::string& role) { return !is_in_run(role); });
            for (const std::string& role : roles)
                program(role);
            for (const std::string& role : roles)
                host(role);
            link_rules();
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

    bool is_in_run(const std::string& role) const {
        return json_.contains("hosts") && json_["hosts"].is_object() &&
               json_["hosts"].contains(role);
    }

    void program(const std::string& role) {
        const util::Json::json_pointer pointer("/hosts/" + role + "/command");
        if (!json_.contains(pointer))
            return;
        std::vector<std::string> words;
        for (const util::Json& word : json_.at(pointer))
            words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
        const std::string code = at(json_, "/hosts/" + role + "/exit_code");
        const std::string end = code.empty()  ? "it is still running"
                                : code == "0" ? "it succeeded"
                                              : "it failed with exit code " + code;
        add("The " + role, fmt::format("{}: {}", fmt::join(words, " "), end), code != "0");
    }

    void host(const std::string& role) {
        const auto of = [&](const std::string& key) {
            return at(json_, "/hosts/" + role + '/' + key);
        };
        std::vector<std::string> parts;
        for (const auto& [key, before] : {std::pair{"address", ""},
                                          {"device", ""},
                                          {"path_mtu", "path MTU "},
                                          {"kernel", "kernel "},
                                          {"rdma_core", "rdma-core "}})
            if (const std::string value = of(key); !value.empty())
                parts.push_back(before + value);
        add("The " + role + "'s host", fmt::format("{}", fmt::join(parts, ", ")));
    }

    void hosts() {
        const timeline::Hosts hosts = run_.hosts();
        for (const auto& [address, role] : hosts.clients)
            add("On the client's side",
                role == address ? address : fmt::format("{}, {}", role, address));
        add("On the server's side", hosts.server);
    }

    void link_rules() {
        const util::Json::json_pointer rules("/link/rules");
        if (!json_.contains(rules) || !json_.at(rules).is_array())
            return;
        for (const util::Json& rule : json_.at(rules))
            if (rule.is_string())
                add("The link emulator's rule", rule.get<std::string>());
    }

    void packets() {
        const std::string packets = at(json_, "/capture/packets");
        const std::string dropped = at(json_, "/capture/dropped");
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

    const util::Json& json_;
    const timeline::FinishedRun& run_;
    util::Json facts_ = util::Json::array();
};

}  // namespace

util::Json facts_of(const util::Json& run_json, const timeline::FinishedRun& run) {
    return Facts(run_json, run).all();
}

std::string about(const util::Json& run_json, const timeline::TraceFiles& files) {
    std::string text = files.short_name();
    const auto add = [&text](std::string_view before, const std::string& value) {
        if (!value.empty())
            text.append(before).append(value);
    };
    for (const timeline::LogFile& log : files.logs)
        if (!files.is_run_dir)
            add(", log ", log.path);
    add(", started ", at(run_json, "/started"));
    add(", backend ", at(run_json, "/backend"));
    if (files.is_run_dir && !run_json.contains("ended"))
        text += ". The run had not ended when this page was made";
    return text;
}

}  // namespace page
