// A connection with its connection manager messages, and the messages sent over it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/sample_frames.hpp"

namespace service_test {

inline constexpr std::uint32_t active_qpn = 0x11;   // sends the ConnectRequest
inline constexpr std::uint32_t passive_qpn = 0x12;  // receives the ConnectRequest

inline void put(std::vector<std::byte>& data, std::size_t at, std::string_view hex) {
    const auto bytes = wire_test::from_hex(hex);
    std::ranges::copy(bytes, data.begin() + static_cast<std::ptrdiff_t>(at));
}

inline void swap_hosts(wire::Packet& packet) {
    std::swap(packet.ipv4->src, packet.ipv4->dst);
}

/// Bytes at an offset in the data of a connection manager message (IBTA volume 1, 12.6).
struct At {
    std::size_t offset;
    std::string_view hex;
};
inline std::vector<std::byte> cm_frame(wire::CmAttribute attribute, const std::vector<At>& contents,
                                       bool is_to_active) {
    std::vector<std::byte> data(wire::Mad::data_size);
    for (const At& part : contents)
        put(data, part.offset, part.hex);
    const auto mad = wire_test::cm_mad(attribute, data);
    auto packet = wire_test::cm_packet(mad, wire_test::Network::Ipv4);
    if (is_to_active)
        swap_hosts(packet);
    return wire::encode(packet);
}

/// Returns a ConnectRequest for `service_id`, with `private_data` after rdma_cm's header.
inline std::vector<std::byte> request(std::string_view service_id, std::string_view private_data) {
    return cm_frame(wire::CmAttribute::ConnectRequest,
                    {{0, "00000001"},
                     {8, service_id},
                     {56, "00000000 00000000 0000ffff c0000202"},
                     {72, "00000000 00000000 0000ffff c0000201"},
                     {32, "000011"},  // the queue pair
                     {140, "0040 8000 00000000 00000000 00000000 c0000202"},
                     {160, "00000000 00000000 00000000 c0000201"},
                     {176, private_data}},
                    false);
}
inline std::vector<std::byte> reply(std::string_view private_data) {
    return cm_frame(wire::CmAttribute::ConnectReply,
                    {{0, "00000002"}, {4, "00000001"}, {12, "000012"}, {36, private_data}}, true);
}
inline std::vector<std::byte> reject(std::string_view reason, std::string_view private_data) {
    return cm_frame(wire::CmAttribute::ConnectReject,
                    {{0, "00000002"}, {4, "00000001"}, {10, reason}, {84, private_data}}, true);
}

/// A SEND of the connection.
inline std::vector<std::byte> send(util::Bytes payload, bool is_to_active,
                                   std::uint8_t opcode = 0x04) {
    wire::Packet packet;
    wire_test::set_network(packet, wire_test::Network::Ipv4);
    if (is_to_active)
        swap_hosts(packet);
    packet.bth = wire::Bth{.opcode = opcode,
                           .p_key = 0xffff,
                           .dest_qpn = is_to_active ? active_qpn : passive_qpn,
                           .psn = wire::Psn(1)};
    if (const auto* info = wire::find_opcode(opcode); info->has(wire::header::ieth))
        packet.ieth = wire::Ieth{.rkey = 0x220};
    packet.payload = payload;
    return wire::encode(packet);
}
inline std::vector<std::byte> send(std::string_view hex, bool is_to_active) {
    return send(wire_test::from_hex(hex), is_to_active);
}

inline constexpr std::string_view nvme_service = "0000000001 06 1144";  // port space TCP, port 4420

/// A Read of 8 blocks from block 0x80 of namespace 1.
inline constexpr std::string_view read_command =
    "02400c70 01000000 00000000 00000000 00000000 00000000"
    "00307875 4b9421ff 001000 4f230000 4f"
    "80000000 00000000 07000000 00000000 00000000 00000000";

inline constexpr std::string_view connect_command =
    "7f400000 01000000 00000000 00000000 00000000 00000000"
    "0028c142 7b9421ff 000400 e0030000 4f"
    "0000 0300 2000 04 00 88130000 00000000 00000000 00000000";
inline constexpr std::string_view property_get =
    "7f400200 04000000 00000000 00000000 00000000 00000000"
    "00000000 00000000 00000000 00000000"
    "01000000 00000000 00000000 00000000 00000000 00000000";
inline constexpr std::string_view nvme_response = "00000000 00000000 0300 0100 0c70 0540";

/// Returns one message of each kind. The first ones establish the connection that the others use.
inline std::vector<std::vector<std::byte>> nvme_frames() {
    return {request(nvme_service, "0000 0100 2000 1f00 0300"),
            reply("0000 2000"),
            reject("001c", "0000 0400"),
            send(connect_command, false),
            send(property_get, false),
            send(read_command, false),
            send(nvme_response, true)};
}

inline constexpr std::string_view nfs_service = "0000000001 06 4e51";    // 20049
inline constexpr std::string_view iscsi_service = "0000000001 06 0cbc";  // 3260

/// NFSv3 READ with a write chunk of 12288 bytes.
inline constexpr std::string_view nfs3_read_call =
    "ae048ee7 00000001 00000080 00000000 00000000"
    "00000001 00000001 00000677 00003000 ae048ee703e7c000 00000000 00000000"
    "ae048ee7 00000000 00000002 000186a3 00000003 00000006"
    "00000000 00000000 00000000 00000000"
    "00000004 01020304 0000000000000000 00003000";

/// NFSv4.2 COMPOUND of SEQUENCE, PUTFH, GETATTR, OPEN and one more, tag "ab".
inline constexpr std::string_view nfs4_compound_call =
    "00000007 00000001 00000020 00000000 00000000 00000000 00000000"
    "00000007 00000000 00000002 000186a3 00000004 00000001"
    "00000000 00000000 00000000 00000000"
    "00000002 61620000 00000002 00000005"
    "00000035 01020304 05060708 090a0b0c 0d0e0f10 00000001 00000000 00000000 00000000"
    "00000016 00000004 aabbccdd"
    "00000009 00000002 00000018 00b0a23a"
    "00000012 00000000";

/// Its reply, with an error.
inline constexpr std::string_view nfs4_compound_reply =
    "00000007 00000001 00000020 00000000 00000000 00000000 00000000"
    "00000007 00000001 00000000 00000000 00000000 00000000"
    "0000000a 00000002 61620000 00000005 00000035 0000000a";

/// A SCSI READ(10).
inline constexpr std::string_view iser_scsi_read =
    "14000000 00000000 0000000000000000 00004329 ff48cb5f04c71600"
    "01c00000 00000000 0000000000000000 10000011 00001000 00000012 00000013"
    "28000000 00000000 08000000 00000000";

/// RDMA_NOMSG with read segments at two positions and a reply chunk.
inline constexpr std::string_view rpc_chunks =
    "00000001 00000001 00000020 00000001"
    "00000001 00000078 00000534 00001000 0000000000001000"
    "00000001 00000078 00000535 00001000 0000000000002000"
    "00000001 00000100 00000536 00001000 0000000000003000 00000000"
    "00000000 00000001 00000002"
    "00000601 00000010 0000000000004000 00000602 00000010 0000000000005000";
inline constexpr std::string_view rpc_error =
    "00000001 00000001 00000020 00000004 00000001 00000001 00000001";

/// The same for RPC over RDMA and for iSER.
inline std::vector<std::vector<std::byte>> rpc_frames() {
    return {request(nfs_service, "f6ab0e18 01010303"),
            reply("f6ab0e18 01000303"),
            send(nfs3_read_call, false),
            send(nfs4_compound_call, false),
            send(nfs4_compound_reply, true),
            send(rpc_chunks, false),
            send(rpc_error, true)};
}
inline std::vector<std::vector<std::byte>> iser_frames() {
    return {request(iscsi_service, "40000000"), reply("c0000000"), send(iser_scsi_read, false)};
}

}  // namespace service_test
