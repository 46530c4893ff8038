// Maps rocecap's keys to tshark's fields, with the cases in which the two cannot be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace support {

/// GidOfIpv4: only the IPv4 address in the GID's last four bytes.
enum class Kind { Number, Flag, Text, Digits, Gid, GidOfIpv4 };

struct Field {
    std::string_view ours;    // JSON pointer
    std::string_view theirs;  // tshark -e
    Kind kind = Kind::Number;
    static constexpr std::size_t last = SIZE_MAX;
    std::size_t occurrence = 0;
    /// If several of our keys map to one field of tshark, selects the packets: a JSON pointer that
    /// must exist or, with "=text", have this text. "": all packets.
    std::string_view when{};
};

std::span<const Field> fields();

/// Returns whether the packet meets the field's `when`.
bool applies(const Field& field, const nlohmann::json& packet);

/// Returns whether tshark also has this field for a preceding encapsulation header.
bool is_repeated(const Field& field, const nlohmann::json& packet);

/// Returns the reason why the field of this packet cannot be compared; empty if it can.
std::string left_out(const Field& field, const nlohmann::json& packet);

}  // namespace support
