// Management datagram: the 256 bytes of a UD SEND to queue pair 1 (IBTA volume 1, 13.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/layout.hpp"

namespace wire {

/// The general services interface: the queue pair of each port's management agents.
inline constexpr std::uint32_t gsi_qpn = 1;
/// The Q_Key of QP 1.
inline constexpr std::uint32_t gsi_q_key = 0x80010000;

namespace mgmt_class {
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

    using Fields =
        Layout<Header::Mad, At<&Mad::base_version, 0, 8>, At<&Mad::mgmt_class, 8, 8>,
               At<&Mad::class_version, 16, 8>, At<&Mad::method, 24, 8>, At<&Mad::status, 32, 16>,
               At<&Mad::class_specific, 48, 16>, At<&Mad::transaction_id, 64, 64>,
               At<&Mad::attribute_id, 128, 16>, At<&Mad::attribute_modifier, 160, 32>>;
    friend bool operator==(const Mad&, const Mad&) = default;
};

}  // namespace wire
