#include "wire/mad.hpp"

namespace wire {

std::string_view Mad::method_name() const {
    switch (method) {
        case 0x01:
            return "Get()";
        case 0x02:
            return "Set()";
        case 0x03:
            return "Send()";
        case 0x05:
            return "Trap()";
        case 0x06:
            return "Report()";
        case 0x07:
            return "TrapRepress()";
        case 0x12:
            return "GetTable()";
        case 0x13:
            return "GetTraceTable()";
        case 0x14:
            return "GetMulti()";
        case 0x15:
            return "Delete()";
        case 0x81:
            return "GetResp()";
        case 0x86:
            return "ReportResp()";
        case 0x92:
            return "GetTableResp()";
        case 0x94:
            return "GetMultiResp()";
        case 0x95:
            return "DeleteResp()";
        default:
            return "method";
    }
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
