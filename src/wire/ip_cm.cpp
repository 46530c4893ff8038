#include "wire/ip_cm.hpp"

#include <algorithm>

namespace wire {
namespace {

Ipv4Address last_four_bytes(const Ipv6Address& address) {
    Ipv4Address ipv4;
    std::ranges::copy_n(address.bytes.begin() + 12, 4, ipv4.bytes.begin());
    return ipv4;
}

}  // namespace

std::optional<IpService> IpService::of(std::uint64_t service_id) {
    constexpr std::uint64_t rdma_ip_cm = 1;  // annex A11.2: the first five bytes are 00 00 00 00 01
    if (service_id >> 24 != rdma_ip_cm)
        return std::nullopt;
    return IpService{
        .protocol = static_cast<std::uint8_t>(service_id >> 16 & 0xffU),
        .port = static_cast<std::uint16_t>(service_id & 0xffffU),
    };
}

Ipv4Address IpCm::src_ipv4() const {
    return last_four_bytes(src);
}

Ipv4Address IpCm::dst_ipv4() const {
    return last_four_bytes(dst);
}

IpCm IpCm::parse(util::FixedBytes<size> bytes) {
    const std::uint8_t version = util::be8<0>(bytes);
    return {
        .major_version = static_cast<std::uint8_t>(version >> 4),
        .minor_version = static_cast<std::uint8_t>(version & 0xfU),
        .ip_version = static_cast<std::uint8_t>(util::be8<1>(bytes) >> 4),
        .src_port = util::be16<2>(bytes),
        .src = Ipv6Address::at<4>(bytes),
        .dst = Ipv6Address::at<20>(bytes),
    };
}

std::optional<IpCm> IpCm::take_from(const std::optional<IpService>& service,
                                    util::Bytes& private_data) {
    util::Cursor cursor(private_data);
    const auto bytes = cursor.take<size>();
    if (!service || !bytes)
        return std::nullopt;
    const IpCm header = parse(*bytes);
    if (header.major_version != 0 || (header.ip_version != 4 && header.ip_version != 6))
        return std::nullopt;
    private_data = cursor.rest();
    return header;
}

}  // namespace wire
