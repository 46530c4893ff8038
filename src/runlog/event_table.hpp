// The events that a run log may have: which fields each has, and its text (text_row.hpp has the
// form of the patterns). docs/run-log.md says when it is written; a test compares the two.
//
// Lessons have more events, each in its file `events`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "runlog/key.hpp"

namespace runlog {

/// The categories of `rocetrace --only`, one bit each.
enum class Category : std::uint32_t {
    none = 0,  // not a traced call
    device = 1U << 0,
    pd = 1U << 1,
    mr = 1U << 2,
    cq = 1U << 3,
    srq = 1U << 4,
    qp = 1U << 5,
    ah = 1U << 6,
    cm = 1U << 7,
    send = 1U << 8,
    recv = 1U << 9,
    wc = 1U << 10,
    event = 1U << 11,
    always = 1U << 31,
};

/// The keys of an event. An event of rocetrace also has `pid`, `tid`, and `took_us` or `waited_us`.
class KeyList {
  public:
    template <typename... Keys>
    explicit(false) constexpr KeyList(const Keys&... keys)
        : keys_{&keys...}, size_(sizeof...(keys)) {}

    constexpr std::span<const Key* const> all() const { return std::span(keys_).first(size_); }
    constexpr bool has(const Key& key) const {
        return std::ranges::any_of(
            all(), [&](const Key* own) { return own->name == key.name && own->type == key.type; });
    }
    constexpr bool has(std::string_view name) const {
        return std::ranges::any_of(all(), [&](const Key* own) { return own->name == name; });
    }

  private:
    std::array<const Key*, 40> keys_{};
    std::size_t size_;
};

struct EventRow {
    std::string_view name;
    KeyList keys;
    std::string_view text{};  // empty: in the lesson's file `events`
    Category category = Category::none;
};

namespace table {

consteval auto make_rows() {
    using namespace key;
    const KeyList of_link(rule, text, from, to, frame, copy, detail, opcode_name, dest_qpn, psn);
    constexpr std::string_view text_of_link =
        "[{opcode_name} PSN {psn:6} to QP {dest_qpn:6} ]of the {from}, by rule {rule}"
        "[, copy {copy}][: {detail}]";
    return std::to_array<EventRow>({
        // Programs
        {"note", {text}, "{text}"},
        {"error", {text}, "{text}"},
        {"check", {verdict, what, fix}, "{verdict}: {what}[  → {fix}]"},
        {"ready", {address, port}, "listening on {address} port {port}"},
        {"tls_secret", {line}, "{line:w}"},
        {"psn", {qpn, psn, source}, "QP {qpn:6} sends from PSN {psn:6} on (source: {source})"},
        {"exchange",
         {direction, channel, qpn, psn, path_mtu, va, len, rkey},
         "{direction} in {channel}:[ QP {qpn:6}][ PSN {psn:6}][ memory {va:x} + {len} B]"
         "[ rkey {rkey:8}]"},
        {"memory",
         {va, len, used, crc32, begins},
         "{va:x}: {used} of {len} B in use, CRC-32 {crc32:8}, \"{begins}…\""},

        {"joined",
         {rank, ranks, count, chunks, bytes},
         "rank {rank} of {ranks}: {count} numbers in {chunks} chunks of {bytes} B"},
        {"collective", {iteration}, "iteration {iteration}: begins"},
        {"collective_end", {iteration}, "iteration {iteration}: all ranks have done their part"},

        // Objects
        {"device",
         {device, port, port_state, path_mtu, netdev, gid_index, gid, gid_type, max_qp_wr, max_sge,
          max_cqe, max_mr_size, max_qp_rd_atom, max_qp_init_rd_atom},
         "{device}[ port {port} {state}][, path MTU {path_mtu}][, netdev {netdev}]"
         "[, GID {gid_index} {gid} ({gid_type})]",
         Category::device},
        {"pd", {handle}, "protection domain {handle}", Category::pd},
        {"xrcd", {object}, "XRC domain {address:x}", Category::pd},
        {"mr",
         {va, len, lkey, rkey, access, memory, handle, pd, call},
         "memory {va:x} + {len} B  lkey {lkey:8} rkey {rkey:8}  {access}",
         Category::mr},
        {"mw_made",
         {window_type, rkey},
         "memory window of type {type}  rkey {rkey:8}",
         Category::mr},
        {"cq",
         {cq, entries, asked},
         "completion queue, {entries} entries[ ({asked} requested)]",
         Category::cq},
        {"comp_channel", {fd}, "completion channel, descriptor {fd}", Category::cq},
        {"srq_made", {srq, max_wr}, "shared receive queue {srq}, {max_wr} requests", Category::srq},
        {"srq_modified",
         {srq, limit, max_wr},
         "shared receive queue {srq}[  {max_wr} requests][  limit {limit}]",
         Category::srq},
        {"qp",
         {qpn, type, max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data, send_cq,
          recv_cq, srq, pd, signals_all},
         "queue pair {qpn:6} {type}[, {max_send_wr} send and {max_recv_wr} receive requests]",
         Category::qp},
        {"qp_state",
         {qpn, state, dest_qpn, sq_psn, rq_psn, path_mtu, gid_index, dest_gid, timeout, retry_cnt,
          rnr_retry, min_rnr_timer, max_rd_atomic, q_key, access, max_dest_rd_atomic},
         "QP {qpn:6} is {state}[, to QP {dest_qpn:6}][  send PSN {sq_psn:6}]"
         "[  receive PSN {rq_psn:6}][  path MTU {path_mtu}][  GID index {gid_index}]"
         "[  timeout {timeout}, retries {retry_cnt}, RNR retries {rnr_retry}][  Q_Key {q_key:8}]",
         Category::qp},
        {"ah",
         {object, port, gid_index, dest_gid, src_qp},
         "address handle {address:x}[  to {dest_gid}][  GID index {gid_index}]"
         "[  of a message from QP {src_qp:6}]",
         Category::ah},
        {"group", {qpn, what, gid}, "QP {qpn:6} {what} {gid}", Category::ah},
        {"destroyed",
         {what, qpn, sends_posted, sends_outstanding, receives_posted, receives_outstanding,
          forgotten, cq, srq, handle, fd, va, len, lkey, rkey, object, device},
         "{what}[ {qpn:6}  outstanding: {sends_outstanding} of {sends_posted} sends, "
         "{receives_outstanding} of {receives_posted} receives][ {cq}][ {srq}][ {handle}]"
         "[, descriptor {fd}][ {va:x} + {len} B][  lkey {lkey:8}][  rkey {rkey:8}][ {address:x}]"
         "[ {device}]",
         Category::always},

        // Requests and completions
        {"post_send",
         KeyList(qpn, wr_id, opcode, len, remote_va, rkey, add, compare, swap, dest_qpn, q_key, ah,
                 srqn, imm, invalidates, psn_first, psn_last, psn_offset_first, psn_offset_last,
                 request, signaled, send_flags, sges, more_sges, unfinished),
         "wr {wr_id} {opcode} {len} B[ → {remote_va:x} rkey {rkey:8}][ imm {imm:8}]"
         "[ → QP {dest_qpn:6} Q_Key {q_key:8}][ → SRQ {srqn:6}][ add {add}]"
         "[ compare {compare} swap {swap}][  PSN {psn_first:6} to {psn_last:6}]"
         "[  PSN secret + {psn_offset_first} to + {psn_offset_last}]",
         Category::send},
        {"post_recv",
         {qpn, srq, wr_id, len, sges, more_sges, unfinished},
         "wr {wr_id} {len} B",
         Category::recv},
        {"bind_mw",
         {qpn, wr_id, rkey, va, len, access, request, signaled},
         "wr {wr_id} binds rkey {rkey:8} to memory {va:x} + {len} B  {access}  QP {qpn:6}",
         Category::mr},
        {"wc",
         {qpn, wr_id, status, opcode, byte_len, imm, vendor_err, queue, request},
         "wr {wr_id} {status}[ {opcode}][ {byte_len} B][ imm {imm:8}]"
         "[ vendor error {vendor_err}]",
         Category::wc},
        {"req_notify",
         {cq, solicited_only},
         "completion queue {cq} armed[  (solicited only: {solicited_only})]",
         Category::event},
        {"cq_event", {cq}, "completion queue {cq} has signalled its channel", Category::event},
        {"async", {async_type, qpn, cq, srq}, "{type}", Category::event},

        // librdmacm
        {"cm_event",
         {cm_type, cm_status, peer, reason, id, qpn},
         "{type}[ from {peer}][: {reason}]",
         Category::cm},
        {"cm_call",
         {call, id, qpn, port_space, address, local, peer, retry_cnt, rnr_retry, private_data_len,
          responder_resources, initiator_depth, backlog},
         "{call}[  QP {qpn:6}][  from {address}][  to {peer}][  retries {retry_cnt}, RNR retries "
         "{rnr_retry}][  {private_data_len} B of private data][  backlog {backlog}]",
         Category::cm},

        // Calls that have failed or not returned: also with the fields of their own event
        {"failed",
         KeyList(call, error, qpn, srq, wr_id, opcode, remote_va, rkey, send_flags, len, sges, from,
                 to, gid_index, mask, dest_gid, max_rd_atomic, max_dest_rd_atomic, type, more_sges,
                 va, access, peer, address, max_send_wr, max_recv_wr, max_send_sge, max_recv_sge,
                 max_inline_data, state, sends_outstanding, receives_outstanding, requests),
         "{call}: {error}[  QP {qpn:6}][  wr {wr_id}][  {from} to {to}][  GID index {gid_index} "
         "to {dest_gid}][  {opcode} {len} B][ → {remote_va:x} rkey {rkey:8}]"
         "[  memory {va:x} + {len} B][  {access}][  from {address}][  to {peer}]",
         Category::always},
        {"begun",
         {call, qpn, address, peer, va, len, what},
         "{call} has not returned[  QP {qpn:6}][  from {address}][  to {peer}]"
         "[  memory {va:x} + {len} B][  {what}]",
         Category::always},

        // rocetrace itself
        {"process", {pid, comm, command}, "{comm}: {command}"},
        {"process_end",
         {pid, exit_status, signal, end},
         "process {pid} has ended[ with status {exit_status}][ by signal {signal}][ by {end}]"},
        {"dropped", {records, pid, tid}, "{records} events are missing before this one"},
        {"damaged", {pid}, "the process has overwritten events: they are missing"},

        // The driver, by rocexray
        {"driver",
         {step, qpn, opcode_name, dest_qpn, psn, icrc, opcode, wr_id, status, records},
         "{step}[  {records} steps before this one][  {opcode_name} PSN {psn:6} to QP "
         "{dest_qpn:6}][, ICRC {icrc}][  {opcode}]"
         "[  wr {wr_id}][ {status}][  QP {qpn:6}]"},

        // The link emulator
        {"drop", of_link, text_of_link},
        {"duplicate", of_link, text_of_link},
        {"delay", of_link, text_of_link},
        {"reorder", of_link, text_of_link},
        {"corrupt", of_link, text_of_link},
        {"set", of_link, text_of_link},
        {"mark", of_link, text_of_link},
        {"cut", of_link, text_of_link},
        {"limit", of_link, text_of_link},

        // Of lessons, for rocecap: their text is in the lesson's file `events`
        {"qp_attr", {qpn, state, port, access, dest_qpn, path_mtu, sq_psn, rq_psn}},
        {"transition", {end, from, to, result, why}},
        {"client", {client, qpn, dest_qpn, state}},
        {"lost", {client}},
    });
}

void the_table_has_no_such_event();

}  // namespace table

inline constexpr auto event_rows = table::make_rows();

/// The row of this event, or nullptr.
constexpr const EventRow* row_of(std::string_view event) {
    const auto* const row = std::ranges::find(event_rows, event, &EventRow::name);
    return row == event_rows.end() ? nullptr : &*row;
}

/// The name of an event of the table: another one does not compile.
struct EventName {
    std::size_t index = 0;

    explicit(false) consteval EventName(const char* name) {
        const EventRow* const row = row_of(name);
        if (row == nullptr)
            table::the_table_has_no_such_event();
        else
            index = static_cast<std::size_t>(row - event_rows.data());
    }
    constexpr const EventRow& row() const { return event_rows[index]; }
};

}  // namespace runlog
