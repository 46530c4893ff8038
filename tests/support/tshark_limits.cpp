// The cases in which tshark's fields and ours cannot be compared.
#include <algorithm>
#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "support/tshark_fields.hpp"

namespace support {
namespace {

using nlohmann::json;

// Headers that an encapsulation also has, before the inner ones.
constexpr std::array<std::string_view, 5> repeated_headers{"/eth/", "/vlan/", "/ip/", "/ipv6/",
                                                           "/udp/"};
constexpr unsigned wire_max_length = 1500;

bool has(const json& packet, std::string_view pointer) {
    const json::json_pointer at{std::string(pointer)};
    return packet.contains(at) && !packet.at(at).is_null();
}

std::string as_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_request(const json& packet) {
    return has(packet, "/cm") && as_text(packet.at("cm").at("message")) == "ConnectRequest";
}

}  // namespace

bool applies(const Field& field, const json& packet) {
    if (field.when.empty())
        return true;
    if (field.when == "plain private")
        return is_request(packet) && !has(packet, "/cm/ip_cm");
    // tshark takes a request's GIDs for IPv4 addresses if the packet itself is IPv4.
    if (field.when.ends_with(" prim"))
        return is_request(packet) && has(packet, "/ip") == field.when.starts_with("v4");
    if (field.when.starts_with("outer "))
        return has(packet, "/outer/src") && (as_text(packet.at("outer").at("src")).find(':') !=
                                             std::string::npos) == field.when.ends_with("6");
    const auto equals = field.when.find('=');
    if (equals == std::string_view::npos)
        return has(packet, field.when);
    const auto pointer = field.when.substr(0, equals);
    return has(packet, pointer) && as_text(packet.at(json::json_pointer(std::string(pointer)))) ==
                                       field.when.substr(equals + 1);
}

bool is_repeated(const Field& field, const json& packet) {
    return has(packet, "/outer") &&
           std::ranges::any_of(repeated_headers, [&](std::string_view header) {
               return field.ours.starts_with(header);
           });
}

// The reasons refer to packet-infiniband.c of Wireshark 4.0. The BTH and the layers below it are
// compared in all packets.
std::string left_out(const Field& field, const json& packet) {
    constexpr std::array<std::string_view, 10> behind_the_bth{
        "/rdeth",        "/deth",  "/reth", "/atomiceth", "/aeth",
        "/atomicacketh", "/immdt", "/ieth", "/icrc",      "/vcrc"};
    if (field.ours == "/eth/type" && has(packet, field.ours) &&
        packet.at("eth").at("type").get<unsigned>() <= wire_max_length)
        return "an LLC frame has a length in place of an EtherType: eth.len in tshark";
    if ((field.ours == "/len" || field.ours == "/caplen") && has(packet, "/erf"))
        return "tshark does not count the header of an ERF record";
    if (field.ours == "/rwh/etype" && has(packet, "/bth"))
        return "tshark takes the beginning of a payload for a raw header";
    if (field.ours == "/smp/d")
        return "tshark reads the direction of a directed route from eight bytes instead of the "
               "status "
               "(IBTA volume 1, 14.2.1.2)";
    const std::string_view last = field.ours.substr(field.ours.rfind('/') + 1);
    if (field.ours.starts_with("/cm/") && (last == "flowlabel" || last == "pktrate"))
        return "ConnectRequest: tshark takes 12 bits for a path's flow label, which has 20 (IBTA "
               "volume 1, 12.6.5; Linux include/rdma/ibta_vol1_c12.h)";
    const bool is_message =
        has(packet, "/rpcrdma/type") && as_text(packet.at("rpcrdma").at("type")) == "0";
    if ((field.ours.starts_with("/rpc/") || field.ours.starts_with("/nfs/")) && !is_message)
        return "tshark joins an RPC message from the RDMA WRITEs of a chunk";
    if (field.ours == "/icrc/value" && has(packet, "/rpcrdma/writes") &&
        as_text(packet.at("rpcrdma").at("writes")) != "0")
        return "tshark does not get to the ICRC behind an RPC reply whose data are in a chunk";
    if (field.ours.starts_with("/nvme/cm/") && is_request(packet) && has(packet, "/cm/ip_cm"))
        return "tshark does not take private data apart that follow rdma_cm's header";
    if (field.ours.starts_with("/nvme/") && has(packet, "/erf") && !has(packet, "/cm"))
        return "tshark does not follow a connection over native InfiniBand";
    constexpr std::uint64_t nvme_write = 1;
    constexpr std::uint64_t nvme_read = 2;
    if (field.ours == "/nvme/cmd/slba" || field.ours == "/nvme/cmd/nlb")
        if (has(packet, "/nvme/cmd/opc") && packet.at("nvme").at("cmd").at("opc") != nvme_write &&
            packet.at("nvme").at("cmd").at("opc") != nvme_read)
            return "tshark reads the range of blocks of an NVMe Read and Write alone";
    if (field.ours.starts_with("/nvme/") && has(packet, "/bth") &&
        as_text(packet.at("bth").at("opcode_name")).find("First") != std::string::npos)
        return "tshark does not read an NVMe capsule in a SEND of several packets";
    if ((field.ours == "/icrc/value" || field.ours == "/vcrc/value") && has(packet, "/mad") &&
        !has(packet, "/cm"))
        return "tshark does not get to the ICRC behind a management datagram of a class it does "
               "not "
               "take apart";
    const bool is_behind = std::ranges::any_of(
        behind_the_bth, [&](std::string_view header) { return field.ours.starts_with(header); });
    if (!has(packet, "/bth") || !is_behind)
        return "";
    const auto opcode = packet.at("bth").at("opcode").get<unsigned>();
    if (opcode == 0x1c || opcode == 0x1d || opcode == 0x5c)
        return "tshark does not know FLUSH and ATOMIC WRITE (IBTA annex A19)";
    constexpr unsigned transport_shift = 5;
    switch (opcode >> transport_shift) {
        case 4:
            return "CNP: tshark does not get to the ICRC";
        case 2:
            return "RD: tshark looks for the RDETH 8 bytes behind the BTH, where it follows at "
                   "once "
                   "(IBTA volume 1, 9.3.1)";
        case 5:
            return "tshark names XRC's opcodes (IBTA annex A14), but reads nothing behind the BTH";
        default:
            return "";
    }
}

}  // namespace support
