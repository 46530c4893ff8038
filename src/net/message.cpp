#include "net/message.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/printable.hpp"

namespace net {
namespace {

constexpr std::uint32_t magic = 0x52574c58;  // "RWLX"
constexpr std::uint8_t version = 1;

struct MessageRow {
    MessageType type;
    std::string_view name;
    std::size_t least, most;  // bytes after the header
};

constexpr std::array rows{
    MessageRow{MessageType::Endpoint, "an endpoint", endpoint_size, endpoint_size},
    MessageRow{MessageType::Ready, "ready", 0, 0},
    MessageRow{MessageType::Done, "done", 0, 0},
    MessageRow{MessageType::Refused, "a refusal", 0, longest_refusal},
};

const MessageRow& row_of(MessageType type) {
    return *std::ranges::find(rows, type, &MessageRow::type);
}

}  // namespace

Header parse_header(util::FixedBytes<header_size> bytes) {
    if (util::be32<0>(bytes) != magic)
        throw ProtocolError(
            "the peer does not use this lab's exchange protocol: does another program use that "
            "port?");
    if (const unsigned theirs = util::be8<4>(bytes); theirs != version)
        throw ProtocolError(
            fmt::format("the peer uses version {} of the exchange protocol, but this program uses "
                        "version {}: build both from the same source.",
                        theirs, version));
    const auto type = static_cast<MessageType>(util::be8<5>(bytes));
    const auto* const row = std::ranges::find(rows, type, &MessageRow::type);
    if (row == rows.end())
        throw ProtocolError(fmt::format("the peer sent a message of the unknown type {}.",
                                        static_cast<unsigned>(type)));
    const std::size_t size = util::be16<6>(bytes);
    if (size < row->least || size > row->most)
        throw ProtocolError(
            fmt::format("the peer's message has {} bytes, but {} has {}.", size, row->name,
                        row->least == row->most ? fmt::format("{}", row->most)
                                                : fmt::format("{} to {}", row->least, row->most)));
    return {type, size};
}

void check_type(MessageType type, MessageType expected) {
    if (type != expected)
        throw ProtocolError(fmt::format("the peer sent {} where {} was expected.",
                                        row_of(type).name, row_of(expected).name));
}

std::array<std::byte, header_size> serialize_header(MessageType type, std::size_t size) {
    std::array<std::byte, header_size> bytes{};
    const std::span<std::byte, header_size> out(bytes);
    util::put_be32<0>(out, magic);
    util::put_be8<4>(out, version);
    util::put_be8<5>(out, static_cast<std::uint8_t>(type));
    util::put_be16<6>(out, static_cast<std::uint16_t>(size));
    return bytes;
}

std::vector<std::byte> serialize_refusal(std::string_view sentence) {
    sentence = sentence.substr(0, longest_refusal);
    const auto header = serialize_header(MessageType::Refused, sentence.size());
    std::vector<std::byte> message(header.begin(), header.end());
    for (const char c : sentence)
        message.push_back(static_cast<std::byte>(c));
    return message;
}

std::string parse_refusal(util::Bytes body) {
    std::string sentence;
    for (const std::byte byte : body)
        sentence += std::to_integer<char>(byte);
    return util::printable(sentence);
}

}  // namespace net
