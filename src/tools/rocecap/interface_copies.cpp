#include "tools/rocecap/interface_copies.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/digest.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

constexpr std::size_t remembered = 65'536;

// Covers only fields that a router or a second link does not change.
std::uint64_t digest_of(const flow::StreamKey& key, const wire::Packet& packet) {
    constexpr std::size_t most = 64;
    std::uint64_t digest =
        flow::mixed(key.hash(), std::uint64_t{packet.bth->opcode} << 32U | packet.bth->psn.value());
    if (packet.aeth)
        digest = flow::mixed(digest, packet.aeth->msn << 8U | packet.aeth->syndrome);
    const util::Bytes payload = packet.payload.first(std::min(most, packet.payload.size()));
    return flow::mixed(digest, util::digest_of(payload));
}

// packet(7)
constexpr std::uint16_t to_us = 0;
constexpr std::uint16_t outgoing = 4;

std::optional<flow::Host> local_end(const flow::StreamKey& key, const wire::LinuxCooked& header) {
    if (header.packet_type == outgoing)
        return key.src;
    return header.packet_type == to_us ? std::optional(key.dst) : std::nullopt;
}

}  // namespace

void InterfaceCopies::Copies::add(const Interface& here, const Interface& there) {
    if (count++ == 0) {
        first = here;
        second = there;
    }
}

bool InterfaceCopies::take(const capture::Frame& frame, const wire::Packet& packet) {
    const auto key = flow::StreamKey::of(packet);
    if (!key || (!frame.notes.has_other_interfaces && !packet.sll))
        return true;
    ++packets_;
    Seen now{.t_ns = frame.time.count()};
    if (frame.notes.interface_id) {
        now.first.id = *frame.notes.interface_id;
        if (!names_.contains(now.first.id))
            names_.emplace(now.first.id, interface_text(frame.notes));
    }
    if (packet.sll) {  // version 1 has no interface
        now.first.index = packet.sll->ifindex;
        now.was_received = packet.sll->packet_type == to_us;
    }
    now.last = now.first;
    const std::uint16_t id = packet.ipv4 ? packet.ipv4->id : std::uint16_t{0};
    now.digest = flow::mixed(digest_of(*key, packet), id);
    if (last_.empty())
        last_.resize(remembered);
    Seen& seen = last_[now.digest % remembered];
    if (seen.digest != now.digest || seen.first == now.first || seen.last == now.first) {
        seen = now;
        if (!host_ && packet.sll)
            host_ = local_end(*key, *packet.sll);
        return true;
    }
    constexpr std::int64_t soon_ns = 1'000'000;  // no timer is so short
    if (id == 0 && now.t_ns - seen.t_ns >= soon_ns) {
        if (seen.first.id != now.first.id)  // otherwise, none can be chosen
            doubtful_.add(seen.first, now.first);
        seen = {};
        return true;
    }
    left_out_.add(seen.first, now.first);
    forwards_ |= seen.was_received && packet.sll && packet.sll->packet_type == outgoing;
    seen.last = now.first;
    return false;
}

std::string InterfaceCopies::name(const Interface& interface) const {
    if (interface.index != 0)
        return std::to_string(interface.index);
    const auto name = names_.find(interface.id);
    return name == names_.end() ? std::to_string(interface.id) : name->second;
}

std::string InterfaceCopies::text() const {
    return left_out_.count == 0
               ? std::string()
               : fmt::format(
                     "{} of {} RoCE packets were captured again, such as on interface {} after "
                     "interface {}: each counts once.",
                     left_out_.count, packets_, name(left_out_.second), name(left_out_.first));
}

void InterfaceCopies::warn(const std::string& advice) const {
    constexpr std::uint64_t few = 10;
    if (doubtful_.count == 0 || doubtful_.count * few < packets_)
        return;
    util::print_error(fmt::format(
        "rocecap: {} of {} RoCE packets appear twice, on interface {} and on interface {}, and "
        "each second copy looks like a retransmission: {}.\n",
        doubtful_.count, packets_, name(doubtful_.first), name(doubtful_.second), advice));
}

std::string interface_text(const wire::CaptureNotes& notes) {
    const std::uint32_t number = notes.interface_id.value_or(0);
    return notes.interface_name.empty() ? std::to_string(number)
                                        : fmt::format("{} ('{}')", number, notes.interface_name);
}

}  // namespace rocecap
