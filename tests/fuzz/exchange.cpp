// Input: a sequence of messages from a peer on the exchange's connection.
#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/check.hpp"
#include "net/endpoint.hpp"
#include "util/printable.hpp"

namespace {

using net::MessageType;

// Checks and removes the first message. Returns false if it is incomplete.
bool check_message(util::Bytes& input) {
    if (input.size() < net::header_size)
        return false;
    const auto first = input.first<net::header_size>();
    const net::Header header = net::parse_header(first);
    if (input.size() < net::header_size + header.size)
        return false;
    const util::Bytes whole = input.first(net::header_size + header.size);
    const util::Bytes body = whole.subspan(net::header_size);
    input = input.subspan(whole.size());
    if (header.type == MessageType::Endpoint) {
        const auto endpoint = net::parse_endpoint(body.first<net::endpoint_size>());
        fuzz::require(std::ranges::equal(net::serialize(endpoint), whole),
                      "an endpoint is read as it was written");
        fuzz::require(endpoint.qpn <= 0xffffff && endpoint.psn <= 0xffffff, "numbers have 24 bits");
    } else if (header.type == MessageType::Refused) {
        const std::string refusal = net::parse_refusal(body);
        fuzz::require(util::printable(refusal) == refusal, "a refusal can be printed");
    } else {
        fuzz::require(std::ranges::equal(net::serialize_header(header.type), whole),
                      "a message is read as it was written");
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    util::Bytes input = std::as_bytes(std::span(data, size));
    try {
        while (check_message(input)) {
        }
    } catch (const net::ProtocolError& error) {
        const std::string sentence = error.what();
        fuzz::require(sentence.ends_with('.') || sentence.ends_with('?'),
                      "an error is a sentence: " + sentence);
        for (const char c : sentence)
            fuzz::require(c >= ' ' && c <= '~', "and can be printed");
    }
    return 0;
}
