// How each event reads. A row names the event and gives a pattern: literal text, and {key} or
// {key:form} where a field goes: x is hexadecimal, 6 and 8 with so many digits, w only the first of
// several words. A part in [brackets] is left out when one of its fields is missing, so that one
// row serves all its variants.
#include <array>

#include <fmt/format.h>

#include "runlog/event.hpp"
#include "util/printable.hpp"

namespace runlog {
namespace {

struct Row {
    std::string_view event;
    std::string_view pattern;
};

constexpr std::string_view by_link_emulator =
    "[{opcode_name} PSN {psn:6} to QP {dest_qpn:6} ]of the {from}, by rule {rule}[: {detail}]";

constexpr std::array rows{
    Row{"ready", "listening on {address} port {port}"},
    Row{"device",
        "{device}[ port {port} {state}][, path MTU {path_mtu}][, netdev {netdev}]"
        "[, GID {gid_index} {gid} ({gid_type})]"},
    Row{"pd", "protection domain {handle}"},
    Row{"cq", "completion queue, {entries} entries[ ({asked} asked for)]"},
    Row{"mr", "memory {va:x} + {len} B  lkey {lkey:8} rkey {rkey:8}  {access}"},
    Row{"qp", "queue pair {qpn:6} {type}[, {max_send_wr} send and {max_recv_wr} receive requests]"},
    Row{"psn", "QP {qpn:6} sends from PSN {psn:6} on (source: {source})"},
    Row{"qp_state",
        "QP {qpn:6} is {state}[, to QP {dest_qpn:6}][  send PSN {sq_psn:6}]"
        "[  receive PSN {rq_psn:6}][  path MTU {path_mtu}][  GID index {gid_index}]"
        "[  timeout {timeout}, retries {retry_cnt}, RNR retries {rnr_retry}]"
        "[  Q_Key {q_key:8}]"},
    Row{"qp_attr",
        "QP {qpn:6} {state}: port {port}, rights {access}; to QP {dest_qpn:6}, path MTU "
        "{path_mtu}, "
        "GID index {gid_index}; receive PSN {rq_psn:6}, RNR timer {min_rnr_timer}; send PSN "
        "{sq_psn:6}, timeout {timeout}, retries {retry_cnt}, RNR retries {rnr_retry}"},
    Row{"rd_atomic",
        "QP {qpn:6} READs and atomics in flight: {max_rd_atomic} of its own, "
        "{max_dest_rd_atomic} of the peer  rights {access}"},
    Row{"atomics",
        "{device}: atomic_cap {atomic_cap}; READs and atomics in flight on a queue pair: "
        "{max_qp_init_rd_atom} of its own, {max_qp_rd_atom} of the peer"},
    Row{"transition", "{end}: {from} to {to}: {result}[  ({why})]"},
    Row{"cm_event", "{type}[ from {peer}][: {reason}]"},
    Row{"exchange",
        "{direction} in {channel}:[ QP {qpn:6}][ PSN {psn:6}]"
        "[ memory {va:x} + {len} B][ rkey {rkey:8}]"},
    Row{"tls_secret", "{line:w}"},
    Row{"post_send",
        "wr {wr_id} {opcode} {len} B[ → {remote_va:x} rkey {rkey:8}][ imm {imm:8}]"
        "[ → QP {dest_qpn:6} Q_Key {q_key:8}][ → SRQ {srqn:6}]"
        "[ add {add}][ compare {compare} swap {swap}]"
        "[  PSN {psn_first:6} to {psn_last:6}]"
        "[  PSN secret + {psn_offset_first} to + {psn_offset_last}]"},
    Row{"atomic", "wr {wr_id} found {original}[: {result}]"},
    Row{"post_recv", "wr {wr_id} {len} B"},
    Row{"wc",
        "wr {wr_id} {status}[ {opcode}][ {byte_len} B][ imm {imm:8}][ vendor error {vendor_err}]"},
    Row{"forgery",
        "({name}) {packet}: {responder}; memory {memory}; QP {state}[; stopped by {stopped_by}]"},
    Row{"probe", "{what}, PSN {offset}: {outcome}"},
    Row{"window",
        "{what}: {size} of 16777216 PSNs accepted, {lowest} to {highest}, {probes} tried"},
    Row{"guesses",
        "{packets} WRITEs with guessed PSNs: {received} received, {per_second} a second; memory "
        "{memory}; QP {state}"},
    Row{"numbers", "{what} one after the other: {values}: {pattern}"},
    Row{"waiting",
        "{way}: {pings} WRITEs, p50 {p50_us} µs, p99 {p99_us} µs, {cpu_us} µs of processor time "
        "each, {sleeps} sleeps; {idle_cpu_us} µs of it in {idle_ms} ms without work"},
    Row{"wake_up", "{order}: {outcome}"},
    Row{"signalling",
        "one in {every}: {writes} WRITEs, {completions} completions, {cpu_us} µs of processor "
        "time each"},
    Row{"send_queue",
        "[{slots} slots ({asked} asked for)][a list of {list}: {taken} taken, then {error}]"
        "[after {polled} completions one more: {later}]"},
    Row{"inline", "[{what}: ][the peer has {arrived}][{error}][{got} B ({asked} asked for)]"},
    Row{"async", "{type}"},
    Row{"overrun",
        "{queue} queue of {entries}: {requests} requests, {events} CQ_ERR, {polled} completions, "
        "{lost} lost; QP {state}[; the next one: {next}]"},
    Row{"credits",
        "{way}, RNR timer {rnr_timer}: {messages} messages for {receives} receives took {took_us} "
        "µs[, {rnr_naks} RNR NAKs], {credit_messages} messages of credits"},
    Row{"arrived", "{transport}: {arrived} of {messages} messages[; missing: {missing}]"},
    Row{"transport",
        "{transport}: {messages} messages of {len} B, {successes} SUCCESS, {arrived} "
        "arrived[; packets: {packets_out} out][, {packets_come} came][, {packets_back} back]"},
    Row{"datagram",
        "number {number} in QP {qpn:6} from QP {src_qp:6}, {byte_len} B[; GRH 0x{grh}]"},
    Row{"q_key", "datagrams with another Q_Key, as the port counts them: {violations}"},
    Row{"fate", "{what}: {status}, {arrived}"},
    Row{"group", "QP {qpn:6} {what} {gid}"},
    Row{"taken", "receive {wr_id} by QP {qpn:6} for message {number}"},
    Row{"srq",
        "shared receive queue[ {srqn:6}]: [{queue_pairs} queue pairs, ][{receives} receives, ]"
        "limit {limit}"},
    Row{"memory", "{va:x}: {used} of {len} B in use, CRC-32 {crc32:8}, \"{begins}…\""},
    Row{"words", "counter {counter}, maximum {maximum}"},
    Row{"worker", "rank {rank} of {workers}, QP {qpn:6}: samples {first} to {last}"},
    Row{"pull", "rank {rank}: version {before} before the weights, {after} after: {verdict}"},
    Row{"torn", "rank {rank} has seen {old} of {weights} weights old and {new} new"},
    Row{"gradient", "rank {rank}, step {step}, {byte_len} B[; {asks}]"},
    Row{"training", "step {step}: loss {loss}, the weights are at version {version}"},
    Row{"rank", "rank {rank} of {ranks}[, QP {qpn:6} to rank 0]"},
    Row{"record",
        "rank {rank} on {host}, pid {pid}: GID {gid}, memory {va:x} rkey {rkey:8}; queue pairs and "
        "PSNs out {out}, in {in}"},
    Row{"table", "rank {rank} has the table of {ranks} ranks, CRC-32 {crc32:8}"},
    Row{"late", "rank {rank} is {late_ms} ms late {where}"},
    Row{"enter", "rank {rank} enters barrier {barrier}, ticket {ticket:8}"},
    Row{"leave", "rank {rank} leaves barrier {barrier} after {waited_us} µs, tickets {tickets}"},
    Row{"ring", "the first WRITE of rank {rank} to rank {to} took {took_us} µs"},
    Row{"barriers", "rank {rank}: {barriers} barriers, {kind}, took {mean_us} µs each"},
    Row{"batch",
        "client {client}, batch {batch} in slot {slot}, of {requests}: answered after {took_us} "
        "µs, "
        "its oldest request after {oldest_us} µs"},
    Row{"served",
        "client {client}, batch {batch}, of {requests}: waited {waited_us} µs, took {took_us} µs; "
        "{behind} behind it"},
    Row{"serving",
        "batches of {batch}, {depth} slots, wait {wait_us} µs, rate {rate}, {clients} here: "
        "{requests} requests in {batches} batches, {elapsed_us} µs; a second {requests_per_s} "
        "requests, {batches_per_s} batches; p50 and p99 of a batch {batch_p50_us} and "
        "{batch_p99_us} µs, of a request {request_p50_us} and {request_p99_us} µs"},
    Row{"check", "{verdict}: {what}[  → {fix}]"},
    Row{"bottleneck",
        "window {window} (at most {largest}): {mbit_per_s} Mbit/s; {sent} packets sent for "
        "{packets}, "
        "{naks} NAKs; an answer took {p50_us} µs, the longest {longest_us} µs"},
    Row{"drop", by_link_emulator},
    Row{"duplicate", by_link_emulator},
    Row{"delay", by_link_emulator},
    Row{"reorder", by_link_emulator},
    Row{"corrupt", by_link_emulator},
    Row{"set", by_link_emulator},
    Row{"mark", by_link_emulator},
    Row{"cut", by_link_emulator},
    Row{"limit", by_link_emulator},
    Row{"client",
        "client {client} from {peer}: {state}[, QP {qpn:6} to QP {dest_qpn:6}]"
        "[, send PSN {sq_psn:6}][, {sends} SENDs of {send_bytes} B]"},
    Row{"clients", "{done} of {clients} clients {what}[ in {took_ms} ms]"},
    Row{"lost", "[client {client}, ]{peer}: {loss}: {text}"},
    Row{"setup",
        "{clients} clients[; µs of p50 and p99: TCP {tcp_p50_us} {tcp_p99_us}]"
        "[, TLS {tls_p50_us} {tls_p99_us}][, exchange {exchange_p50_us} {exchange_p99_us}]"
        "[, QP {qp_p50_us} {qp_p99_us}]"},
    Row{"stats",
        "{clients} clients (most {most}, in all {total}), {refused} refused, {lost} lost (closed "
        "{lost_closed}, late {lost_late}, tls {lost_tls}, protocol {lost_protocol}, failed "
        "{lost_failed}); {sends} SENDs {send_bytes} B, {errors} errors; told: {told_writes} WRITEs "
        "{told_write_bytes} B, {told_reads} READs {told_read_bytes} B; {memory} B resident"
        "[, {memory_a_client} a client]"},
    Row{"registration",
        "{len} B {memory}, pages of {page_size} B: {reg_p50_ns} ns, {reg_page_ns} a page; dereg. "
        "{dereg_p50_ns} ns"},
    Row{"memlock", "{registered} registrations of the same {len} B, then: {text}"},
    Row{"mr_cache",
        "{buffers} buffers of {len} B, room for {room} B: {hits} of {accesses} uses hit "
        "({hit_percent} %); {cached_ns} ns, without {each_ns} ns"},
    Row{"remapped", "cache {cache} of munmap: WRITE {status}, the memory is {memory}"},
    Row{"mw", "type {type}: {what}: {status}"},
    Row{"mw_cost", "a window of {len} B: bound in {bind_p50_ns} ns, registered in {reg_p50_ns} ns"},
    Row{"progress", "{transport}: {bytes} B after {elapsed_us} µs"},
    Row{"bulk",
        "{transport}: {len} B in {elapsed_us} µs, {mib_per_s} MiB/s; CRC-32 {crc32:8}, the bytes "
        "are {bytes}"},
    Row{"transfer",
        "{len} B in {packets} packets: {sent} sent, {again} of them again; {naks} NAKs, {retries} "
        "retries; {elapsed_us} µs, {mib_per_s} MiB/s; the bytes are {bytes}"},
    Row{"silence",
        "timeout {ack_timeout}, retries {retry_cnt}: {status} after {took_us} µs, {sent} packets "
        "sent; the next one: {next}"},
    Row{"process", "{comm}: {command}"},
    Row{"process_end", "process {pid} has ended"},
    Row{"failed", "{call}: {error}[  QP {qpn:6}][  wr {wr_id}][  {from} to {to}]"},
    Row{"dropped", "{records} events are missing before this one"},
    Row{"cm_call",
        "{call}[  QP {qpn:6}][  from {address}][  to {peer}][  retries {retry_cnt}, RNR retries "
        "{rnr_retry}][  {private_data_len} B of private data]"},
    Row{"comp_channel", "completion channel, descriptor {fd}"},
    Row{"req_notify", "completion queue {cq} armed[  (solicited only: {solicited_only})]"},
    Row{"cq_event", "completion queue {cq} has signalled its channel"},
    Row{"srq_made", "shared receive queue {srq}, {max_wr} requests"},
    Row{"srq_modified", "shared receive queue {srq}[  {max_wr} requests][  limit {limit}]"},
    Row{"xrcd", "XRC domain {address:x}"},
    Row{"ah",
        "address handle {address:x}[  to {dest_gid}][  GID index {gid_index}][  of a message from "
        "QP {src_qp:6}]"},
    Row{"mw_made", "memory window of type {type}  rkey {rkey:8}"},
    Row{"bind_mw",
        "wr {wr_id} binds rkey {rkey:8} to memory {va:x} + {len} B  {access}  QP {qpn:6}"},
    Row{"destroyed",
        "{what}[ {qpn:6}  outstanding: {sends_outstanding} of {sends_posted} sends, "
        "{receives_outstanding} of {receives_posted} receives][ {cq}][ {srq}][ {handle}]"
        "[, descriptor {fd}][ {va:x} + {len} B][  lkey {lkey:8}][  rkey {rkey:8}][ {address:x}]"
        "[ {device}]"},
    Row{"note", "{text}"},
    Row{"error", "{text}"},
};

std::string render(const Value& value, char form) {
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

// Renders `pattern` (without brackets); false where one of its fields is missing.
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

}  // namespace

std::string to_text(const Event& event) {
    std::string out = fmt::format("{:<9} ", util::printable(event.name));
    for (const Row& row : rows)
        if (row.event == event.name)
            return out + from_pattern(event, row.pattern);
    for (const Field& field : event.fields)  // an event of a later version: all it says, plainly
        out += fmt::format(" {}={}", util::printable(field.key), render(field.value, 0));
    return out;
}

}  // namespace runlog
