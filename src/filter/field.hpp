// The decoded fields of a packet by name. Names are those of rocecap's JSON, and Wireshark's
// without the protocol's prefix: "bth.psn" is infiniband.bth.psn there. One row a field: what can
// be printed, filtered by, and listed follows from the row, and so does the JSON (json.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/value.hpp"
#include "wire/capture_notes.hpp"
#include "wire/packet.hpp"

namespace upper {
struct Message;
}

namespace filter {

/// A packet, and what its capture knows of it. References: it lives as long as they do.
struct View {
    std::uint64_t number = 0;         ///< in the capture, from 1
    std::chrono::nanoseconds time{};  ///< since 1970-01-01 UTC
    const wire::Packet& packet;
    util::Bytes frame;       ///< what `packet` was decoded from
    std::size_t length = 0;  ///< bytes on the wire
    std::string& scratch;    ///< holds the text of a value that has to be composed
    wire::CaptureNotes notes{};
    /// What the layer above RDMA says in it; nullptr where nobody follows the connections.
    const upper::Message* upper = nullptr;
};

inline constexpr std::string_view not_in_json = "-";

/// What only some fields have.
struct FieldExtra {
    bool needs_icrc = false;        ///< the packet must be decoded with its ICRC computed
    bool needs_connection = false;  ///< View::upper must be there
    /// The JSON's key, where it is not the part of the name behind the header's: "vlan[]" for a
    /// header that is the next element of the array "vlan", or not_in_json.
    std::string_view json{};
    /// Wireshark's name, where it is neither the field's own nor that behind "infiniband.".
    std::string_view wireshark{};
};

/// A header is a field of Kind::Present; the rows of its fields come behind it and begin with its
/// name: "eth", "eth.dst".
struct Field {
    std::string_view name;
    Kind kind{};
    std::string_view help;  ///< what it is, in a few words
    Value (*get)(const View&) = nullptr;
    FieldExtra extra{};
    /// Of a field that only some packets have by this name: infiniband.cm.rep.localqpn is
    /// cm.localqpn of a ConnectReply. nullptr: of all.
    bool (*is_of)(const View&) = nullptr;

    /// get(), or nothing where is_of() says so.
    Value of(const View& view) const {
        return is_of == nullptr || is_of(view) ? get(view) : Value();
    }
};

/// Sorted as on the wire.
std::span<const Field> fields();

/// nullptr where there is none of this name. Wireshark's names are understood too, where they name
/// a field that is here: "infiniband.bth.psn", "frame.number", "infiniband.cm.rep.localqpn".
const Field* find_field(std::string_view name);

/// The field's name that is most like this one; empty where none is alike.
std::string_view similar_field(std::string_view name);

/// Rows of one value each, for TSV and CSV. "bth.psn,reth.r_key" as a user gives them. Throws
/// util::Error for a name that is no field.
class Row {
  public:
    enum class Format : std::uint8_t { Tsv, Csv };

    Row(std::string_view names, Format format);

    /// The names, as a first line. Ends in a line feed.
    std::string header() const;
    /// Behind `out`, one line. A tab or line feed within a text becomes a space in TSV; CSV quotes
    /// as in RFC 4180.
    void append(std::string& out, const View& view) const;

    bool needs_icrc() const;

  private:
    std::vector<const Field*> fields_;
    Format format_;
};

}  // namespace filter
