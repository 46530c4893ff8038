#include "upper/nvme_cm.hpp"

#include "util/names.hpp"

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
    static constexpr auto names = std::to_array<util::Named<std::uint16_t>>({
        {1, "Invalid Private Data Length"},
        {2, "Invalid RECFMT"},
        {3, "Invalid QID"},
        {4, "Invalid HSQSIZE"},
        {5, "Invalid HRQSIZE"},
        {6, "No Resources"},
        {7, "Invalid IRD"},
        {8, "Invalid ORD"},
        {9, "Invalid CNTLID"},
    });
    return util::name_in(names, status);
}

}  // namespace upper
