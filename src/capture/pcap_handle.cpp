#include "capture/pcap_handle.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capture/link_type.hpp"
#include "util/error.hpp"

namespace capture {

std::string library_version() {
    return pcap_lib_version();
}

wire::LinkType link_type_of(pcap_t* handle, const std::string& what) {
    const int dlt = pcap_datalink(handle);
    if (const auto type = link_type_of_number(dlt))
        return *type;
    throw util::Error(undecoded_link_type(what, dlt) + '.');
}

std::string undecoded_link_type(const std::string& what, int number) {
    const char* name = pcap_datalink_val_to_name(number);
    return fmt::format(
        "{} holds packets of link type {} ({}), which rocecap does not decode: it decodes "
        "Ethernet, InfiniBand, ERF, raw IP and Linux cooked captures",
        what, name != nullptr ? name : "unknown", number);
}

std::optional<Frame> next_frame(pcap_t* handle, wire::LinkType link_type, const std::string& what,
                                std::uint64_t number) {
    // The only object returned, so that it is constructed in place: moving a frame costs more than
    // filling it.
    std::optional<Frame> frame;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int result = pcap_next_ex(handle, &header, &data);
    if (result == 0 || result == PCAP_ERROR_BREAK)
        return frame;
    if (result < 0)
        throw util::Error(fmt::format("{}: {}.", what, pcap_geterr(handle)));
    // tv_usec holds nanoseconds if opened with PCAP_TSTAMP_PRECISION_NANO; otherwise it is scaled.
    const auto unit = pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
    frame.emplace();
    // libpcap reads a pcap file's 32-bit seconds as signed; no capture is from before 1970.
    frame->time =
        time_of(static_cast<std::uint32_t>(header->ts.tv_sec), Time(header->ts.tv_usec * unit));
    frame->bytes = std::as_bytes(std::span(data, header->caplen));
    frame->original_length = std::max(header->len, header->caplen);
    frame->link_type = link_type;
    frame->number = number;
    return frame;
}

}  // namespace capture
