#include "tools/rocecap/check_ends.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tools/rocecap/check_facts.hpp"
#include "util/digest.hpp"
#include "util/error.hpp"

namespace rocecap {

CheckEnds::CheckEnds(const std::vector<std::string>& ends) {
    for (const std::string& end : ends) {
        const auto equals = end.rfind('=');
        const auto host =
            equals == std::string::npos ? std::nullopt : host_of_address(end.substr(equals + 1));
        if (!host || equals == 0)
            throw util::Error(
                fmt::format("--end: '{}' is not valid: give an interface and its host's address, "
                            "as in eth0=192.0.2.1.",
                            end));
        const std::string interface = end.substr(0, equals);
        ends_.push_back({interface, capture::InterfaceChoice(interface), *host});
    }
    if (ends_.size() < 2)
        throw util::Error("--end: give the option twice, once for each end.");
}

CheckEnds::End* CheckEnds::end_of(const flow::Host& host) {
    const auto found = std::ranges::find(ends_, host, &End::host);
    return found == ends_.end() ? nullptr : &*found;
}

std::optional<conformance::LinkSide> CheckEnds::side_of(const capture::Frame& frame,
                                                        const flow::StreamKey& key) {
    End* from = end_of(key.src);
    End* to = end_of(key.dst);
    if (from == nullptr || to == nullptr || from == to)
        return std::nullopt;
    const auto is_at = [&](End& end) {
        const bool is_here = end.interface.takes(frame.notes.interface_id.value_or(0),
                                                 frame.notes.interface_name, {});
        end.has_packets |= is_here;
        return is_here;
    };
    if (is_at(*from))
        return conformance::LinkSide::Ingress;
    return is_at(*to) ? std::optional(conformance::LinkSide::Egress) : std::nullopt;
}

void CheckEnds::see(conformance::LinkSide side, const flow::StreamKey& key, std::int64_t t_ns,
                    util::Bytes bytes) {
    Flight& flight = flights_[flow::mixed(key.hash(), util::digest_of(bytes))];
    auto& seen = side == conformance::LinkSide::Ingress ? flight.sent : flight.arrived;
    // It is unknown which of several retransmissions arrived.
    if (flight.is_paired || seen)
        return;
    seen = t_ns;
    if (!flight.sent || !flight.arrived)
        return;
    flight.is_paired = true;
    const auto index = [&](const flow::Host& host) {
        return static_cast<std::size_t>(end_of(host) - ends_.data());
    };
    Delays& delays = delays_[{index(key.src), index(key.dst)}];
    ++delays.packets;
    delays.early += side == conformance::LinkSide::Ingress ? 1 : 0;
    delays.least = std::min(delays.least, *flight.arrived - *flight.sent);
}

void CheckEnds::check_capture() const {
    for (const End& end : ends_)
        if (!end.has_packets)
            throw util::Error(fmt::format(
                "--end: the capture has no packet between these hosts on interface '{}'; 'mergecap "
                "-I none' keeps the interfaces of the captures that it merges.",
                end.text));
    check_clocks();
}

void CheckEnds::check_clocks() const {
    constexpr std::uint64_t few = 10;  // a capture may have missed one of a pair
    for (const auto& [way, delays] : delays_) {
        if (delays.early * few < delays.packets)
            continue;
        const auto back = delays_.find({way.second, way.first});
        // Assumes that both directions take the same time.
        const std::int64_t behind =
            back == delays_.end() ? -delays.least : (back->second.least - delays.least) / 2;
        throw util::Error(fmt::format(
            "packets arrive at interface '{0}' before interface '{1}' sent them: the clocks "
            "differ. Shift the capture of '{0}' with 'editcap -t {2:.9f}', and merge the two "
            "again with mergecap.",
            ends_[way.second].text, ends_[way.first].text, static_cast<double>(behind) / 1e9));
    }
}

}  // namespace rocecap
