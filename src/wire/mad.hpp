// Management datagram: the 256 bytes of a UD SEND to queue pair 1 or 0 (IBTA volume 1, 13.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/layout.hpp"

namespace wire {

/// The subnet management interface, only in native InfiniBand.
inline constexpr std::uint32_t smi_qpn = 0;
/// The general services interface: the queue pair of each port's management agents.
inline constexpr std::uint32_t gsi_qpn = 1;
/// The Q_Key of QP 1.
inline constexpr std::uint32_t gsi_q_key = 0x80010000;

namespace mgmt_class {
inline constexpr std::uint8_t subnet_management = 0x01;
inline constexpr std::uint8_t subnet_management_directed = 0x81;
inline constexpr std::uint8_t subnet_administration = 0x03;
inline constexpr std::uint8_t performance = 0x04;
inline constexpr std::uint8_t communication = 0x07;
}  // namespace mgmt_class

/// The common header. Names as in Wireshark's infiniband.mad.*.
struct Mad {
    static constexpr std::size_t size = 24;
    static constexpr std::size_t datagram_size = 256;
    static constexpr std::size_t data_size = datagram_size - size;

    std::uint8_t base_version = 1;
    std::uint8_t mgmt_class = 0;
    std::uint8_t class_version = 0;
    std::uint8_t method = 0;  ///< bit 7 marks a response
    std::uint16_t status = 0;
    std::uint16_t class_specific = 0;
    std::uint64_t transaction_id = 0;
    std::uint16_t attribute_id = 0;
    std::uint32_t attribute_modifier = 0;

    bool is_cm() const { return mgmt_class == mgmt_class::communication; }
    /// "Send()", "Get()"; "method" for methods that the specification does not name.
    std::string_view method_name() const;
    bool is_smp() const { return mgmt_class == mgmt_class::subnet_management || is_directed(); }
    /// A subnet management packet with a path of ports instead of LIDs.
    bool is_directed() const { return mgmt_class == mgmt_class::subnet_management_directed; }
    /// Of a directed route: the index of the current hop, the number of hops, and whether the packet
    /// returns to its first sender.
    std::uint8_t hop_pointer() const { return static_cast<std::uint8_t>(class_specific >> 8); }
    std::uint8_t hop_count() const { return static_cast<std::uint8_t>(class_specific & 0xffU); }
    bool is_returning() const { return (status & 0x8000U) != 0; }
    /// "SA", "PM", ...; empty for classes without a name.
    std::string_view class_label() const;
    /// "NodeInfo", "PathRecord", ...; empty for attributes without a name.
    std::string_view attribute_name() const;
    /// "SA Get(PathRecord)"; empty for classes without a label.
    std::string text() const;

    using Fields =
        Layout<Header::Mad, At<&Mad::base_version, 0, 8>, At<&Mad::mgmt_class, 8, 8>,
               At<&Mad::class_version, 16, 8>, At<&Mad::method, 24, 8>, At<&Mad::status, 32, 16>,
               At<&Mad::class_specific, 48, 16>, At<&Mad::transaction_id, 64, 64>,
               At<&Mad::attribute_id, 128, 16>, At<&Mad::attribute_modifier, 160, 32>>;
    friend bool operator==(const Mad&, const Mad&) = default;
};

/// What follows the header of a subnet management packet (IBTA volume 1, 14.2.1). Names as in
/// Wireshark's infiniband.smplid.* and infiniband.smpdirected.*.
struct Smp {
    static constexpr std::size_t size = 40;

    std::uint64_t mkey = 0;
    std::uint16_t drslid = 0;  ///< directed route: LID before its first hop, 0xffff if none
    std::uint16_t drdlid = 0;  ///< directed route: LID after its last hop, 0xffff if none

    using Fields = Layout<Header::Smp, At<&Smp::mkey, 0, 64>, At<&Smp::drslid, 64, 16>,
                          At<&Smp::drdlid, 80, 16>>;
    friend bool operator==(const Smp&, const Smp&) = default;
};

}  // namespace wire
