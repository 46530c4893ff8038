// The header of the exchange's messages, and messages of a peer that are rejected.
#include "net/message.hpp"

#include <gtest/gtest.h>

namespace message_test {

using net::MessageType;
using Header = std::array<std::byte, net::header_size>;

std::string error_of(const Header& header) {
    try {
        net::parse_header(header);
    } catch (const net::ProtocolError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Message, each_type_comes_back_with_its_size) {
    struct Case {
        MessageType type;
        std::size_t size;
    };
    for (const Case& sent :
         {Case{MessageType::Endpoint, 48}, Case{MessageType::Ready, 0}, Case{MessageType::Done, 0},
          Case{MessageType::Refused, 0}, Case{MessageType::Refused, 255}}) {
        const auto header = net::parse_header(net::serialize_header(sent.type, sent.size));
        EXPECT_EQ(header.type, sent.type);
        EXPECT_EQ(header.size, sent.size);
    }
}

TEST(Message, another_program_version_type_or_size_is_named) {
    const Header good = net::serialize_header(MessageType::Endpoint, 48);
    const auto changed = [&](std::size_t at, int value) {
        Header header = good;
        header[at] = static_cast<std::byte>(value);
        return error_of(header);
    };
    EXPECT_EQ(error_of(good), "accepted");
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(changed(i, 'G'),
                  "the peer does not use this lab's exchange protocol: does another program use "
                  "that port?");
    EXPECT_NE(changed(4, 2).find("uses version 2 of the exchange protocol"), std::string::npos);
    EXPECT_EQ(changed(5, 0), "the peer sent a message of the unknown type 0.");
    EXPECT_EQ(changed(5, 5), "the peer sent a message of the unknown type 5.");
    EXPECT_EQ(changed(7, 47), "the peer's message has 47 bytes, but an endpoint has 48.");
    EXPECT_EQ(changed(6, 1), "the peer's message has 304 bytes, but an endpoint has 48.");
    EXPECT_EQ(changed(5, 3), "the peer's message has 48 bytes, but done has 0.");
    EXPECT_EQ(error_of(net::serialize_header(MessageType::Refused, 256)),
              "the peer's message has 256 bytes, but a refusal has 0 to 255.");
}

TEST(Message, a_type_that_is_not_its_turn_is_named) {
    EXPECT_NO_THROW(net::check_type(MessageType::Done, MessageType::Done));
    try {
        net::check_type(MessageType::Endpoint, MessageType::Ready);
        FAIL() << "accepted";
    } catch (const net::ProtocolError& error) {
        EXPECT_STREQ(error.what(), "the peer sent an endpoint where ready was expected.");
    }
}

TEST(Message, a_refusal_carries_its_sentence_cut_where_it_is_too_long) {
    const auto body_of = [](const std::vector<std::byte>& message) {
        return util::Bytes(message).subspan(net::header_size);
    };
    const auto message = net::serialize_refusal("no room");
    EXPECT_EQ(net::parse_header(util::FixedBytes<8>(message.data(), 8)).size, 7U);
    EXPECT_EQ(net::parse_refusal(body_of(message)), "no room");
    const auto longest = net::serialize_refusal(std::string(300, 'x'));
    EXPECT_EQ(net::parse_refusal(body_of(longest)), std::string(255, 'x'));
}

TEST(Message, a_refusal_cannot_speak_to_the_terminal) {
    const auto message = net::serialize_refusal("a\x1b[2Jb\n\xff");
    EXPECT_EQ(net::parse_refusal(util::Bytes(message).subspan(net::header_size)),
              "a\\x1b[2Jb\\n\\xff");
}

}  // namespace message_test
