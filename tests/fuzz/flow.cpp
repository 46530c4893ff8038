// Input: records of eight bytes, each a packet between two hosts and a few queue pairs. The packets
// are not decoded from bytes, so that nearly all inputs reach the tracker.
#include <array>
#include <cstdint>

#include "fuzz/check.hpp"
#include "render/explain_text.hpp"
#include "render/flow_json.hpp"
#include "render/flow_text.hpp"
#include "trace/explain/explainer.hpp"
#include "trace/flow/tracker.hpp"
#include "wire/opcode.hpp"

namespace {

constexpr std::size_t record_size = 8;
using Record = std::span<const std::uint8_t, record_size>;

// Byte 0: opcode. 1: direction, queue pairs, ECN. 2 to 4: PSN. 5: length. 6: syndrome of an AETH,
// or rkey and scale of the length of a RETH. 7: time and identification, see Clock.
wire::Packet packet_of(Record record) {
    const auto opcodes = wire::opcodes();
    wire::Packet packet;
    const bool is_forward = (record[1] & 1U) != 0;
    packet.ipv4.emplace();
    packet.ipv4->src.bytes = {10, 0, 0, static_cast<std::uint8_t>(is_forward ? 1 : 2)};
    packet.ipv4->dst.bytes = {10, 0, 0, static_cast<std::uint8_t>(is_forward ? 2 : 1)};
    packet.ipv4->dsfield = record[1] >> 6;
    packet.opcode = &opcodes[record[0] % opcodes.size()];
    packet.bth.emplace();
    packet.bth->opcode = packet.opcode->value;
    packet.bth->dest_qpn = 0x10U + (record[1] >> 1 & 7U);
    packet.bth->psn =
        wire::Psn(std::uint32_t{record[2]} << 16 | std::uint32_t{record[3]} << 8 | record[4]);
    const std::size_t length = std::size_t{record[5]} * 64;
    if (packet.opcode->has(wire::header::deth))
        packet.deth = wire::Deth{.q_key = 1, .src_qpn = 0x10U + (record[1] >> 4 & 3U)};
    if (packet.opcode->has(wire::header::reth))
        packet.reth = wire::Reth{.va = 0,
                                 .rkey = record[6],
                                 .dmalen = static_cast<std::uint32_t>(length << (record[6] % 20))};
    if (packet.opcode->has(wire::header::aeth))
        packet.aeth = wire::Aeth{.syndrome = record[6], .msn = 0};
    if (packet.opcode->carries_payload())
        packet.payload_length = length;
    packet.icrc.emplace();
    return packet;
}

// When packets come, and their IPv4 identifications. Captures need not be in order of time.
class Clock {
  public:
    /// Bits 0 to 4: 2^n * 100 ns since the preceding packet, at most 214 s. 5 and 6: no identification, a
    /// new one, or that of the packet before. 7: earlier than the preceding packet, not later.
    void go_on(std::uint8_t step) {
        constexpr std::int64_t unit_ns = 100;
        const std::int64_t passed = unit_ns << (step & 31U);
        time_ += std::chrono::nanoseconds((step & 0x80U) != 0 ? -passed : passed);
        const unsigned kind = step >> 5U & 3U;
        id_ = kind == 0 ? std::uint16_t{0} : kind == 1 ? ++last_ : last_;
    }
    std::chrono::nanoseconds time() const { return time_; }
    std::uint16_t id() const { return id_; }

  private:
    std::chrono::nanoseconds time_{};
    std::uint16_t id_ = 0, last_ = 0;
};

void check(const flow::Tracker& tracker) {
    std::uint64_t packets =
        tracker.totals().evicted_packets + tracker.totals().not_roce + tracker.totals().unreadable;
    tracker.for_each([&](const flow::Conversation& conversation) {
        packets += conversation.forward.packets +
                   (conversation.backward ? conversation.backward->packets : 0);
        fuzz::require(!render::flow_text(conversation, {}, util::TextStyle()).empty(), "no text");
        fuzz::require(!render::flow_json(conversation).dump().empty(), "no JSON");
        const auto& requests = conversation.forward.requests;
        fuzz::require(requests.repeats + requests.late <= requests.packets,
                      "more requests are out of order than there are");
    });
    fuzz::require(packets == tracker.totals().packets, "packets are missing from the report");
}

void check(const explain::Explanation& explanation) {
    fuzz::require(!render::explain_text(explanation, {}, util::TextStyle()).empty(),
                  "an explanation has words");
    for (const explain::Cause& cause : explanation.causes)
        fuzz::require(!cause.evidence.empty(), "a cause has evidence");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr flow::Limits limits{.streams = flow::Limits::least_streams};
    flow::Tracker tracker(limits);
    constexpr std::size_t most = 32;  // of 256: it forgets the others
    explain::Explainer explainer(limits, most);
    std::uint64_t frame = 0;
    Clock clock;
    for (std::span rest(data, size); rest.size() >= record_size; rest = rest.subspan(record_size)) {
        const Record record = rest.first<record_size>();
        clock.go_on(record[7]);
        wire::Packet packet = packet_of(record);
        packet.ipv4->id = clock.id();
        tracker.add(clock.time(), packet, 100);
        explainer.add(++frame, clock.time().count(), packet, 100, {});
    }
    check(tracker);
    check(explainer.explanation());
    return 0;
}
