#include "capture/pcapng_writer.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <iterator>
#include <sys/utsname.h>
#include <utility>
#include <vector>

#include "capture/link_type.hpp"
#include "capture/pcapng_format.hpp"

namespace capture {
namespace {

constexpr std::array nanoseconds{std::byte{9}};  // 10^-9 s

std::uint64_t count(Time time) {
    return static_cast<std::uint64_t>(time.count());
}

void add(PcapngBlock& block, pcapng::Option code, std::optional<std::uint64_t> value) {
    if (value)
        block.option_u64(code, *value);
}

}  // namespace

PcapngWriter::PcapngWriter(Sink sink, const PcapngSection& section) : sink_(std::move(sink)) {
    sink_.holds_capture();
    block_.start(pcapng::section_header)
        .u32(pcapng::byte_order_magic)
        .u16(1)
        .u16(0);                             // version 1.0
    block_.u32(0xffffffff).u32(0xffffffff);  // section length: unknown
    block_.option(pcapng::opt_comment, section.comment)
        .option(pcapng::shb_hardware, section.hardware);
    block_.option(pcapng::shb_os, section.os).option(pcapng::shb_userappl, section.application);
    sink_.append(block_.finish());
}

std::uint32_t PcapngWriter::add_interface(const PcapngInterface& interface) {
    block_.start(pcapng::interface_description).u16(linktype_number(interface.link_type)).u16(0);
    block_.u32(interface.snaplen);
    block_.option(pcapng::if_name, interface.name)
        .option(pcapng::if_description, interface.description);
    block_.option(pcapng::if_tsresol, nanoseconds);
    if (!interface.filter.empty())  // the first byte 0: a libpcap filter string
        block_.option(pcapng::if_filter, std::string(1, '\0') + interface.filter);
    sink_.append(block_.finish());
    sink_.append(std::exchange(behind_interface_, {}));
    return interfaces_++;
}

void PcapngWriter::write_behind_interface() {
    const auto block = block_.finish();
    if (interfaces_ == 0)
        behind_interface_.insert(behind_interface_.end(), block.begin(), block.end());
    else
        sink_.append(block);
}

void PcapngWriter::add_names(const std::map<std::string, std::string>& names) {
    block_.start(pcapng::name_resolution);
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
        block_.u16(is_ipv6 ? pcapng::nrb_record_ipv6 : pcapng::nrb_record_ipv4);
        block_.u16(static_cast<std::uint16_t>(record.size())).padded(record);
    }
    block_.u16(pcapng::nrb_record_end).u16(0);
    write_behind_interface();
}

void PcapngWriter::add_tls_secrets(std::string_view key_log) {
    block_.start(pcapng::decryption_secrets).u32(pcapng::tls_key_log);
    block_.u32(static_cast<std::uint32_t>(key_log.size()));
    block_.padded(std::as_bytes(std::span(key_log)));
    write_behind_interface();
}

void PcapngWriter::packet(std::uint32_t interface, const Frame& frame, std::string_view comment) {
    block_.start(pcapng::enhanced_packet).u32(interface).timestamp(count(frame.time));
    block_.u32(static_cast<std::uint32_t>(frame.bytes.size())).u32(frame.original_length);
    block_.padded(frame.bytes).option(pcapng::opt_comment, comment);
    sink_.append(block_.finish());
}

void PcapngWriter::statistics(std::uint32_t interface, const PcapngStatistics& statistics) {
    block_.start(pcapng::interface_statistics).u32(interface).timestamp(count(statistics.end));
    block_.option_timestamp(pcapng::isb_starttime, count(statistics.start));
    block_.option_timestamp(pcapng::isb_endtime, count(statistics.end));
    add(block_, pcapng::isb_ifdrop, statistics.dropped_by_interface);
    add(block_, pcapng::isb_filteraccept, statistics.passed_filter);
    add(block_, pcapng::isb_osdrop, statistics.dropped_by_kernel);
    add(block_, pcapng::isb_usrdeliv, statistics.written);
    sink_.append(block_.finish());
}

std::string os_name() {
    utsname name{};
    uname(&name);
    return std::string(name.sysname) + " " + name.release;
}

}  // namespace capture
