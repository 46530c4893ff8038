// docs/wire-format.md: its tables of codes match the decoder, and its description of the ICRC
// matches the packets in it.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "filter/field.hpp"
#include "support/wire_document.hpp"
#include "wire/each_header.hpp"
#include "wire/packet.hpp"

namespace {

using support::Cells;
using support::Table;
using support::wire_document;

std::vector<Cells> rows_of(std::string_view head) {
    std::vector<Cells> rows;
    for (const Table* table : wire_document().with_head(head))
        rows.insert(rows.end(), table->rows.begin(), table->rows.end());
    return rows;
}

std::string headers_of(const wire::OpcodeInfo& opcode) {
    if (opcode.has(wire::header::cnp_reserved))
        return "16 reserved bytes";
    std::string names;
    wire::Packet none;
    wire::for_each_extension_header(none,
                                    [&](wire::HeaderMask bit, std::string_view name, const auto&) {
                                        if (opcode.has(bit))
                                            names.append(names.empty() ? "" : ", ").append(name);
                                        return true;
                                    });
    return names;
}

std::set<Cells> decoders(std::span<const wire::OpcodeInfo> opcodes) {
    std::set<Cells> rows;
    for (const wire::OpcodeInfo& opcode : opcodes)
        rows.insert({fmt::format("{:#04x}", opcode.value), std::string(opcode.name),
                     headers_of(opcode), opcode.carries_payload() ? "yes" : "no"});
    return rows;
}

// Parses a number in backticks.
unsigned long quoted_number(const std::string& cell) {
    return std::stoul(cell.substr(1), nullptr, 0);
}

std::string joined(const std::string& first, const std::string& separator,
                   const std::string& second) {
    return first + (first.empty() || second.empty() ? "" : separator) + second;
}

// Combines each operation with its transports.
std::set<Cells> documented(bool is_dc) {
    std::map<std::string, Cells> transports;
    for (const Cells& row :
         rows_of("transport | first opcode | its headers | its headers in responses"))
        transports[row[0]] = row;
    std::set<Cells> opcodes;
    for (const Cells& row : rows_of("operation | name | headers | payload | transports")) {
        const std::string& name = row[1];
        const bool is_response = name.find("response") != std::string::npos ||
                                 name.find("Acknowledge") != std::string::npos;
        std::istringstream words(row[4]);
        for (std::string word; words >> word;) {
            if ((word == "DC") != is_dc)
                continue;
            const Cells& transport = transports.at(word);
            const auto value = quoted_number(transport[1]) + quoted_number(row[0]);
            const bool is_new =
                opcodes
                    .insert({fmt::format("{:#04x}", value), joined(word, " ", name),
                             joined(transport[is_response ? 3 : 2], ", ", row[2]), row[3]})
                    .second;
            EXPECT_TRUE(is_new) << word << ' ' << name << " has two rows";
        }
    }
    return opcodes;
}

TEST(WireCodes, the_opcodes_are_the_decoders) {
    EXPECT_EQ(documented(false), decoders(wire::opcodes()));
    EXPECT_EQ(documented(true), decoders(wire::dc_opcodes()));
}

// Returns the values of a table with four rows of eight. The code is the sum of the row and the
// column.
std::vector<std::string> grid(const std::string& caption) {
    std::vector<std::string> values;
    for (const Table* table :
         wire_document().with_head("code | +0 | +1 | +2 | +3 | +4 | +5 | +6 | +7")) {
        if (table->caption != caption)
            continue;
        for (const Cells& row : table->rows) {
            EXPECT_EQ(row.front(), std::to_string(values.size()));
            values.insert(values.end(), row.begin() + 1, row.end());
        }
    }
    return values;
}

wire::Aeth aeth(wire::AethKind kind, unsigned code) {
    return {.syndrome = static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5 | code)};
}

TEST(WireCodes, the_credits_and_timers_of_an_aeth_are_the_decoders) {
    constexpr unsigned codes = 32;
    std::vector<std::string> credits;
    std::vector<std::string> timers;
    for (unsigned code = 0; code < codes; ++code) {
        const auto count = aeth(wire::AethKind::Ack, code).credits();
        credits.push_back(count ? std::to_string(*count) : "none");
        timers.push_back(fmt::format("{}", *aeth(wire::AethKind::RnrNak, code).rnr_timer_ms()));
    }
    EXPECT_EQ(grid("Table of credits:"), credits);
    EXPECT_EQ(grid("Table of RNR timers:"), timers);
}

TEST(WireCodes, the_kinds_of_syndrome_and_the_nak_codes_are_the_decoders) {
    const std::vector<Cells> kinds{{"0", "ACK", "credit code"},
                                   {"1", "RNR NAK", "timer code"},
                                   {"2", "reserved", ""},
                                   {"3", "NAK", "NAK code"}};
    EXPECT_EQ(rows_of("syndrome bits 6-5 | `aeth.type` | bits 4-0"), kinds);
    for (unsigned kind = 0; kind < kinds.size(); ++kind)
        EXPECT_TRUE(aeth(static_cast<wire::AethKind>(kind), 1).text().starts_with(kinds[kind][1]));

    const auto naks = rows_of("NAK code | `aeth.error`");
    constexpr unsigned named = 5;
    ASSERT_EQ(naks.size(), named + 1);
    for (unsigned code = 0; code < 32; ++code) {
        const Cells& row = naks[std::min(code, named)];
        EXPECT_EQ(row[0], code < named ? std::to_string(code) : "5 to 31");
        EXPECT_EQ(row[1], aeth(wire::AethKind::Nak, code).nak_name()) << code;
    }
}

TEST(WireCodes, the_connection_managers_attributes_are_the_decoders) {
    std::vector<std::pair<std::string, std::string>> known;
    for (unsigned id = 0; id <= 0xffff; ++id)
        if (const auto name = wire::name(static_cast<wire::CmAttribute>(id)); !name.empty())
            known.emplace_back(fmt::format("`{:#06x}`", id), name);
    std::vector<std::pair<std::string, std::string>> listed;
    for (const Cells& row : rows_of("attribute | `cm.message` | short | IBTA | what it says"))
        listed.emplace_back(row[0], row[1]);
    EXPECT_EQ(listed, known);
}

std::string_view reason_name(std::size_t code) {
    wire::CmRej rej;
    rej.reason = static_cast<std::uint16_t>(code);
    return rej.reason_name();
}
std::string_view status_name(std::size_t code) {
    wire::CmSidrRep rep;
    rep.status = static_cast<std::uint8_t>(code);
    return rep.status_name();
}

TEST(WireCodes, the_reasons_of_a_rej_and_the_statuses_of_a_sidr_rep_are_the_decoders) {
    std::map<unsigned long, std::string> reasons;
    for (const Cells& row : rows_of("code | reason | code | reason")) {
        reasons[std::stoul(row[0])] = row[1];
        reasons[std::stoul(row[2])] = row[3];
    }
    ASSERT_EQ(reasons.size(), 36U);
    for (const auto& [code, reason] : reasons)
        EXPECT_EQ(reason_name(code), reason);
    EXPECT_EQ(reason_name(reasons.size()), "Reserved");

    const auto statuses = rows_of("status | `cm.status_name`");
    ASSERT_EQ(statuses.size(), 6U);
    for (std::size_t code = 0; code < statuses.size(); ++code) {
        EXPECT_EQ(statuses[code][0], std::to_string(code));
        EXPECT_EQ(status_name(code), statuses[code][1]);
    }
}

// Parses the bits that are masked to ones in the ICRC, such as "0 bits 3-0, 1-3". Numbered 8 * byte
// + bit.
std::set<std::size_t> masked_bits(const std::string& cell) {
    constexpr std::string_view only = " bits ";
    std::set<std::size_t> bits;
    std::istringstream items(cell);
    for (std::string item; std::getline(items >> std::ws, item, ',');) {
        const auto at = item.find(only);
        const auto bytes = support::range_of(std::string_view(item).substr(0, at));
        const auto within =
            at == std::string::npos
                ? support::Range{0, 7}
                : support::range_of(std::string_view(item).substr(at + only.size()));
        EXPECT_TRUE(bytes && within) << item;
        if (!bytes || !within)
            continue;
        for (std::size_t byte = bytes->low; byte <= bytes->high; ++byte)
            for (std::size_t bit = within->low; bit <= within->high; ++bit)
                bits.insert(8 * byte + bit);
    }
    return bits;
}

// Compares the masked bits in a column of the table with those of the packet.
void expect_masked(const std::string& name, wire::IcrcLayout layout, std::size_t column) {
    SCOPED_TRACE(name);
    std::set<std::size_t> listed;
    for (const Cells& row : rows_of("taken as ones | IPv4 | IPv6 | GRH"))
        listed.merge(masked_bits(row.at(column)));
    ASSERT_FALSE(listed.empty());

    auto frame = wire_document().packets.at(name);
    const auto covered = std::span(frame)
                             .subspan(wire::Ethernet::size)
                             .first(frame.size() - 4 - wire::Ethernet::size);
    const auto icrc = wire::compute_icrc(layout, covered);
    std::set<std::size_t> indifferent;
    for (std::size_t bit = 0; bit < 8 * covered.size(); ++bit) {
        const std::byte flip{static_cast<unsigned char>(1U << bit % 8)};
        covered[bit / 8] ^= flip;
        if (wire::compute_icrc(layout, covered) == icrc)
            indifferent.insert(bit);
        covered[bit / 8] ^= flip;
    }
    EXPECT_EQ(listed, indifferent);
}

TEST(WireCodes, what_the_icrc_takes_as_ones_makes_no_difference_to_it_and_all_else_does) {
    expect_masked("ack", wire::IcrcLayout::Ipv4Udp, 1);
    expect_masked("read-response", wire::IcrcLayout::Ipv6Udp, 2);
    expect_masked("roce-v1-write", wire::IcrcLayout::Grh, 3);
}

TEST(WireCodes, the_worked_icrc_is_that_of_zlib_and_of_the_packet) {
    const auto& summed = wire_document().masked.at("ack");
    const auto& frame = wire_document().packets.at("ack");
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(summed.data()), summed.size());
    constexpr std::size_t lrh_size = 8;
    ASSERT_EQ(summed.size(), lrh_size + frame.size() - wire::Ethernet::size - wire::icrc_size);
    for (std::size_t i = 0; i < summed.size(); ++i) {
        const bool is_packets =
            i >= lrh_size && summed[i] == frame[wire::Ethernet::size + i - lrh_size];
        EXPECT_TRUE(is_packets || summed[i] == std::byte{0xff}) << "byte " << i;
    }
    const auto icrc = wire::decode(frame, wire::LinkType::Ethernet).icrc->value.value();
    const std::vector<Cells> expected{
        {fmt::format("CRC-32 of these {} bytes", summed.size()), fmt::format("`{:#010x}`", crc)},
        {"as sent, lowest byte first", fmt::format("`{:02x} {:02x} {:02x} {:02x}`", crc & 0xff,
                                                   crc >> 8 & 0xff, crc >> 16 & 0xff, crc >> 24)},
        {"rocecap's `icrc.value`: the bytes as sent, read in network order",
         fmt::format("`{:#010x}`", icrc)},
    };
    EXPECT_EQ(rows_of("what | value"), expected);
    EXPECT_EQ(icrc, __builtin_bswap32(static_cast<std::uint32_t>(crc)));
}

// Encapsulations and flow control have no packet in the document.
TEST(WireCodes, the_fields_of_encapsulations_and_flow_control_are_in_their_tables) {
    std::set<std::string> named;
    for (const auto* head : {"encapsulation | known by | header, bytes | inside | fields",
                             "frame | bytes behind the EtherType | fields"})
        for (const Table* table : wire_document().with_head(head))
            for (const Cells& row : table->rows)
                for (std::size_t at = 0; (at = row.back().find('`', at)) != std::string::npos;) {
                    const std::size_t end = row.back().find('`', at + 1);
                    named.insert(row.back().substr(at + 1, end - at - 1));
                    at = end + 1;
                }
    std::set<std::string> fields;
    for (const filter::Field& field : filter::fields())
        for (const auto* group : {"vxlan.", "geneve.", "gtp.", "gre.", "nvgre.", "erspan.", "mpls.",
                                  "pppoe.", "macc.", "pause.", "pfc."})
            if (field.name.starts_with(group))
                fields.emplace(field.name);
    EXPECT_EQ(named, fields);
}

// Each field in the form "`lrh.pktlen` 4-5 bits 10-0", "`erf.type` 8 bits 6-0", "`rwh.etype` 2-3".
TEST(WireCodes, the_fields_of_infiniband_are_where_the_table_says) {
    const std::regex field_text("`([a-z.]+)` (\\d+)(?:-(\\d+))?(?: bits? (\\d+)(?:-(\\d+))?)?");
    std::size_t compared = 0;
    for (const Table* table :
         wire_document().with_head("part | bytes | fields, as byte and bits of the part"))
        for (const Cells& row : table->rows)
            for (std::sregex_iterator at(row.back().begin(), row.back().end(), field_text), end;
                 at != end; ++at) {
                const std::smatch& found = *at;
                SCOPED_TRACE(found.str());
                const filter::Field* field = filter::find_field(found[1].str());
                ASSERT_NE(field, nullptr);
                if (field->get.place.width == 0)  // only in some SMPs
                    continue;
                const auto number = [&](std::size_t group, int otherwise) {
                    return found[group].matched ? std::stoi(found[group]) : otherwise;
                };
                const int first = number(2, 0);
                const int last = number(3, first);
                const int high = number(4, 8 * (last - first) + 7);
                const int low = number(5, found[4].matched ? high : 0);
                EXPECT_EQ(field->get.place.bit, 8 * last + 7 - high);
                EXPECT_EQ(field->get.place.width, high - low + 1);
                ++compared;
            }
    EXPECT_EQ(compared, 14U);
}

TEST(WireCodes, no_table_of_the_document_is_left_unchecked) {
    const std::set<std::string> checked{
        "byte | bits | field | rocecap | bytes here | value here",
        "bytes | what | size",
        "transport | first opcode | its headers | its headers in responses",
        "operation | name | headers | payload | transports",
        "code | +0 | +1 | +2 | +3 | +4 | +5 | +6 | +7",
        "syndrome bits 6-5 | `aeth.type` | bits 4-0",
        "NAK code | `aeth.error`",
        "attribute | `cm.message` | short | IBTA | what it says",
        "code | reason | code | reason",
        "status | `cm.status_name`",
        "taken as ones | IPv4 | IPv6 | GRH",
        "what | value",
        "encapsulation | known by | header, bytes | inside | fields",
        "frame | bytes behind the EtherType | fields",
        "part | bytes | fields, as byte and bits of the part",
        "column | what",  // explains the tables, has no codes
    };
    for (const Table& table : wire_document().tables)
        EXPECT_TRUE(checked.contains(table.head())) << table.head() << ", line " << table.line;
}

}  // namespace
