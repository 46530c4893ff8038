// Which of rocecap's keys is which of tshark's fields, and where the two cannot be compared.
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
    /// Where one of tshark's fields is several of ours, which packets this is for: a JSON pointer
    /// that is there, or with "=text" is that text. "": all.
    std::string_view when{};
};

std::span<const Field> fields();

/// Whether the field's `when` holds.
bool applies(const Field& field, const nlohmann::json& packet);

/// Whether tshark has the same field of an encapsulation in front of the packet's own.
bool is_repeated(const Field& field, const nlohmann::json& packet);

/// Why the field of this packet cannot be compared; empty where it can.
std::string left_out(const Field& field, const nlohmann::json& packet);

}  // namespace support
