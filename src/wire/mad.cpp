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

}  // namespace wire
