#include "tools/rocecap/interface_copies.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "trace/flow/key.hpp"
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

std::string interface_text(const wire::CaptureNotes& notes) {
    const std::uint32_t number = notes.interface_id.value_or(0);
    return notes.interface_name.empty() ? std::to_string(number)
                                        : fmt::format("{} ('{}')", number, notes.interface_name);
}

}  // namespace rocecap
