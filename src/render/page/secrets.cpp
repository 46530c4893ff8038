#include "render/page/secrets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/json.hpp"

namespace page {
namespace {

// If a log is the source, the row of the event; if a packet is, the page looks up the frame's row.
util::Json learned_json(const timeline::Capability& capability, const Rows& rows,
                        const timeline::FinishedRun& run) {
    const auto capture_time = [&](const timeline::Learned& learned) {
        return learned.t_ns + (learned.frame == 0 ? run.shift_of(learned.who) : 0);
    };
    std::vector<timeline::Learned> in_order = capability.learned;
    std::ranges::stable_sort(in_order, {}, capture_time);
    util::Json all = util::Json::array();
    for (const timeline::Learned& learned : in_order) {
        const std::int64_t t_ns = capture_time(learned);
        const auto row = learned.frame == 0 ? rows.row_of_event(learned.who, t_ns) : std::nullopt;
        all.push_back({{"who", learned.who},
                       {"t", t_ns - rows.origin_ns()},
                       {"how", learned.how},
                       {"frame", learned.frame},
                       {"row", row ? util::Json(*row) : util::Json(-1)}});
    }
    return all;
}

util::Json readable_json(const timeline::FirstPsn& direction) {
    // Every packet of the connection shows a PSN: the first few are enough.
    constexpr std::size_t most = 50;
    util::Json all = util::Json::array();
    const auto add = [&](std::string_view where, std::vector<std::uint64_t> frames) {
        if (frames.empty())
            return;
        frames.resize(std::min(frames.size(), most));
        all.push_back({{"where", where}, {"frames", frames}});
    };
    add("ConnectRequest", direction.connect_requests);
    add("ConnectReply", direction.connect_replies);
    add("TCP segment", direction.tcp_segments);
    add("BTH", direction.bths);
    return all;
}

}  // namespace

util::Json capabilities_json(const std::vector<timeline::Capability>& capabilities,
                             const Rows& rows, const timeline::FinishedRun& run) {
    util::Json all = util::Json::array();
    for (const timeline::Capability& capability : capabilities) {
        all.push_back({{"owner", capability.role},
                       {"va", fmt::format("{:#x}", capability.va)},
                       {"length", capability.length},
                       {"rkey", capability.rkey == 0 ? std::string("none")
                                                     : fmt::format("{:#010x}", capability.rkey)},
                       {"access", capability.access},
                       {"learned", learned_json(capability, rows, run)}});
    }
    return all;
}

util::Json first_psns_json(const timeline::FirstPsns& found) {
    const std::string unknown = found.has_logs ? "not in the log" : "not in the capture";
    const auto end = [](const std::string& who, std::uint32_t qpn) {
        return qpn == 0 ? who : fmt::format("{} QP {:#08x}", who, qpn);
    };
    util::Json all = util::Json::array();
    for (const timeline::FirstPsn& direction : found.directions)
        all.push_back({{"direction", end(direction.from, direction.qpn) + " → " +
                                         end(direction.to, direction.dest_qpn)},
                       {"psn", direction.psn      ? fmt::format("{:#08x}", *direction.psn)
                               : direction.hidden ? std::string("secret")
                                                  : unknown},
                       {"chosen_by", direction.chosen_by.empty() ? unknown : direction.chosen_by},
                       {"readable", readable_json(direction)}});
    return all;
}

}  // namespace page
