#include "wire/mad.hpp"

#include <array>

#include <fmt/format.h>

#include "util/names.hpp"
#include "wire/cm.hpp"

namespace wire {
namespace {

using Names = util::Named<std::uint16_t>;

constexpr auto of_any_class = std::to_array<Names>({
    {0x0001, "ClassPortInfo"},
    {0x0002, "Notice"},
    {0x0003, "InformInfo"},
});

// IBTA volume 1, 14.2.5.
constexpr auto of_subnet_management = std::to_array<Names>({
    {0x0010, "NodeDescription"},
    {0x0011, "NodeInfo"},
    {0x0012, "SwitchInfo"},
    {0x0014, "GUIDInfo"},
    {0x0015, "PortInfo"},
    {0x0016, "P_KeyTable"},
    {0x0017, "SLtoVLMappingTable"},
    {0x0018, "VLArbitrationTable"},
    {0x0019, "LinearForwardingTable"},
    {0x001a, "RandomForwardingTable"},
    {0x001b, "MulticastForwardingTable"},
    {0x0020, "SMInfo"},
    {0x0030, "VendorDiag"},
    {0x0031, "LedInfo"},
});

// IBTA volume 1, 15.2.5.
constexpr auto of_subnet_administration = std::to_array<Names>({
    {0x0011, "NodeRecord"},
    {0x0012, "PortInfoRecord"},
    {0x0013, "SLtoVLMappingTableRecord"},
    {0x0014, "SwitchInfoRecord"},
    {0x0015, "LinearForwardingTableRecord"},
    {0x0016, "RandomForwardingTableRecord"},
    {0x0017, "MulticastForwardingTableRecord"},
    {0x0018, "SMInfoRecord"},
    {0x0020, "LinkRecord"},
    {0x0030, "GuidInfoRecord"},
    {0x0031, "ServiceRecord"},
    {0x0033, "P_KeyTableRecord"},
    {0x0035, "PathRecord"},
    {0x0036, "VLArbitrationTableRecord"},
    {0x0038, "MCMemberRecord"},
    {0x0039, "TraceRecord"},
    {0x003a, "MultiPathRecord"},
    {0x003b, "ServiceAssociationRecord"},
    {0x00f3, "InformInfoRecord"},
});

// IBTA volume 1, 16.1.3 and 16.1.4.
constexpr auto of_performance = std::to_array<Names>({
    {0x0010, "PortSamplesControl"},
    {0x0011, "PortSamplesResult"},
    {0x0012, "PortCounters"},
    {0x001d, "PortCountersExtended"},
    {0x0036, "PortXmitDataSL"},
    {0x0037, "PortRcvDataSL"},
});

std::string_view own_attribute(const Mad& mad) {
    switch (mad.mgmt_class) {
        case mgmt_class::subnet_management:
        case mgmt_class::subnet_management_directed:
            return util::name_in(of_subnet_management, mad.attribute_id);
        case mgmt_class::subnet_administration:
            return util::name_in(of_subnet_administration, mad.attribute_id);
        case mgmt_class::performance:
            return util::name_in(of_performance, mad.attribute_id);
        case mgmt_class::communication:
            return name(static_cast<CmAttribute>(mad.attribute_id));
        default:
            return {};
    }
}

}  // namespace

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

// IBTA volume 1, 13.4.4.
std::string_view Mad::class_label() const {
    static constexpr auto names = std::to_array<util::Named<std::uint8_t>>({
        {mgmt_class::subnet_management, "SM"},
        {mgmt_class::subnet_management_directed, "SM"},
        {mgmt_class::subnet_administration, "SA"},
        {mgmt_class::performance, "PM"},
        {0x05, "BM"},
        {0x06, "DM"},
        {mgmt_class::communication, "CM"},
        {0x08, "SNMP"},
        {0x21, "CC"},
    });
    return util::name_in(names, mgmt_class);
}

std::string_view Mad::attribute_name() const {
    const std::string_view own = own_attribute(*this);
    return own.empty() ? util::name_in(of_any_class, attribute_id) : own;
}

std::string Mad::text() const {
    if (class_label().empty())
        return {};
    const std::string_view with_brackets = method_name();
    const std::string name = with_brackets.ends_with("()")
                                 ? std::string(with_brackets.substr(0, with_brackets.size() - 2))
                                 : fmt::format("method {:#04x}", method);
    const std::string_view attribute = attribute_name();
    return attribute.empty() ? fmt::format("{} {}({:#06x})", class_label(), name, attribute_id)
                             : fmt::format("{} {}({})", class_label(), name, attribute);
}

}  // namespace wire
