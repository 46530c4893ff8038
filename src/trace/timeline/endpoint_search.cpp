#include "trace/timeline/endpoint_search.hpp"

#include <string_view>

namespace timeline {
namespace {

std::string_view characters(util::Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<net::Endpoint> take_endpoint(util::Bytes& payload) {
    using net::endpoint_size;
    using net::header_size;
    static const auto header = net::serialize_header(net::MessageType::Endpoint, endpoint_size);
    // Every TCP segment of a capture is searched: find() looks for the first byte by memchr().
    while (true) {
        const std::size_t at = characters(payload).find(characters(header));
        if (at == std::string_view::npos || payload.size() - at < header_size + endpoint_size)
            return std::nullopt;
        const auto message = payload.subspan(at + header_size).first<endpoint_size>();
        payload = payload.subspan(at + header_size + endpoint_size);
        try {
            return net::parse_endpoint(message);
        } catch (const net::ProtocolError&) {
            continue;  // other bytes with the same beginning
        }
    }
}

}  // namespace timeline
