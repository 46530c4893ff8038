#include "upper/nvme_cm.hpp"

namespace upper {

NvmeCmRequest NvmeCmRequest::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes),
            .queue_id = util::le16<2>(bytes),
            .host_receive_size = util::le16<4>(bytes),
            .host_send_size = util::le16<6>(bytes),
            .controller_id = util::le16<8>(bytes)};
}

NvmeCmReply NvmeCmReply::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes), .controller_receive_size = util::le16<2>(bytes)};
}

NvmeCmReject NvmeCmReject::parse(util::FixedBytes<size> bytes) {
    return {.record_format = util::le16<0>(bytes), .status = util::le16<2>(bytes)};
}

std::string_view NvmeCmReject::status_name() const {
    switch (status) {
        case 1:
            return "Invalid Private Data Length";
        case 2:
            return "Invalid RECFMT";
        case 3:
            return "Invalid QID";
        case 4:
            return "Invalid HSQSIZE";
        case 5:
            return "Invalid HRQSIZE";
        case 6:
            return "No Resources";
        case 7:
            return "Invalid IRD";
        case 8:
            return "Invalid ORD";
        case 9:
            return "Invalid CNTLID";
        default:
            return {};
    }
}

}  // namespace upper
