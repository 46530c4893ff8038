#include "support/tshark.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "support/tshark_fields.hpp"

namespace support {
namespace {

using Json = nlohmann::json;
using nlohmann::literals::operator""_json_pointer;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);)
        parts.push_back(part);
    return parts;
}

std::optional<std::uint64_t> number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

constexpr std::size_t ipv4_at = 24;  // the last 8 of a GID's 32 digits

// Converts a GID to 32 digits from an IPv6 address, an IPv4 address, or digits.
std::string gid(const std::string& text) {
    std::array<unsigned char, 16> raw{};
    if (inet_pton(AF_INET6, text.c_str(), raw.data()) != 1 &&
        inet_pton(AF_INET6, ("::ffff:" + text).c_str(), raw.data()) != 1)
        return text;
    std::string digits;
    for (const unsigned char byte : raw)
        digits += fmt::format("{:02x}", byte);
    return digits;
}

bool same(const Json& ours, const std::string& theirs, Kind kind) {
    switch (kind) {
        case Kind::Number:
            return ours.is_number_unsigned() && number(theirs) == ours.get<std::uint64_t>();
        case Kind::Flag:
            return ours.is_boolean() &&
                   (theirs == "True" || number(theirs) == 1U) == ours.get<bool>();
        case Kind::Text:
            return ours.is_string() && ours.get<std::string>() == theirs;
        case Kind::Digits:
            return ours.is_number_unsigned() &&
                   fmt::format("{:08x}", ours.get<std::uint32_t>()) == theirs;
        case Kind::Gid:
            return ours.is_string() && gid(ours.get<std::string>()) == gid(theirs);
        case Kind::GidOfIpv4:
            return ours.is_string() &&
                   gid(ours.get<std::string>()).substr(ipv4_at) == gid(theirs).substr(ipv4_at);
    }
    return false;
}

// tshark's names without duplicates: it fills only one column of a field that is requested twice.
std::vector<std::string_view> columns() {
    std::vector<std::string_view> names;
    for (const Field& field : fields())
        if (std::ranges::find(names, field.theirs) == names.end())
            names.push_back(field.theirs);
    return names;
}

class Comparison {
  public:
    explicit Comparison(std::vector<std::string_view> columns) : columns_(std::move(columns)) {}

    Agreement result;

    void packet(const Json& ours, const std::vector<std::string>& cells) {
        ++result.packets;
        note_command(ours);
        std::map<std::string_view, std::string> theirs;
        for (std::size_t i = 0; i < cells.size(); ++i)
            theirs[columns_.at(i)] = cells[i];
        for (const Field& wanted : fields())
            field(ours, wanted, theirs[wanted.theirs]);
    }

  private:
    std::vector<std::string_view> columns_;
    std::map<std::string_view, std::uint64_t> examples_;
    std::set<std::uint64_t> unread_commands_;  // NVMe commands that tshark does not decode
    std::set<std::uint64_t> unread_calls_;     // RPC calls that tshark does not decode

    void note_command(const Json& packet) {
        if (packet.contains("/rpc/msgtyp"_json_pointer) && packet.at("rpc").at("msgtyp") == 0 &&
            packet.at("rpcrdma").at("reads") != 0)
            unread_calls_.insert(packet.at("rpcrdma").at("xid").get<std::uint64_t>());
        if (packet.contains("/nvme/cmd/cid"_json_pointer) &&
            packet.at("bth").at("opcode_name").get<std::string>().ends_with("First"))
            unread_commands_.insert(packet.at("nvme").at("cmd").at("cid").get<std::uint64_t>());
    }

    std::string why_left_out(const Field& field, const Json& packet) const {
        if (field.ours.starts_with("/nvme/") && packet.contains("/nvme/cqe/cid"_json_pointer) &&
            unread_commands_.contains(packet.at("nvme").at("cqe").at("cid").get<std::uint64_t>()) &&
            packet.at("nvme").value("qid", 0) != 0)
            return "tshark does not read the response to an NVMe command that it did not read";
        if ((field.ours.starts_with("/rpc/") || field.ours.starts_with("/nfs/")) &&
            packet.contains("/rpcrdma/xid"_json_pointer) &&
            unread_calls_.contains(packet.at("rpcrdma").at("xid").get<std::uint64_t>()))
            return "tshark shows a call with read chunks, and its reply, when it has the chunks";
        return left_out(field, packet);
    }

    void field(const Json& packet, const Field& field, const std::string& cell) {
        const Json::json_pointer pointer{std::string(field.ours)};
        const bool has_ours = packet.contains(pointer) && !packet.at(pointer).is_null();
        const bool is_repeated = support::is_repeated(field, packet);
        if (!applies(field, packet) || (!has_ours && (cell.empty() || is_repeated)))
            return;
        if (const std::string why = why_left_out(field, packet); !why.empty()) {
            ++result.left_out[why];
            return;
        }
        // The packet may have the field several times: that of a payload like a packet comes last.
        const auto values = split(cell, ',');
        const std::size_t occurrence = is_repeated ? Field::last : field.occurrence;
        const std::string theirs = values.empty()                ? ""
                                   : occurrence == Field::last   ? values.back()
                                   : values.size() <= occurrence ? ""
                                                                 : values[occurrence];
        if (!has_ours && theirs.empty())
            return;
        ++result.fields;
        ++result.by_field[std::string(field.theirs)];
        if (has_ours && !theirs.empty() && same(packet.at(pointer), theirs, field.kind))
            return;
        ++result.mismatches;
        constexpr std::uint64_t enough = 2;  // per field
        if (++examples_[field.theirs] <= enough)
            result.examples.push_back(fmt::format(
                "frame {} ({}): {} is {}, tshark's {} is '{}'",
                packet.at("frame").get<std::uint64_t>(),
                packet.contains("bth") ? packet.at("bth").at("opcode_name").dump() : "no BTH",
                field.ours, has_ours ? packet.at(pointer).dump() : "not there", field.theirs,
                theirs));
    }
};

}  // namespace

std::string Agreement::text() const {
    if (!problem.empty())
        return problem;
    std::string out =
        fmt::format("{} packets, {} fields compared, {} mismatches\n", packets, fields, mismatches);
    for (const auto& [why, count] : left_out)
        out += fmt::format("  {} fields not compared: {}\n", count, why);
    for (const std::string& example : examples)
        out += "  " + example + "\n";
    return out;
}

Agreement compare_with_tshark(const std::string& capture, Guesses guesses) {
    Argv tshark{
        "tshark", "-n", "-r", capture, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a",
        "-E", "aggregator=,", "--disable-protocol", "infiniband.eoib",
        // Their payload types are configured, not in the packets (tests/wire/encapsulations.hpp).
        "-d", "mpls.label==19,pwethcw", "-d", "mpls.label==21,pwethnocw", "-d",
        "ethertype==0x9200,vlan"};
    if (guesses == Guesses::Refused)
        tshark.insert(tshark.end(), {"--disable-protocol", "rpcordma"});
    for (const std::string_view column : columns())
        tshark.insert(tshark.end(), {"-e", std::string(column)});
    const Outcome theirs = run(tshark, {}, std::chrono::minutes(3));
    const Outcome ours = run({rocecap(), "decode", "--json", capture}, {}, std::chrono::minutes(3));
    Comparison comparison(columns());
    const auto rows = split(theirs.out, '\n');
    const auto lines = split(ours.out, '\n');
    if (theirs.exit_code != 0 || ours.exit_code > 1 || rows.size() != lines.size()) {
        comparison.result.problem = fmt::format(
            "tshark: {} packets, exit {}: {}rocecap: {} packets, exit {}: {}", rows.size(),
            theirs.exit_code, theirs.err, lines.size(), ours.exit_code, ours.err);
        comparison.result.mismatches = 1;
        return comparison.result;
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
        comparison.packet(Json::parse(lines[i]), split(rows[i], '\t'));
    return comparison.result;
}

}  // namespace support
