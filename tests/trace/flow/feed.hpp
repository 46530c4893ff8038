// Packets for tests of the tracker. They are encoded, and decoded as from a capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/flow/tracker.hpp"
#include "wire/sample_frames.hpp"

namespace flow_test {

/// One direction: from one host to a queue pair of another. Hosts are numbers 1 to 255.
struct Way {
    std::uint8_t from = 1;
    std::uint8_t to = 2;
    std::uint32_t qpn = 0;
    wire_test::Network network = wire_test::Network::Ipv4;
};

inline void set_addresses(wire::Packet& packet, const Way& way) {
    wire_test::set_network(packet, way.network);
    if (packet.ipv4) {
        packet.ipv4->dsfield = 0x02;  // ECN-capable
        packet.ipv4->id = 0;          // as of senders that do not use it (RFC 6864)
        packet.ipv4->src.bytes[3] = way.from;
        packet.ipv4->dst.bytes[3] = way.to;
    } else if (packet.ipv6) {
        packet.ipv6->tclass = 0x02;
        packet.ipv6->src.bytes[15] = way.from;
        packet.ipv6->dst.bytes[15] = way.to;
    } else {
        packet.grh->sgid.bytes[15] = way.from;
        packet.grh->dgid.bytes[15] = way.to;
    }
}

namespace opcode {
inline constexpr std::uint8_t send_first = 0x00;
inline constexpr std::uint8_t send_middle = 0x01;
inline constexpr std::uint8_t send_last = 0x02;
inline constexpr std::uint8_t send_only = 0x04;
inline constexpr std::uint8_t write_first = 0x06;
inline constexpr std::uint8_t write_only = 0x0a;
inline constexpr std::uint8_t read_request = 0x0c;
inline constexpr std::uint8_t read_first = 0x0d;
inline constexpr std::uint8_t read_middle = 0x0e;
inline constexpr std::uint8_t read_last = 0x0f;
inline constexpr std::uint8_t read_only = 0x10;
inline constexpr std::uint8_t acknowledge = 0x11;
inline constexpr std::uint8_t atomic_acknowledge = 0x12;
inline constexpr std::uint8_t fetch_add = 0x14;
inline constexpr std::uint8_t flush = 0x1c;
inline constexpr std::uint8_t uc_send_only = 0x24;
inline constexpr std::uint8_t dc_send_only = 0x44;
inline constexpr std::uint8_t xrc_send_only = 0xa4;
}  // namespace opcode

namespace syndrome {
inline constexpr std::uint8_t ack = 0x1f;
inline constexpr std::uint8_t rnr = 0x2c;
inline constexpr std::uint8_t reserved = 0x40;
inline constexpr std::uint8_t psn_error = 0x60;
inline constexpr std::uint8_t access_error = 0x62;
}  // namespace syndrome

inline wire::Packet packet(const Way& way, std::uint8_t code, std::uint32_t psn,
                           std::size_t payload = 0) {
    wire::Packet made;
    set_addresses(made, way);
    made.bth =
        wire::Bth{.opcode = code, .p_key = 0xffff, .dest_qpn = way.qpn, .psn = wire::Psn(psn)};
    made.payload = wire_test::sample_payload(payload);
    return made;
}

inline wire::Packet read(const Way& way, std::uint32_t psn, std::uint32_t dmalen) {
    auto made = packet(way, opcode::read_request, psn);
    made.reth = wire::Reth{.va = 0x1000, .rkey = 0x77, .dmalen = dmalen};
    return made;
}

inline wire::Packet answer(const Way& way, std::uint32_t psn,
                           std::uint8_t syndrome = syndrome::ack) {
    auto made = packet(way, opcode::acknowledge, psn);
    made.aeth = wire::Aeth{.syndrome = syndrome, .msn = 0};
    return made;
}

inline wire::Packet datagram(const Way& way, std::uint32_t src_qpn, std::uint32_t psn) {
    auto made = packet(way, wire::ud_send_only_opcode, psn, 8);
    made.deth = wire::Deth{.q_key = 0x11111111, .src_qpn = src_qpn};
    return made;
}

/// The endpoint in a message of the connection manager.
struct Endpoint {
    std::uint32_t comm_id = 0;
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;
};

/// Which transport a ConnectRequest asks for; by default RC.
struct Service {
    unsigned type = 0;
    unsigned extended = 0;
};

// Offsets in the messages' data: IBTA volume 1, 12.6.5 and 12.6.8.
inline std::vector<std::byte> connect_request(const Endpoint& active, unsigned path_mtu_code,
                                              const Service& service = {}) {
    std::vector<std::byte> data(wire::Mad::data_size);
    const auto bytes = std::span(data).first<wire::Mad::data_size>();
    util::put_be32<0>(bytes, active.comm_id);
    util::put_be24<32>(bytes, active.qpn);
    util::put_be8<43>(bytes, static_cast<std::uint8_t>(service.type << 1));
    util::put_be24<44>(bytes, active.psn);
    util::put_be8<50>(bytes, static_cast<std::uint8_t>(path_mtu_code << 4));
    util::put_be8<51>(bytes, static_cast<std::uint8_t>(service.extended));
    return wire_test::cm_mad(wire::CmAttribute::ConnectRequest, data);
}

inline std::vector<std::byte> connect_reply(const Endpoint& passive, std::uint32_t active_comm_id) {
    std::vector<std::byte> data(wire::Mad::data_size);
    const auto bytes = std::span(data).first<wire::Mad::data_size>();
    util::put_be32<0>(bytes, passive.comm_id);
    util::put_be32<4>(bytes, active_comm_id);
    util::put_be24<12>(bytes, passive.qpn);
    util::put_be24<20>(bytes, passive.psn);
    return wire_test::cm_mad(wire::CmAttribute::ConnectReply, data);
}

/// The packet of a message of the connection manager.
inline wire::Packet cm_packet(Way way, const std::vector<std::byte>& mad) {
    way.qpn = wire::gsi_qpn;
    auto made = datagram(way, wire::gsi_qpn, 7);
    made.deth->q_key = wire::gsi_q_key;
    made.payload = mad;
    return made;
}

/// A tracker and the time: each packet is 1 µs after the preceding one.
class Feed {
  public:
    static constexpr std::int64_t begin = 1'000'000'000;
    static constexpr std::int64_t step = 1'000;

    explicit Feed(const flow::Limits& limits = {.streams = 64}) : tracker_(limits) {}

    flow::Tracker& tracker() { return tracker_; }
    /// The next packet is `ns` after the preceding one, instead of `step`.
    void wait(std::int64_t ns) { now_ += ns - step; }
    void at(std::int64_t ns) { now_ = begin + ns - step; }

    void add(const wire::Packet& made, wire::IcrcCheck icrc = wire::IcrcCheck::Skip) {
        const auto frame = wire::encode(made);
        add(frame, icrc);
    }
    void add(util::Bytes frame, wire::IcrcCheck icrc = wire::IcrcCheck::Skip) {
        add(frame, frame.size(), icrc);
    }
    void add(util::Bytes frame, std::size_t length, wire::IcrcCheck icrc = wire::IcrcCheck::Skip) {
        now_ += step;
        tracker_.add(std::chrono::nanoseconds(now_),
                     wire::decode(frame, wire::LinkType::Ethernet, length, icrc), length);
    }

    /// Adds the connection set-up: a ConnectRequest from `active` over `to_passive`, and the reply.
    void connect(const Way& to_passive, const Endpoint& active, const Endpoint& passive,
                 unsigned path_mtu_code = 1) {
        request(to_passive, active, path_mtu_code);
        reply(to_passive, active, passive);
    }
    void request(Way to_passive, const Endpoint& active, unsigned path_mtu_code = 1,
                 const Service& service = {}) {
        add(cm_packet(to_passive, connect_request(active, path_mtu_code, service)));
    }
    void reply(const Way& to_passive, const Endpoint& active, const Endpoint& passive) {
        add(cm_packet({.from = to_passive.to, .to = to_passive.from, .network = to_passive.network},
                      connect_reply(passive, active.comm_id)));
    }

    std::vector<flow::Conversation> conversations() const {
        std::vector<flow::Conversation> all;
        tracker_.for_each([&](const flow::Conversation& one) { all.push_back(one); });
        return all;
    }
    /// Returns all conversations except those of the connection manager.
    std::vector<flow::Conversation> connections() const {
        auto all = conversations();
        std::erase_if(all, [](const flow::Conversation& one) {
            return one.forward.dest_qpn == wire::gsi_qpn;
        });
        return all;
    }

  private:
    flow::Tracker tracker_;
    std::int64_t now_ = begin - step;
};

}  // namespace flow_test
