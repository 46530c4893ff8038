#include "wire/cm.hpp"

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

std::optional<IpCm> IpCm::take_from(const std::optional<IpService>& service,
                                    util::Bytes& private_data) {
    util::Cursor cursor(private_data);
    const auto bytes = cursor.take<size>();
    if (!service || !bytes)
        return std::nullopt;
    const IpCm header = parse<IpCm>(*bytes);
    if (header.major_version != 0 || (header.ip_version != 4 && header.ip_version != 6))
        return std::nullopt;
    private_data = cursor.rest();
    return header;
}

unsigned CmReq::path_mtu_bytes() const {
    return path_mtu >= 1 && path_mtu <= 5 ? 128U << path_mtu : 0;
}

namespace {

using Data = util::FixedBytes<Mad::data_size>;

template <typename Message>
Message parse_message(Data data) {
    Message message;
    Message::Fields::read(message, data);
    if constexpr (requires { message.ip_cm; }) {
        message.ip_service = IpService::of(message.service_id);
        message.ip_cm = IpCm::take_from(message.ip_service, message.private_data);
    }
    if constexpr (requires { message.ari; })
        message.ari =
            message.ari.first(std::min<std::size_t>(message.ari_length, message.ari.size()));
    return message;
}

template <typename... Messages>
CmBody parse_body(CmAttribute attribute, Data data,
                  std::variant<std::monostate, Messages...> body) {
    static_cast<void>((
        (attribute == Messages::attribute && (body = parse_message<Messages>(data), true)) || ...));
    return body;
}

}  // namespace

Cm Cm::parse(std::uint16_t attribute_id, util::FixedBytes<Mad::data_size> data) {
    const auto attribute = static_cast<CmAttribute>(attribute_id);
    return {.attribute = attribute, .body = parse_body(attribute, data, CmBody()), .data = data};
}

}  // namespace wire
