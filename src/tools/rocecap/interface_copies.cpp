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

void InterfaceCopies::see(const capture::Frame& frame, const wire::Packet& packet) {
    const auto key = flow::StreamKey::of(packet);
    if (!key || !frame.notes.interface_id)
        return;
    if (last_.empty())
        last_.resize(remembered);
    ++packets_;
    const std::uint32_t interface = *frame.notes.interface_id;
    const std::uint64_t digest = digest_of(*key, packet);
    Seen& seen = last_[digest % remembered];
    if (seen.digest != digest || seen.interface == interface) {
        seen = {digest, interface};
        return;
    }
    if (copies_++ == 0) {
        here_ = interface_text(frame.notes);
        other_ = seen.interface;
    }
    if (there_.empty() && interface == other_)
        there_ = interface_text(frame.notes);
    seen = {};
}

void InterfaceCopies::warn(const std::string& advice) const {
    constexpr std::uint64_t few = 10;
    if (copies_ == 0 || copies_ * few < packets_)
        return;
    util::print_error(fmt::format(
        "rocecap: {} of {} RoCE packets appear twice, on interface {} and on interface {}, and "
        "each second "
        "copy looks like a retransmission: {}.\n",
        copies_, packets_, there_.empty() ? std::to_string(other_) : there_, here_, advice));
}

bool AnyCapture::take(const capture::Frame& frame, const wire::Packet& packet) {
    const auto key = packet.sll ? flow::StreamKey::of(packet) : std::nullopt;
    if (!key)
        return true;
    ++packets_;
    const wire::LinuxCooked& header = *packet.sll;
    const std::uint16_t id = packet.ipv4 ? packet.ipv4->id : std::uint16_t{0};
    const Seen now{.digest = flow::mixed(digest_of(*key, packet), id),
                   .interface = header.ifindex,
                   .t_ns = frame.time.count(),
                   .was_received = header.packet_type == to_us};
    if (last_.empty())
        last_.resize(remembered);
    Seen& seen = last_[now.digest % remembered];
    constexpr std::int64_t soon_ns = 1'000'000;  // no timer is so short
    // Version 1 of the header has no interface.
    const bool is_copy = seen.digest == now.digest && seen.interface != now.interface &&
                         (id != 0 || now.t_ns - seen.t_ns < soon_ns);
    if (!is_copy) {
        seen = now;
        if (!host_)
            host_ = local_end(*key, header);
        return true;
    }
    forwards_ |= seen.was_received && header.packet_type == outgoing;
    if (copies_++ == 0) {
        first_ = seen.interface;
        second_ = now.interface;
    }
    return false;
}

std::string AnyCapture::text() const {
    return copies_ == 0
               ? std::string()
               : fmt::format(
                     "{} of {} RoCE packets were captured again, such as on interface {} after "
                     "interface {}: each counts once.",
                     copies_, packets_, second_, first_);
}

std::string interface_text(const wire::CaptureNotes& notes) {
    const std::uint32_t number = notes.interface_id.value_or(0);
    return notes.interface_name.empty() ? std::to_string(number)
                                        : fmt::format("{} ('{}')", number, notes.interface_name);
}

}  // namespace rocecap
