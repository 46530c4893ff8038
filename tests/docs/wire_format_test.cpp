// docs/wire-format.md: every row of its layout tables matches the packet's bytes and the rocecap
// field of that name.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "filter/field.hpp"
#include "support/wire_document.hpp"
#include "wire/each_header.hpp"
#include "wire/sample_frames.hpp"

namespace {

using support::Cells;
using support::Range;
using support::range_of;
using support::Table;
using support::wire_document;

constexpr auto layout_head = "byte | bits | field | rocecap | bytes here | value here";

// The size of each header. The CM's messages fill the datagram after the MAD header.
const std::map<std::string, std::size_t>& sizes() {
    using namespace wire;
    static const std::map<std::string, std::size_t> sizes{
        {"Ethernet", Ethernet::size},
        {"VLAN tag", Vlan::size},
        {"IPv4", Ipv4::size},
        {"IPv6", Ipv6::size},
        {"UDP", Udp::size},
        {"GRH", Grh::size},
        {"BTH", Bth::size},
        {"RETH", Reth::size},
        {"AETH", Aeth::size},
        {"AtomicETH", AtomicEth::size},
        {"AtomicAckETH", AtomicAckEth::size},
        {"ImmDt", ImmDt::size},
        {"IETH", Ieth::size},
        {"DETH", Deth::size},
        {"RDETH", Rdeth::size},
        {"XRCETH", Xrceth::size},
        {"FETH", Feth::size},
        {"CNP", cnp_reserved_size},
        {"Padding and ICRC", 1 + icrc_size},
        {"MAD", Mad::size},
        {"REQ", Mad::data_size},
        {"Path", 44},
        {"IP service ID", sizeof(CmReq::service_id)},
        {"IP CM header", IpCm::size},
        {"REP", Mad::data_size},
        {"RTU", Mad::data_size},
        {"DREQ", Mad::data_size},
        {"DREP", Mad::data_size},
        {"REJ", Mad::data_size},
        {"MRA", Mad::data_size},
        {"SIDR REQ", Mad::data_size},
        {"SIDR REP", Mad::data_size},
        {"LAP", Mad::data_size},
        {"APR", Mad::data_size},
    };
    return sizes;
}

// Bits are written from high to low. An empty text means all bits.
std::optional<Range> bits_of(const std::string& text, std::size_t bytes) {
    const auto bits = text.empty() ? Range{0, 8 * bytes - 1} : range_of(text);
    return bits && bits->high < 8 * bytes ? bits : std::nullopt;
}

bool is_zero(util::Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint64_t number(util::Bytes bytes, Range bits) {
    std::uint64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::uint64_t>(byte);
    const std::size_t width = bits.high - bits.low + 1;
    return width == 64 ? value : value >> bits.low & ((std::uint64_t{1} << width) - 1);
}

std::string unquoted(const std::string& cell) {
    const bool is_quoted = cell.size() >= 2 && cell.starts_with('`') && cell.ends_with('`');
    return is_quoted ? cell.substr(1, cell.size() - 2) : cell;
}

// Valid cells: "0a 0b", "0a …" if more bytes follow, "`00` × 44".
bool shows(const std::string& cell, util::Bytes bytes) {
    if (cell == "`00` × " + std::to_string(bytes.size()))
        return is_zero(bytes);
    const std::string text = unquoted(cell);
    const auto shown = wire_test::from_hex(text);
    return text != cell && shown.size() <= bytes.size() &&
           std::ranges::equal(shown, bytes.first(shown.size())) &&
           (shown.size() < bytes.size()) == text.ends_with(" …");
}

// Valid cells: "`0x0800`", "`52574c01…`" if more digits follow, "zeros".
bool says(const std::string& cell, const std::string& printed) {
    constexpr std::string_view more = "…";
    if (cell == "zeros")
        return !printed.empty() && printed.find_first_not_of('0') == std::string::npos;
    const std::string shown = unquoted(cell);
    return shown.ends_with(more) ? printed.starts_with(shown.substr(0, shown.size() - more.size()))
                                 : printed == shown;
}

// Returns whether the field consists of exactly these bits, if its kind allows the comparison.
struct IsMadeOf {
    util::Bytes bytes;
    Range bits;

    bool operator()(std::monostate) const { return false; }
    bool operator()(filter::Null) const { return false; }
    bool operator()(std::uint64_t value) const {
        return bytes.size() <= sizeof value && value == number(bytes, bits);
    }
    bool operator()(bool value) const {
        return bits.low == bits.high && (*this)(std::uint64_t{value});
    }
    bool operator()(std::int64_t) const { return false; }
    // wire_codes_test.cpp tests the meaning of codes.
    bool operator()(double) const { return true; }
    bool operator()(std::string_view) const { return true; }
    // Reject information has its own length.
    bool operator()(const filter::Octets& octets) const {
        return octets.bytes.data() == bytes.data() && octets.bytes.size() <= bytes.size();
    }
    template <std::size_t N, typename Tag>
    bool operator()(const wire::AddressBytes<N, Tag>& address) const {
        return std::ranges::equal(std::as_bytes(std::span(address.bytes)), bytes);
    }
};

class Layout {
  public:
    Layout(const filter::View& view, util::Bytes header) : view_(view), header_(header) {}

    void row(const Cells& cells) {
        ASSERT_EQ(cells.size(), 6U);
        const auto at = range_of(cells[0]);
        ASSERT_TRUE(at && at->high < header_.size()) << "bytes outside of the header";
        const auto bytes = header_.subspan(at->low, at->high - at->low + 1);
        const auto bits = bits_of(cells[1], bytes.size());
        ASSERT_TRUE(bits) << "bits outside of the bytes";
        for (std::size_t bit = bits->low; bit <= bits->high; ++bit)
            EXPECT_TRUE(covered_.insert(8 * at->high + 7 - bit).second) << "covered twice";
        EXPECT_FALSE(cells[2].empty());
        EXPECT_TRUE(shows(cells[4], bytes)) << "the packet has other bytes there";
        if (cells[3].empty())
            return nameless_value(cells[5], bytes, *bits);
        const filter::Field* field = filter::find_field(unquoted(cells[3]));
        ASSERT_NE(field, nullptr) << cells[3];
        field_value(*field, unquoted(cells[3]), cells[5], bytes, *bits);
        if (const wire::Place place = field->get.place; place.width != 0) {
            EXPECT_EQ(place.bit, 8 * at->high + 7 - bits->high) << field->name;
            EXPECT_EQ(place.width, bits->high - bits->low + 1) << field->name;
        }
    }

    void is_whole() const { EXPECT_EQ(covered_.size(), 8 * header_.size()) << "gaps"; }

  private:
    static void nameless_value(const std::string& cell, util::Bytes bytes, Range bits) {
        if (bytes.size() > sizeof(std::uint64_t)) {
            EXPECT_EQ(cell, is_zero(bytes) ? "zeros" : "");
            return;
        }
        ASSERT_NE(unquoted(cell), cell) << "a number is missing";
        EXPECT_EQ(std::stoull(unquoted(cell), nullptr, 0), number(bytes, bits));
    }

    void field_value(const filter::Field& field, const std::string& name, const std::string& cell,
                     util::Bytes bytes, Range bits) {
        EXPECT_EQ(field.name, name);
        const filter::Value value = field.get(view_);
        EXPECT_TRUE(std::visit(IsMadeOf{bytes, bits}, value)) << name << " is not these bits";
        std::string printed;
        filter::append(printed, value, field.kind);
        EXPECT_TRUE(says(cell, printed)) << cell << ", but " << name << " is " << printed;
    }

    const filter::View& view_;
    util::Bytes header_;
    std::set<std::size_t> covered_;  // bits, counted from the first byte's most significant bit
};

// The contents of a caption: "**BTH**: 12 bytes, in packet `ack` from byte 42."
struct Place {
    std::string name;
    std::size_t size = 0;
    std::string packet;
    std::size_t from = 0;
};

std::optional<Place> place_of(const Table& table) {
    support::Cutter caption(table.caption);
    caption.until("**");
    const std::string name = caption.until("**: ");
    const auto size = range_of(caption.until(" bytes, in packet `"));
    const std::string packet = caption.until("` from byte ");
    const auto from = range_of(caption.until("."));
    if (!caption.is_done() || !size || !from)
        return std::nullopt;
    return Place{name, size->low, packet, from->low};
}

void check(const Table& table, const Place& place) {
    ASSERT_TRUE(sizes().contains(place.name));
    EXPECT_EQ(sizes().at(place.name), place.size);
    ASSERT_TRUE(wire_document().packets.contains(place.packet));
    const util::Bytes frame = wire_document().packets.at(place.packet);
    ASSERT_LE(place.from + place.size, frame.size());
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    std::string scratch;
    const filter::View view{.number = 1,
                            .time = {},
                            .packet = packet,
                            .frame = frame,
                            .length = frame.size(),
                            .scratch = scratch};
    Layout layout(view, frame.subspan(place.from, place.size));
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        SCOPED_TRACE("line " + std::to_string(table.line + 2 + i));
        layout.row(table.rows[i]);
    }
    layout.is_whole();
}

TEST(WireFormat, every_row_is_what_its_packet_has_and_what_the_field_says) {
    for (const Table* table : wire_document().with_head(layout_head)) {
        SCOPED_TRACE(table->caption);
        const auto place = place_of(*table);
        ASSERT_TRUE(place) << "the line before the table does not say where it is from";
        check(*table, *place);
    }
}

TEST(WireFormat, every_header_has_a_table) {
    std::set<std::string> there;
    for (const Table* table : wire_document().with_head(layout_head))
        if (const auto place = place_of(*table))
            there.insert(place->name);
    for (const auto& [name, size] : sizes())
        EXPECT_TRUE(there.contains(name)) << name;
}

// Names without a dot belong to the capture or stand for several fields. docs/rocecap.md contains
// the fields of the layer above RDMA.
TEST(WireFormat, every_field_of_a_packet_is_named) {
    const auto is_elsewhere = [](std::string_view name) {
        constexpr std::array<std::string_view, 4> groups{"sll.", "tcp.", "inner_vlan.", "cm.alt."};
        return name.find('.') == std::string_view::npos ||
               std::ranges::any_of(groups, [&](auto group) { return name.starts_with(group); });
    };
    for (const filter::Field& field : filter::fields()) {
        const bool is_due = field.kind != filter::Kind::Present && !is_elsewhere(field.name) &&
                            !field.extra.needs_connection;
        EXPECT_TRUE(!is_due || wire_document().text.find('`' + std::string(field.name) + '`') !=
                                   std::string::npos)
            << field.name;
    }
}

TEST(WireFormat, the_map_of_a_packet_has_no_gap) {
    const auto maps = wire_document().with_head("bytes | what | size");
    ASSERT_EQ(maps.size(), 1U);
    ASSERT_EQ(maps[0]->caption, "Map of packet `write-first`:");
    std::size_t end = 0;
    for (const Cells& row : maps[0]->rows) {
        SCOPED_TRACE(row[1]);
        const auto bytes = range_of(row[0]);
        ASSERT_TRUE(bytes);
        EXPECT_EQ(bytes->low, end);
        end = bytes->high + 1;
        EXPECT_EQ(std::stoul(row[2]), end - bytes->low);
        const auto size = sizes().find(row[1]);
        EXPECT_TRUE(size == sizes().end() || size->second == end - bytes->low);
    }
    EXPECT_EQ(end, wire_document().packets.at("write-first").size());
}

}  // namespace
