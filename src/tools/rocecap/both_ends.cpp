#include "tools/rocecap/both_ends.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tools/rocecap/check_facts.hpp"
#include "util/digest.hpp"
#include "util/error.hpp"

namespace rocecap {
namespace {

using conformance::LinkSide;
using conformance::Passing;

constexpr std::string_view before_link = "before", after_link = "after";  // interfaces

bool is_of_link(const capture::Frame& frame) {
    return frame.notes.interface_name == before_link || frame.notes.interface_name == after_link;
}

}  // namespace

void add_ends_option(CLI::App& command, std::vector<std::string>& ends) {
    command
        .add_option(
            "--end", ends,
            "The capture is merged from both ends, and this\ninterface (number or name) was "
            "at the host with this\naddress; repeat it for each end")
        ->type_name("INTERFACE=ADDRESS")
        ->expected(1)
        ->take_all();
}

BothEnds::BothEnds(std::string path, const std::vector<std::string>& ends)
    : path_(std::move(path)) {
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
    if (ends_.size() == 1)
        throw util::Error("--end: give the option twice, once for each end.");
}

std::optional<BothEnds> BothEnds::of(const std::string& path, const capture::Frame& first,
                                     const std::vector<std::string>& ends, const std::string& place,
                                     const std::string& interface) {
    if (!ends.empty()) {
        if (!place.empty() || !interface.empty())
            throw util::Error("--end needs a capture of both ends: omit --at and --interface.");
        return BothEnds(path, ends);
    }
    if (!is_of_link(first) || !interface.empty())
        return std::nullopt;
    if (!place.empty())
        throw util::Error(
            "--at needs a capture from one place, but this one has both sides of the link: omit "
            "--at.");
    return BothEnds(path, ends);
}

BothEnds::End* BothEnds::end_of(const flow::Host& host) {
    const auto found = std::ranges::find(ends_, host, &End::host);
    return found == ends_.end() ? nullptr : &*found;
}

BothEnds::End* BothEnds::end_with(const capture::Frame& frame) {
    const auto found = std::ranges::find_if(ends_, [&](const End& end) {
        return end.interface.takes(frame.notes.interface_id.value_or(0), frame.notes.interface_name,
                                   {});
    });
    return found == ends_.end() ? nullptr : &*found;
}

std::optional<Passing> BothEnds::see(const capture::Frame& frame, const wire::Packet& packet) {
    if (ends_.empty())
        return see_at_link(frame, packet);
    End* here = end_with(frame);
    if (here == nullptr)
        return std::nullopt;
    Passing passing{.side = LinkSide::Ingress, .host = here->host, .identity = frame.bytes};
    const auto key = flow::StreamKey::of(packet);
    if (!key)
        return passing;
    const bool is_at_sender = here->host == key->src;
    if (end_of(key->src) == nullptr || end_of(key->dst) == nullptr || key->src == key->dst ||
        (!is_at_sender && here->host != key->dst))
        return std::nullopt;
    here->has_packets = true;
    // One of the captures may have cut the packets.
    constexpr std::size_t most = 64;
    const util::Bytes bytes = conformance::invariant_bytes(packet, frame.bytes);
    const std::uint16_t ip_id = packet.ipv4 ? packet.ipv4->id : std::uint16_t{0};
    identity_.assign(bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(std::min(most, bytes.size())));
    constexpr std::size_t fecn = 4;  // the byte of the BTH with it
    if (identity_.size() > fecn)
        identity_[fecn] = std::byte{0};
    identity_.push_back(static_cast<std::byte>(ip_id & 0xff));
    identity_.push_back(static_cast<std::byte>(ip_id >> 8));
    passing.identity = identity_;
    if (is_at_sender)
        passing.trust = conformance::IcrcTrust::None;
    else
        passing.side = LinkSide::Egress;
    measure(passing.side, *key, frame.time.count(), passing.identity);
    return passing;
}

// A router changes the type of service (ECN), the TTL and their checksum, and FECN in the BTH: the packet
// is the same.
util::Bytes BothEnds::without_variant_fields(const wire::Packet& packet, util::Bytes frame) {
    identity_.assign(frame.begin(), frame.end());
    const auto clear = [&](wire::Header header, std::initializer_list<std::size_t> offsets) {
        const auto bytes = packet.trail.find(header).of(std::span(identity_));
        for (const std::size_t offset : offsets)
            if (offset < bytes.size())
                bytes[offset] = std::byte{0};
    };
    clear(wire::Header::Ipv4, {1, 8, 10, 11});
    clear(wire::Header::Ipv6, {0, 1, 7});
    clear(wire::Header::Bth, {4});
    return identity_;
}

Passing BothEnds::see_at_link(const capture::Frame& frame, const wire::Packet& packet) {
    if (!is_of_link(frame))
        throw util::Error(
            fmt::format("'{}' has interfaces other than 'before' and 'after' the link, so where "
                        "they captured is unknown: choose one with --interface.",
                        path_));
    const bool is_before = frame.notes.interface_name == before_link;
    has_before_ |= is_before;
    return {.side = is_before ? LinkSide::Ingress : LinkSide::Egress,
            .host = std::nullopt,
            .identity = without_variant_fields(packet, frame.bytes)};
}

void BothEnds::measure(LinkSide side, const flow::StreamKey& key, std::int64_t t_ns,
                       util::Bytes identity) {
    constexpr std::size_t most_flights = 65'536;
    if (flights_.size() >= most_flights)
        flights_.clear();
    Flight& flight = flights_[flow::mixed(key.hash(), util::digest_of(identity))];
    auto& seen = side == LinkSide::Ingress ? flight.sent : flight.arrived;
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
    delays.early += side == LinkSide::Ingress ? 1 : 0;
    delays.least = std::min(delays.least, *flight.arrived - *flight.sent);
}

void BothEnds::check_capture() const {
    if (ends_.empty() && !has_before_)
        throw util::Error(fmt::format(
            "'{}' has only one side of the link: interface 'before' is missing.", path_));
    for (const End& end : ends_)
        if (!end.has_packets)
            throw util::Error(fmt::format(
                "--end: the capture has no packet between these hosts on interface '{}'; 'mergecap "
                "-I none' keeps the interfaces of the captures that it merges.",
                end.text));
    check_clocks();
}

void BothEnds::check_clocks() const {
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
