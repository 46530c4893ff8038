// Text of the events that more than one program writes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runlog/event.hpp"
#include "runlog/text_row.hpp"
#include "util/printable.hpp"

namespace runlog {
namespace {

constexpr std::string_view by_link_emulator =
    "[{opcode_name} PSN {psn:6} to QP {dest_qpn:6} ]of the {from}, by rule {rule}[, copy {copy}][: "
    "{detail}]";

constexpr std::array rows{
    TextRow{"ready", "listening on {address} port {port}"},
    TextRow{"device",
            "{device}[ port {port} {state}][, path MTU {path_mtu}][, netdev {netdev}]"
            "[, GID {gid_index} {gid} ({gid_type})]"},
    TextRow{"pd", "protection domain {handle}"},
    TextRow{"cq", "completion queue, {entries} entries[ ({asked} requested)]"},
    TextRow{"mr", "memory {va:x} + {len} B  lkey {lkey:8} rkey {rkey:8}  {access}"},
    TextRow{"qp",
            "queue pair {qpn:6} {type}[, {max_send_wr} send and {max_recv_wr} receive requests]"},
    TextRow{"psn", "QP {qpn:6} sends from PSN {psn:6} on (source: {source})"},
    TextRow{"qp_state",
            "QP {qpn:6} is {state}[, to QP {dest_qpn:6}][  send PSN {sq_psn:6}]"
            "[  receive PSN {rq_psn:6}][  path MTU {path_mtu}][  GID index {gid_index}]"
            "[  timeout {timeout}, retries {retry_cnt}, RNR retries {rnr_retry}]"
            "[  Q_Key {q_key:8}]"},
    TextRow{"cm_event", "{type}[ from {peer}][: {reason}]"},
    TextRow{"exchange",
            "{direction} in {channel}:[ QP {qpn:6}][ PSN {psn:6}]"
            "[ memory {va:x} + {len} B][ rkey {rkey:8}]"},
    TextRow{"tls_secret", "{line:w}"},
    TextRow{"post_send",
            "wr {wr_id} {opcode} {len} B[ → {remote_va:x} rkey {rkey:8}][ imm {imm:8}]"
            "[ → QP {dest_qpn:6} Q_Key {q_key:8}][ → SRQ {srqn:6}]"
            "[ add {add}][ compare {compare} swap {swap}]"
            "[  PSN {psn_first:6} to {psn_last:6}]"
            "[  PSN secret + {psn_offset_first} to + {psn_offset_last}]"},
    TextRow{"post_recv", "wr {wr_id} {len} B"},
    TextRow{
        "wc",
        "wr {wr_id} {status}[ {opcode}][ {byte_len} B][ imm {imm:8}][ vendor error {vendor_err}]"},
    TextRow{"async", "{type}"},
    TextRow{"group", "QP {qpn:6} {what} {gid}"},
    TextRow{"memory", "{va:x}: {used} of {len} B in use, CRC-32 {crc32:8}, \"{begins}…\""},
    TextRow{"check", "{verdict}: {what}[  → {fix}]"},
    TextRow{"drop", by_link_emulator},
    TextRow{"duplicate", by_link_emulator},
    TextRow{"delay", by_link_emulator},
    TextRow{"reorder", by_link_emulator},
    TextRow{"corrupt", by_link_emulator},
    TextRow{"set", by_link_emulator},
    TextRow{"mark", by_link_emulator},
    TextRow{"cut", by_link_emulator},
    TextRow{"limit", by_link_emulator},
    TextRow{"process", "{comm}: {command}"},
    TextRow{"process_end", "process {pid} has ended"},
    TextRow{"failed",
            "{call}: {error}[  QP {qpn:6}][  wr {wr_id}][  {from} to {to}][  GID index {gid_index} "
            "to {dest_gid}][  {opcode} {len} B][ → {remote_va:x} rkey {rkey:8}]"
            "[  memory {va:x} + {len} B][  {access}][  from {address}][  to {peer}]"},
    TextRow{"begun",
            "{call} has not returned[  QP {qpn:6}][  from {address}][  to {peer}]"
            "[  memory {va:x} + {len} B][  {what}]"},
    TextRow{"dropped", "{records} events are missing before this one"},
    TextRow{"damaged", "the process has overwritten events: they are missing"},
    TextRow{
        "cm_call",
        "{call}[  QP {qpn:6}][  from {address}][  to {peer}][  retries {retry_cnt}, RNR retries "
        "{rnr_retry}][  {private_data_len} B of private data]"},
    TextRow{"comp_channel", "completion channel, descriptor {fd}"},
    TextRow{"req_notify", "completion queue {cq} armed[  (solicited only: {solicited_only})]"},
    TextRow{"cq_event", "completion queue {cq} has signalled its channel"},
    TextRow{"srq_made", "shared receive queue {srq}, {max_wr} requests"},
    TextRow{"srq_modified", "shared receive queue {srq}[  {max_wr} requests][  limit {limit}]"},
    TextRow{"xrcd", "XRC domain {address:x}"},
    TextRow{
        "ah",
        "address handle {address:x}[  to {dest_gid}][  GID index {gid_index}][  of a message from "
        "QP {src_qp:6}]"},
    TextRow{"mw_made", "memory window of type {type}  rkey {rkey:8}"},
    TextRow{"bind_mw",
            "wr {wr_id} binds rkey {rkey:8} to memory {va:x} + {len} B  {access}  QP {qpn:6}"},
    TextRow{"destroyed",
            "{what}[ {qpn:6}  outstanding: {sends_outstanding} of {sends_posted} sends, "
            "{receives_outstanding} of {receives_posted} receives][ {cq}][ {srq}][ {handle}]"
            "[, descriptor {fd}][ {va:x} + {len} B][  lkey {lkey:8}][  rkey {rkey:8}][ {address:x}]"
            "[ {device}]"},
    TextRow{"note", "{text}"},
    TextRow{"error", "{text}"},
};

std::string text_of(const Sges& sges) {
    std::string text;
    for (const Sge& sge : sges)
        text += fmt::format("{}{:#x}+{} lkey {:#010x}", text.empty() ? "" : ", ", sge.addr,
                            sge.length, sge.lkey);
    return text;
}

std::string render(const Value& value, char form) {
    if (const auto* sges = std::get_if<Sges>(&value))
        return text_of(*sges);
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (form != 'w')
            return util::printable(*text);
        const auto end = text->find(' ');
        return end == std::string::npos ? std::string() : util::printable(text->substr(0, end));
    }
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "yes" : "no";
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return fmt::format("{}", *number);
    const auto number = std::get<std::uint64_t>(value);
    switch (form) {
        case 'x':
            return fmt::format("{:#x}", number);
        case '6':
            return fmt::format("{:#08x}", number);
        case '8':
            return fmt::format("{:#010x}", number);
        default:
            return fmt::format("{}", number);
    }
}

const Value* find(const Event& event, std::string_view key) {
    for (const Field& field : event.fields)
        if (field.key == key)
            return &field.value;
    return nullptr;
}

// Renders `pattern` (without brackets); false if one of its fields is missing.
bool expand(const Event& event, std::string_view pattern, std::string& out) {
    bool complete = true;
    while (!pattern.empty()) {
        const auto open = pattern.find('{');
        out += pattern.substr(0, open);
        if (open == std::string_view::npos)
            break;
        const auto close = pattern.find('}', open);
        std::string_view key = pattern.substr(open + 1, close - open - 1);
        char form = 0;
        if (const auto colon = key.find(':'); colon != std::string_view::npos) {
            form = key[colon + 1];
            key = key.substr(0, colon);
        }
        if (const Value* value = find(event, key))
            out += render(*value, form);
        else
            complete = false;
        pattern.remove_prefix(close + 1);
    }
    return complete;
}

std::string from_pattern(const Event& event, std::string_view pattern) {
    std::string out;
    while (!pattern.empty()) {
        const auto open = pattern.find('[');
        expand(event, pattern.substr(0, open), out);
        if (open == std::string_view::npos)
            break;
        const auto close = pattern.find(']', open);
        std::string optional_part;
        if (expand(event, pattern.substr(open + 1, close - open - 1), optional_part))
            out += optional_part;
        pattern.remove_prefix(close + 1);
    }
    return out;
}

constexpr std::string_view gathered = "[  from {sges}][ and {more_sges} more][  {send_flags}]";
constexpr std::string_view scattered = "[  into {sges}][ and {more_sges} more]";

const TextRow* find(std::span<const TextRow> among, std::string_view event) {
    const auto row = std::ranges::find(among, event, &TextRow::event);
    return row == among.end() ? nullptr : &*row;
}

}  // namespace

std::string time_of_day(std::int64_t t_ns) {
    constexpr std::int64_t day = 86'400;
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t s = t_ns / second % day;
    return fmt::format("{:02}:{:02}:{:02}.{:06}", s / 3600, s / 60 % 60, s % 60,
                       t_ns % second / 1000);
}

std::string to_text(const Event& event) {
    std::string out = fmt::format("{:<9} ", util::printable(event.name));
    const TextRow* row = find(rows, event.name);
    if (row == nullptr)
        row = find(lesson_rows, event.name);
    if (row != nullptr)
        return out + from_pattern(event, row->pattern);
    for (const Field& field : event.fields)  // an event of a later version: all fields
        out += fmt::format(" {}={}", util::printable(field.key), render(field.value, 0));
    return out;
}

std::string request_text(const Event& event) {
    const bool is_send = event.name == "post_send" || !event.text("opcode").empty();
    if (event.name == "post_send" || event.name == "failed")
        return from_pattern(event, is_send ? gathered : scattered);
    return event.name == "post_recv" ? from_pattern(event, scattered) : "";
}

std::string duration_text(const Event& event, std::uint64_t least_ms) {
    constexpr std::uint64_t us_per_ms = 1000;
    if (find(event, "unfinished") != nullptr)
        return "  has not returned";
    const auto took_us = event.number("took_us");
    if (!took_us || *took_us < least_ms * us_per_ms)
        return {};
    return fmt::format("  took {} ms", *took_us / us_per_ms);
}

}  // namespace runlog
