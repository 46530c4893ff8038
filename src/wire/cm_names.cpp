// Names of the connection manager's codes.
#include <array>

#include "util/names.hpp"
#include "wire/cm.hpp"

namespace wire {

std::string_view name(CmAttribute attribute) {
    static constexpr auto names = std::to_array<util::Named<CmAttribute>>({
        {CmAttribute::ClassPortInfo, "ClassPortInfo"},
        {CmAttribute::ConnectRequest, "ConnectRequest"},
        {CmAttribute::MsgRcptAck, "MsgRcptAck"},
        {CmAttribute::ConnectReject, "ConnectReject"},
        {CmAttribute::ConnectReply, "ConnectReply"},
        {CmAttribute::ReadyToUse, "ReadyToUse"},
        {CmAttribute::DisconnectRequest, "DisconnectRequest"},
        {CmAttribute::DisconnectReply, "DisconnectReply"},
        {CmAttribute::ServiceIdResReq, "ServiceIDResReq"},
        {CmAttribute::ServiceIdResReqResp, "ServiceIDResReqResp"},
        {CmAttribute::LoadAlternatePath, "LoadAlternatePath"},
        {CmAttribute::AlternatePathResponse, "AlternatePathResponse"},
    });
    return util::name_in(names, attribute);
}

std::string_view CmRej::reason_name() const {
    // IBTA volume 1, 12.6.7.2, codes 0 to 35.
    constexpr std::array<std::string_view, 36> names{
        "Reserved",
        "No QP available",
        "No EEC available",
        "No resources available",
        "Timeout",
        "Unsupported request",
        "Invalid Communication ID",
        "Invalid Communication Instance",
        "Invalid Service ID",
        "Invalid Transport Service Type",
        "Stale connection",
        "RDC does not exist",
        "Primary Remote Port GID rejected",
        "Primary Remote Port LID rejected",
        "Invalid Primary SL",
        "Invalid Primary Traffic Class",
        "Invalid Primary Hop Limit",
        "Invalid Primary Packet Rate",
        "Alternate Remote Port GID rejected",
        "Alternate Remote Port LID rejected",
        "Invalid Alternate SL",
        "Invalid Alternate Traffic Class",
        "Invalid Alternate Hop Limit",
        "Invalid Alternate Packet Rate",
        "Port and CM Redirection",
        "Port Redirection",
        "Invalid Path MTU",
        "Insufficient Responder Resources",
        "Consumer Reject",
        "RNR Retry Count Reject",
        "Duplicate Local Communication ID",
        "Unsupported Class Version",
        "Invalid Primary Flow Label",
        "Invalid Alternate Flow Label",
        "Reserved",
        "Vendor option not supported",
    };
    return reason < names.size() ? names[reason] : "Reserved";
}

std::string_view CmSidrRep::status_name() const {
    constexpr std::array<std::string_view, 6> names{
        "Valid QPN",       "Service ID not supported", "Rejected by the service provider",
        "No QP available", "Redirect to another port", "Version not supported",
    };
    return status < names.size() ? names[status] : "Reserved";
}

}  // namespace wire
