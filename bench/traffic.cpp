#include "bench/traffic.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bench/message.hpp"
#include "bench/syndrome.hpp"
#include "wire/encode.hpp"

namespace bench {
namespace {

constexpr std::size_t headers_of_udp_frame = 14 + 20 + 8;

void set_addresses(wire::Packet& packet, unsigned number, bool to_server) {
    const auto host = static_cast<std::uint8_t>(number % 8);
    wire::MacAddress client{{0x02, 0, 0, 0, 1, host}};
    wire::MacAddress server{{0x02, 0, 0, 0, 2, 1}};
    if (!to_server)
        std::swap(client, server);
    packet.ethernet = wire::Ethernet{.dst = server, .src = client, .type = 0};
    if (number % 10 == 3) {
        packet.vlans.count = 1;
        packet.vlans.tags[0] = {.priority = 3, .dei = false, .id = 100, .type = 0};
    }
    const auto port = static_cast<std::uint16_t>(49152 + number);
    if (number % 10 == 7) {
        wire::Ipv6Address from{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, host}};
        wire::Ipv6Address to{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1}};
        if (!to_server)
            std::swap(from, to);
        packet.ipv6 = wire::Ipv6{
            .tclass = 0x6a, .flow_label = 0x1000 + number, .hop_limit = 64, .src = from, .dst = to};
    } else {
        wire::Ipv4Address from{{192, 0, 2, static_cast<std::uint8_t>(10 + host)}};
        wire::Ipv4Address to{{192, 0, 2, 1}};
        if (!to_server)
            std::swap(from, to);
        packet.ipv4 =
            wire::Ipv4{.dsfield = 0x6a, .id = 0, .df = true, .ttl = 64, .src = from, .dst = to};
    }
    packet.udp = wire::Udp{.src_port = port};
}

}  // namespace

Traffic::Traffic(unsigned connections) : now_(std::chrono::seconds(1'767'225'600)) {
    for (unsigned number = 0; number < connections; ++number)
        connect(number);
}

Traffic::Frame Traffic::next() {
    while (ready_.empty())
        exchange(connections_[random(static_cast<unsigned>(connections_.size()))]);
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
}

// The offsets of QPN and PSN in a ConnectRequest and a ConnectReply: IBTA volume 1, 12.6.5, 12.6.8.
// Each message has the first PSN of its receiver.
void Traffic::connect(unsigned number) {
    Connection connection;
    set_addresses(connection.to_server, number, true);
    set_addresses(connection.to_client, number, false);
    connection.client_qpn = 0x100 + number;
    connection.server_qpn = 0x1100 + number;
    connection.psn = wire::Psn(static_cast<std::uint32_t>(random_()));
    connection.rkey = 0x20000 + number;
    connection.va = 0x7f0000000000 + std::uint64_t{number} * 0x100000;

    const auto message = [&](const wire::Packet& headers, wire::CmAttribute attribute) {
        std::array<std::byte, wire::Mad::datagram_size> mad{};
        const std::span bytes(mad);
        wire::write(wire::Mad{.mgmt_class = wire::mgmt_class::communication,
                              .class_version = 2,
                              .method = 3,
                              .transaction_id = number,
                              .attribute_id = static_cast<std::uint16_t>(attribute)},
                    bytes.first<wire::Mad::size>());
        const auto data = bytes.subspan<wire::Mad::size, 60>();
        const bool is_request = attribute == wire::CmAttribute::ConnectRequest;
        util::put_be32<0>(data, is_request ? number + 1 : number + 0x1001);
        util::put_be32<4>(data, is_request ? 0 : number + 1);
        if (is_request) {
            util::put_be24<32>(data, connection.client_qpn);
            util::put_be24<44>(data, 0x654321);
            util::put_be8<50>(data, 0x10);  // path MTU code 1: 256 bytes
        } else if (attribute == wire::CmAttribute::ConnectReply) {
            util::put_be24<12>(data, connection.server_qpn);
            util::put_be24<20>(data, connection.psn.value());
        }
        wire::Packet packet = headers;
        packet.bth = wire::Bth{.opcode = wire::ud_send_only_opcode,
                               .p_key = 0xffff,
                               .dest_qpn = wire::gsi_qpn,
                               .psn = wire::Psn(number)};
        packet.deth = wire::Deth{.q_key = wire::gsi_q_key, .src_qpn = wire::gsi_qpn};
        packet.payload = mad;
        emit(packet);
    };
    message(connection.to_server, wire::CmAttribute::ConnectRequest);
    message(connection.to_client, wire::CmAttribute::ConnectReply);
    message(connection.to_server, wire::CmAttribute::ReadyToUse);
    connections_.push_back(connection);
}

void Traffic::exchange(Connection& connection) {
    const unsigned kind = random(100);
    if (kind < 45)
        write(connection, 1 + random(6 * path_mtu));
    else if (kind < 70)
        send(connection, 1 + random(path_mtu));
    else if (kind < 85)
        read(connection, 1 + random(6 * path_mtu));
    else if (kind < 93)
        fetch_add(connection);
    else if (kind < 98)
        datagram(connection);
    else
        not_roce(connection);
}

wire::Packet Traffic::request(Connection& connection, std::uint8_t opcode, std::size_t payload) {
    wire::Packet packet = connection.to_server;
    packet.bth = wire::Bth{.opcode = opcode,
                           .p_key = 0xffff,
                           .dest_qpn = connection.server_qpn,
                           .psn = connection.psn};
    packet.payload = payload_bytes(payload);
    if (packet.ipv4 && random(500) == 0)
        packet.ipv4->dsfield |= 3;  // congestion experienced (RFC 3168)
    return packet;
}

wire::Packet Traffic::response(const Connection& connection, std::uint8_t opcode, wire::Psn psn,
                               std::uint8_t syndrome) {
    wire::Packet packet = connection.to_client;
    packet.bth =
        wire::Bth{.opcode = opcode, .p_key = 0xffff, .dest_qpn = connection.client_qpn, .psn = psn};
    packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = connection.msn & wire::Psn::mask};
    return packet;
}

void Traffic::acknowledge(Connection& connection, wire::Psn psn) {
    ++connection.msn;
    emit(response(connection, 0x11, psn, ack_syndrome));
}

// One packet in 2000 is lost after the tap: the responder sends a NAK, and all packets from there
// on are retransmitted.
void Traffic::write(Connection& connection, std::size_t length) {
    const wire::Psn first = connection.psn;
    const std::uint32_t packets = packets_of(length);
    const auto send_from = [&](std::uint32_t index) {
        for (; index < packets; ++index) {
            const std::size_t offset = index * path_mtu;
            connection.psn = first + index;
            wire::Packet packet =
                request(connection, opcode_at(offset, length, 0x06, 0x07, 0x08, 0x0a),
                        std::min(path_mtu, length - offset));
            if (index == 0)
                packet.reth = wire::Reth{.va = connection.va,
                                         .rkey = connection.rkey,
                                         .dmalen = static_cast<std::uint32_t>(length)};
            packet.bth->a = index + 1 == packets;
            emit(packet);
        }
    };
    send_from(0);
    if (random(2000) == 0) {
        const std::uint32_t lost = random(packets);
        emit(response(connection, 0x11, first + lost, psn_error_syndrome));
        send_from(lost);
    }
    connection.psn = first + packets;
    acknowledge(connection, first + (packets - 1));
}

void Traffic::send(Connection& connection, std::size_t length) {
    wire::Packet packet = request(connection, 0x04, length);
    packet.bth->a = true;
    emit(packet);
    if (random(1000) == 0) {
        emit(response(connection, 0x11, connection.psn, rnr_syndrome));
        now_ += std::chrono::microseconds(640);
        emit(packet);
    }
    acknowledge(connection, connection.psn);
    connection.psn += 1;
}

void Traffic::read(Connection& connection, std::size_t length) {
    wire::Packet packet = request(connection, 0x0c, 0);
    packet.reth = wire::Reth{
        .va = connection.va, .rkey = connection.rkey, .dmalen = static_cast<std::uint32_t>(length)};
    emit(packet);
    ++connection.msn;
    for (std::size_t offset = 0; offset < length; offset += path_mtu) {
        packet = response(connection, opcode_at(offset, length, 0x0d, 0x0e, 0x0f, 0x10),
                          connection.psn, ack_syndrome);
        packet.payload = payload_bytes(std::min(path_mtu, length - offset));
        emit(packet);
        connection.psn += 1;
    }
}

void Traffic::fetch_add(Connection& connection) {
    wire::Packet packet = request(connection, 0x14, 0);
    packet.atomic_eth =
        wire::AtomicEth{.va = connection.va, .rkey = connection.rkey, .swapdt = 1, .cmpdt = 0};
    emit(packet);
    ++connection.msn;
    packet = response(connection, 0x12, connection.psn, ack_syndrome);
    packet.atomic_ack_eth = wire::AtomicAckEth{.origremdt = connection.msn};
    emit(packet);
    connection.psn += 1;
}

// Some of them cause a congestion notification packet.
void Traffic::datagram(const Connection& connection) {
    wire::Packet packet = connection.to_server;
    packet.bth = wire::Bth{.opcode = wire::ud_send_only_opcode,
                           .p_key = 0xffff,
                           .dest_qpn = connection.server_qpn + 0x10000,
                           .psn = wire::Psn(connection.msn)};
    packet.deth = wire::Deth{.q_key = 0x11111111, .src_qpn = connection.client_qpn + 0x10000};
    packet.payload = payload_bytes(random(path_mtu));
    emit(packet);
    if (random(20) != 0)
        return;
    packet = connection.to_client;
    packet.bth = wire::Bth{.opcode = wire::cnp_opcode,
                           .p_key = 0xffff,
                           .becn = true,
                           .dest_qpn = connection.client_qpn,
                           .psn = {}};
    emit(packet);
}

void Traffic::not_roce(const Connection& connection) {
    wire::Packet packet = connection.to_server;
    packet.vlans = {};
    packet.ipv6.reset();
    packet.ipv4 = wire::Ipv4{.ttl = 64, .src = {{192, 0, 2, 10}}, .dst = {{192, 0, 2, 1}}};
    packet.bth = wire::Bth{.opcode = 0x04, .psn = {}};
    packet.payload = payload_bytes(64);
    emit(packet);
    const std::span<std::byte, wire::Udp::size> udp(
        ready_.back().bytes.data() + headers_of_udp_frame - wire::Udp::size, wire::Udp::size);
    util::put_be16<2>(udp, 5353);
}

void Traffic::emit(const wire::Packet& packet) {
    now_ += std::chrono::nanoseconds(200 + random(1800));
    ready_.push_back({now_, wire::encode(packet)});
}

}  // namespace bench
