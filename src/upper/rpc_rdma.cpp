#include "upper/rpc_rdma.hpp"

namespace upper {
namespace {

// Reads the chunk lists of a header, word by word.
class Lists {
  public:
    Lists(RpcRdma& header, util::Cursor& cursor) : header_(header), cursor_(cursor) {}

    bool parse() { return reads() && writes() && reply(); }

  private:
    std::optional<std::uint32_t> word() {
        const auto bytes = cursor_.take<4>();
        return bytes ? std::optional(util::be32<0>(*bytes)) : std::nullopt;
    }

    bool segment(RpcSegment::List list, std::optional<std::uint32_t> position) {
        constexpr std::size_t size = 16;
        const auto bytes = cursor_.take<size>();
        if (!bytes)
            return false;
        if (header_.segment_count < header_.segments.size())
            header_.segments[header_.segment_count] = {.list = list,
                                                       .position = position,
                                                       .handle = util::be32<0>(*bytes),
                                                       .length = util::be32<4>(*bytes),
                                                       .offset = util::be64<8>(*bytes)};
        ++header_.segment_count;
        return true;
    }

    bool reads() {
        std::uint32_t count = 0;
        std::optional<std::uint32_t> before;
        while (const auto is_there = word()) {
            if (*is_there == 0) {
                header_.reads = count;
                return true;
            }
            const auto position = word();
            if (!position || !segment(RpcSegment::List::Read, position))
                return false;
            if (before != position)
                ++count;
            before = position;
        }
        return false;
    }

    bool chunk(RpcSegment::List list) {
        const auto count = word();
        if (!count)
            return false;
        for (std::uint32_t i = 0; i < *count; ++i)
            if (!segment(list, std::nullopt))
                return false;
        return true;
    }

    bool writes() {
        std::uint32_t count = 0;
        while (const auto is_there = word()) {
            if (*is_there == 0) {
                header_.writes = count;
                return true;
            }
            if (!chunk(RpcSegment::List::Write))
                return false;
            ++count;
        }
        return false;
    }

    bool reply() {
        const auto is_there = word();
        if (!is_there || (*is_there != 0 && !chunk(RpcSegment::List::Reply)))
            return false;
        header_.replies = *is_there == 0 ? 0 : 1;
        return true;
    }

    RpcRdma& header_;
    util::Cursor& cursor_;
};

}  // namespace

std::string_view RpcSegment::list_name() const {
    constexpr std::array<std::string_view, 3> names{"read", "write", "reply"};
    return names[static_cast<std::size_t>(list)];
}

std::string_view RpcRdma::type_name() const {
    constexpr std::array<std::string_view, 5> names{"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP",
                                                    "RDMA_DONE", "RDMA_ERROR"};
    const auto index = static_cast<std::size_t>(type);
    return index < names.size() ? names[index] : "";
}

RpcRdma RpcRdma::parse(util::Bytes payload) {
    util::Cursor cursor(payload);
    RpcRdma header;
    const auto fixed = cursor.take<size>();
    if (!fixed) {
        header.is_cut = true;
        return header;
    }
    header.xid = util::be32<0>(*fixed);
    header.version = util::be32<4>(*fixed);
    header.credits = util::be32<8>(*fixed);
    header.type = static_cast<RpcRdmaType>(util::be32<12>(*fixed));
    // Other versions have another layout from here on (RFC 8166, 4.2.2).
    if (header.version != 1)
        return header;
    if (header.type == RpcRdmaType::Error) {
        const auto code = cursor.take<4>();
        header.is_cut = !code;
        if (code)
            header.error_code = util::be32<0>(*code);
        return header;
    }
    const bool has_lists = header.type <= RpcRdmaType::Padded;
    // Alignment and threshold.
    if (header.type == RpcRdmaType::Padded && !cursor.take<8>())
        header.is_cut = true;
    else if (has_lists)
        header.is_cut = !Lists(header, cursor).parse();
    if (has_lists && !header.is_cut && header.type != RpcRdmaType::NoMessage)
        header.rpc = Rpc::parse(cursor.rest());
    return header;
}

std::optional<RpcRdmaCm> RpcRdmaCm::parse(util::FixedBytes<size> bytes) {
    constexpr std::uint32_t magic = 0xf6ab0e18;
    constexpr std::uint32_t unit = 1024;  // the byte is the number of units minus one
    if (util::be32<0>(bytes) != magic)
        return std::nullopt;
    return RpcRdmaCm{.version = util::be8<4>(bytes),
                     .flags = util::be8<5>(bytes),
                     .send_size = (util::be8<6>(bytes) + 1U) * unit,
                     .receive_size = (util::be8<7>(bytes) + 1U) * unit};
}

}  // namespace upper
