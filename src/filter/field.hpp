// The decoded fields of a packet by name. Names are those of rocecap's JSON, and Wireshark's
// without the protocol's prefix: "bth.psn" is infiniband.bth.psn there. One row per field
// determines how it is printed, filtered and listed, and its place in the JSON (json.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/value.hpp"
#include "wire/packet.hpp"

namespace upper {
struct Message;
}

namespace filter {

/// A packet and its capture data. Holds references to objects that must outlive it.
struct View {
    std::uint64_t number = 0;         ///< in the capture, from 1
    std::chrono::nanoseconds time{};  ///< since 1970-01-01 UTC
    const wire::Packet& packet;
    util::Bytes frame;       ///< the bytes from which `packet` was decoded
    std::size_t length = 0;  ///< bytes on the wire
    std::string& scratch;    ///< buffer for composed text values
    wire::CaptureNotes notes{};
    /// Message of the layer above RDMA; nullptr if connections are not tracked.
    const upper::Message* upper = nullptr;
};

/// Reads a field's value. `place`: its bits, if it is a field of one header.
struct Getter {
    Value (*read)(const View&) = nullptr;
    wire::Place place{};

    constexpr Getter(Value (*function)(const View&), wire::Place of = {})
        : read(function), place(of) {}
    Value operator()(const View& view) const { return read(view); }
};

inline constexpr std::string_view not_in_json = "-";

/// Properties of some fields.
struct FieldExtra {
    bool needs_icrc = false;        ///< the packet must be decoded with its ICRC computed
    bool needs_connection = false;  ///< View::upper is required
    /// JSON key, if it is not the part of the name after the header's name: "vlan[]" for a header
    /// that is the next element of the array "vlan", or not_in_json.
    std::string_view json{};
    /// Wireshark's name, if it is neither the field's name nor that after "infiniband.".
    std::string_view wireshark{};
};

/// A header is a field of Kind::Present. The rows of its fields follow it, and their names begin
/// with its name: "eth", "eth.dst".
struct Field {
    std::string_view name;
    Kind kind{};
    std::string_view help;  ///< short description
    Getter get;
    FieldExtra extra{};
    /// Set for a field that only some packets have by this name: infiniband.cm.rep.localqpn is
    /// cm.localqpn of a ConnectReply. nullptr: all packets.
    bool (*is_of)(const View&) = nullptr;

    /// Returns get(), or nothing if is_of() returns false.
    Value of(const View& view) const {
        return is_of == nullptr || is_of(view) ? get(view) : Value();
    }
};

/// In wire order.
std::span<const Field> fields();

/// Returns nullptr if no field has this name. Also accepts Wireshark's names of these fields:
/// "infiniband.bth.psn", "frame.number", "infiniband.cm.rep.localqpn".
const Field* find_field(std::string_view name);

/// Returns the name of the most similar field; empty if none is similar.
std::string_view similar_field(std::string_view name);

/// Rows with one value per field, for TSV and CSV. Fields are given as "bth.psn,reth.r_key". Throws
/// util::Error for an unknown name.
class Row {
  public:
    enum class Format : std::uint8_t { Tsv, Csv };

    Row(std::string_view names, Format format);

    /// The names as header line. Ends in a line feed.
    std::string header() const;
    /// Appends one line to `out`. A tab or line feed in a text becomes a space in TSV; CSV quotes
    /// as in RFC 4180.
    void append(std::string& out, const View& view) const;

    bool needs_icrc() const;

  private:
    std::vector<const Field*> fields_;
    Format format_;
};

}  // namespace filter
