#include "net/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include <fmt/format.h>

namespace net {

namespace key = runlog::key;

namespace {

constexpr std::uint32_t most_24_bits = 0xffffff;

[[noreturn]] void refuse(const std::string& what) {
    throw ProtocolError("the peer's endpoint is not valid: " + what + ".");
}

}  // namespace

std::array<std::byte, header_size + endpoint_size> serialize(const Endpoint& endpoint) {
    std::array<std::byte, header_size + endpoint_size> bytes{};
    const std::span<std::byte, header_size + endpoint_size> all(bytes);
    std::ranges::copy(serialize_header(MessageType::Endpoint, endpoint_size), bytes.begin());
    const auto out = all.subspan<header_size, endpoint_size>();
    util::put_be32<0>(out, endpoint.qpn);
    util::put_be32<4>(out, endpoint.psn);
    util::put_be16<8>(out, endpoint.lid);
    util::put_be16<10>(out, endpoint.path_mtu);
    std::ranges::copy(endpoint.gid, out.subspan<12, 16>().begin());
    util::put_be64<28>(out, endpoint.va);
    util::put_be64<36>(out, endpoint.length);
    util::put_be32<44>(out, endpoint.rkey);
    return bytes;
}

Endpoint parse_endpoint(util::FixedBytes<endpoint_size> bytes) {
    Endpoint endpoint{.qpn = util::be32<0>(bytes),
                      .psn = util::be32<4>(bytes),
                      .lid = util::be16<8>(bytes),
                      .path_mtu = util::be16<10>(bytes),
                      .va = util::be64<28>(bytes),
                      .length = util::be64<36>(bytes),
                      .rkey = util::be32<44>(bytes)};
    std::ranges::copy(bytes.subspan<12, 16>(), endpoint.gid.begin());
    if (endpoint.qpn < 2 || endpoint.qpn > most_24_bits)
        refuse(fmt::format("queue pair {:#x}", endpoint.qpn));
    if (endpoint.psn > most_24_bits)
        refuse(fmt::format("PSN {:#x} has more than 24 bits", endpoint.psn));
    constexpr std::array<std::uint16_t, 5> path_mtus{256, 512, 1024, 2048, 4096};
    if (std::ranges::find(path_mtus, endpoint.path_mtu) == path_mtus.end())
        refuse(fmt::format("path MTU {}", endpoint.path_mtu));
    if (endpoint.length > UINT64_MAX - endpoint.va)
        refuse("its memory range wraps around");
    return endpoint;
}

void check_gid(const Endpoint& endpoint, const util::Address& peer) {
    if (endpoint.gid == peer.ipv6_bytes())
        return;
    std::array<char, INET6_ADDRSTRLEN> gid{};
    inet_ntop(AF_INET6, endpoint.gid.data(), gid.data(), gid.size());
    refuse(fmt::format("its GID is {}, but the connection is with {}", gid.data(), peer.host()));
}

runlog::Fields describe(const Endpoint& endpoint, std::string_view direction,
                        std::string_view channel) {
    return {{key::direction, direction},        {key::channel, channel},
            {key::qpn, endpoint.qpn},           {key::psn, endpoint.psn},
            {key::path_mtu, endpoint.path_mtu}, {key::va, endpoint.va},
            {key::len, endpoint.length},        {key::rkey, endpoint.rkey}};
}

}  // namespace net
