#include "rocecap/run_log_pairs.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include "runlog/tail.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

// A RoCE GID is an address: IPv6, or IPv4 as ::ffff:a.b.c.d.
std::optional<flow::Host> host_of(const runlog::Event& device) {
    wire::Ipv6Address address;
    const std::string gid(device.text("gid"));
    if (inet_pton(AF_INET6, gid.c_str(), address.bytes.data()) != 1)
        return std::nullopt;
    return flow::Host::of(address);
}

void add_pairs(const std::string& path, std::vector<flow::KnownPair>& pairs) {
    if (access(path.c_str(), R_OK) != 0)
        throw util::Error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    runlog::Tail log(path);
    std::vector<flow::KnownPair> found;
    std::optional<flow::Host> host;
    while (const auto event = log.next()) {
        if (event->name == "device") {
            host = host_of(*event);
            continue;
        }
        const auto qpn = event->number("qpn");
        const auto dest_qpn = event->number("dest_qpn");
        if (event->name != "qp_state" || !qpn || !dest_qpn || *dest_qpn == 0)
            continue;
        found.push_back(
            {.host = host,
             .qpn = static_cast<std::uint32_t>(*qpn),
             .dest_qpn = static_cast<std::uint32_t>(*dest_qpn),
             .path_mtu = static_cast<flow::PathMtu>(event->number("path_mtu").value_or(0))});
    }
    if (found.empty())
        throw util::Error(fmt::format(
            "'{}' names no queue pair and its peer: is it a run log (--run-log of a step)?", path));
    pairs.insert(pairs.end(), found.begin(), found.end());
}

}  // namespace

std::vector<flow::KnownPair> pairs_of(const std::vector<std::string>& run_logs) {
    std::vector<flow::KnownPair> pairs;
    for (const std::string& path : run_logs)
        add_pairs(path, pairs);
    return pairs;
}

}  // namespace rocecap
