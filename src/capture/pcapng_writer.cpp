#include "capture/pcapng_writer.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <iterator>
#include <sys/utsname.h>
#include <vector>

#include "capture/link_type.hpp"

namespace capture {
namespace {

// Block types and option codes: the draft's sections 3.5 and 4.
enum Block : std::uint32_t {
    interface_description = 1,
    name_resolution = 4,
    interface_statistics = 5,
    enhanced_packet = 6,
    decryption_secrets = 10,
    section_header = 0x0a0d0d0a,
};
constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::uint32_t tls_key_log = 0x544c534b;

enum Option : std::uint16_t {
    comment_option = 1,
    shb_hardware = 2,
    shb_os = 3,
    shb_userappl = 4,
    if_name = 2,
    if_description = 3,
    if_tsresol = 9,
    if_filter = 11,
    isb_starttime = 2,
    isb_endtime = 3,
    isb_ifdrop = 5,
    isb_filteraccept = 6,
    isb_osdrop = 7,
    isb_usrdeliv = 8,
};
// Records of a Name Resolution Block (the draft's section 4.5).
enum Record : std::uint16_t { end_of_records = 0, ipv4_record = 1, ipv6_record = 2 };
constexpr std::array nanoseconds{std::byte{9}};  // 10^-9 s

std::uint64_t count(Time time) {
    return static_cast<std::uint64_t>(time.count());
}

void add(PcapngBlock& block, Option code, std::optional<std::uint64_t> value) {
    if (value)
        block.option_u64(code, *value);
}

}  // namespace

PcapngWriter::PcapngWriter(Sink sink, const PcapngSection& section) : sink_(std::move(sink)) {
    block_.start(section_header).u32(byte_order_magic).u16(1).u16(0);  // version 1.0
    block_.u32(0xffffffff).u32(0xffffffff);                            // section length: not known
    block_.option(comment_option, section.comment).option(shb_hardware, section.hardware);
    block_.option(shb_os, section.os).option(shb_userappl, section.application);
    sink_.append(block_.finish());
}

std::uint32_t PcapngWriter::add_interface(const PcapngInterface& interface) {
    block_.start(interface_description).u16(linktype_number(interface.link_type)).u16(0);
    block_.u32(interface.snaplen);
    block_.option(if_name, interface.name).option(if_description, interface.description);
    block_.option(if_tsresol, nanoseconds);
    if (!interface.filter.empty())  // the first byte 0: a libpcap filter string
        block_.option(if_filter, std::string(1, '\0') + interface.filter);
    sink_.append(block_.finish());
    return interfaces_++;
}

void PcapngWriter::add_names(const std::map<std::string, std::string>& names) {
    block_.start(name_resolution);
    for (const auto& [address, name] : names) {
        std::array<std::byte, sizeof(in6_addr)> digits{};
        const bool is_ipv6 = address.find(':') != std::string::npos;
        if (inet_pton(is_ipv6 ? AF_INET6 : AF_INET, address.c_str(), digits.data()) != 1)
            continue;
        const std::size_t size = is_ipv6 ? sizeof(in6_addr) : sizeof(in_addr);
        std::vector<std::byte> record(digits.begin(),
                                      digits.begin() + static_cast<std::ptrdiff_t>(size));
        std::ranges::copy(std::as_bytes(std::span(name)), std::back_inserter(record));
        record.push_back(std::byte{0});
        block_.u16(is_ipv6 ? ipv6_record : ipv4_record);
        block_.u16(static_cast<std::uint16_t>(record.size())).padded(record);
    }
    block_.u16(end_of_records).u16(0);
    sink_.append(block_.finish());
}

void PcapngWriter::add_tls_secrets(std::string_view key_log) {
    block_.start(decryption_secrets).u32(tls_key_log);
    block_.u32(static_cast<std::uint32_t>(key_log.size()));
    block_.padded(std::as_bytes(std::span(key_log)));
    sink_.append(block_.finish());
}

void PcapngWriter::packet(std::uint32_t interface, const Frame& frame, std::string_view comment) {
    block_.start(enhanced_packet).u32(interface).timestamp(count(frame.time));
    block_.u32(static_cast<std::uint32_t>(frame.bytes.size())).u32(frame.original_length);
    block_.padded(frame.bytes).option(comment_option, comment);
    sink_.append(block_.finish());
}

void PcapngWriter::statistics(std::uint32_t interface, const PcapngStatistics& statistics) {
    block_.start(interface_statistics).u32(interface).timestamp(count(statistics.end));
    block_.option_timestamp(isb_starttime, count(statistics.start));
    block_.option_timestamp(isb_endtime, count(statistics.end));
    add(block_, isb_ifdrop, statistics.dropped_by_interface);
    add(block_, isb_filteraccept, statistics.passed_filter);
    add(block_, isb_osdrop, statistics.dropped_by_kernel);
    add(block_, isb_usrdeliv, statistics.written);
    sink_.append(block_.finish());
}

std::string os_name() {
    utsname name{};
    uname(&name);
    return std::string(name.sysname) + " " + name.release;
}

}  // namespace capture
