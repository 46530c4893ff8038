#include "capture/pcap_handle.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capture/link_type.hpp"
#include "util/error.hpp"

namespace capture {

wire::LinkType link_type_of(pcap_t* handle, const std::string& what) {
    const int dlt = pcap_datalink(handle);
    // DLT_ and LINKTYPE_ numbers are the same but for raw IP.
    if (const auto type = link_type_of_number(dlt == DLT_RAW ? linktype_raw : dlt))
        return *type;
    const char* name = pcap_datalink_val_to_name(dlt);
    throw util::Error(fmt::format(
        "{} holds packets of link type {} ({}), which is not decoded here: RoCE is looked for in "
        "Ethernet, raw IP and Linux cooked captures.",
        what, name != nullptr ? name : "unknown", dlt));
}

std::optional<Frame> next_frame(pcap_t* handle, wire::LinkType link_type, const std::string& what) {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int result = pcap_next_ex(handle, &header, &data);
    if (result == 0 || result == PCAP_ERROR_BREAK)
        return std::nullopt;
    if (result < 0)
        throw util::Error(fmt::format("{}: {}.", what, pcap_geterr(handle)));
    // Handles are opened with PCAP_TSTAMP_PRECISION_NANO, or scaled: tv_usec holds nanoseconds.
    const auto unit = pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
    return Frame{time_of(header->ts.tv_sec, Time(header->ts.tv_usec * unit)),
                 std::as_bytes(std::span(data, header->caplen)),
                 std::max(header->len, header->caplen), link_type};
}

}  // namespace capture
