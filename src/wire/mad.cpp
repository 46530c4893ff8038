#include "wire/mad.hpp"

#include "util/names.hpp"

namespace wire {

std::string_view Mad::method_name() const {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {0x01, "Get()"},
        {0x02, "Set()"},
        {0x03, "Send()"},
        {0x05, "Trap()"},
        {0x06, "Report()"},
        {0x07, "TrapRepress()"},
        {0x12, "GetTable()"},
        {0x13, "GetTraceTable()"},
        {0x14, "GetMulti()"},
        {0x15, "Delete()"},
        {0x81, "GetResp()"},
        {0x86, "ReportResp()"},
        {0x92, "GetTableResp()"},
        {0x94, "GetMultiResp()"},
        {0x95, "DeleteResp()"},
    });
    return util::name_in(names, method, "method");
}

Mad Mad::parse(util::FixedBytes<size> bytes) {
    return {
        .base_version = util::be8<0>(bytes),
        .mgmt_class = util::be8<1>(bytes),
        .class_version = util::be8<2>(bytes),
        .method = util::be8<3>(bytes),
        .status = util::be16<4>(bytes),
        .class_specific = util::be16<6>(bytes),
        .transaction_id = util::be64<8>(bytes),
        .attribute_id = util::be16<16>(bytes),
        .attribute_modifier = util::be32<20>(bytes),
    };
}

void Mad::write(std::span<std::byte, size> out) const {
    util::put_be8<0>(out, base_version);
    util::put_be8<1>(out, mgmt_class);
    util::put_be8<2>(out, class_version);
    util::put_be8<3>(out, method);
    util::put_be16<4>(out, status);
    util::put_be16<6>(out, class_specific);
    util::put_be64<8>(out, transaction_id);
    util::put_be16<16>(out, attribute_id);
    util::put_be16<18>(out, 0);
    util::put_be32<20>(out, attribute_modifier);
}

}  // namespace wire
