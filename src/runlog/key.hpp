// The keys of events' fields. A misspelt key does not compile, nor does a value of another type.
//
// Where two kinds of value have the same key in the log, its names here differ: `type` is a queue
// pair's, `cm_type` a connection event's.
#pragma once

#include <cstdint>
#include <string_view>

namespace runlog {

/// How a traced process writes the value. In the log, all after `list` are text.
enum class Type : std::uint8_t {
    number,    // 8 bytes, unsigned
    negative,  // 8 bytes, signed
    truth,     // 8 bytes
    text,      // 2 bytes of length, then the bytes
    error,     // 8 bytes: errno
    qp_state,  // 8 bytes, like all that follow: an enumerator of libibverbs or librdmacm
    qp_type,
    access,
    async_event,
    cm_event,
    port_state,
    gid_type,
    gid,         // 16 bytes
    address,     // 2 bytes of length, then a sockaddr
    sges,        // 2 bytes of length, then Sge records
    send_flags,  // 8 bytes: ibv_send_flags
    opcode,      // 8 bytes: ibv_wr_opcode
};

struct Key {
    std::string_view name;
    Type type;
};
/// Up to 64 bits.
struct NumberKey : Key {
    explicit constexpr NumberKey(std::string_view called) : Key{called, Type::number} {}
};
/// Up to 32 bits. A PSN may be hidden: it is then a text.
struct Number32Key : NumberKey {
    using NumberKey::NumberKey;
};
struct SignedKey : Key {
    explicit constexpr SignedKey(std::string_view called) : Key{called, Type::negative} {}
};
struct TruthKey : Key {
    explicit constexpr TruthKey(std::string_view called) : Key{called, Type::truth} {}
};
struct SgesKey : Key {
    explicit constexpr SgesKey(std::string_view called) : Key{called, Type::sges} {}
};
struct TextKey : Key {
    explicit constexpr TextKey(std::string_view called, Type as = Type::text) : Key{called, as} {}
};
/// The name of an enumerator, which a traced process writes as a number.
struct EnumKey : TextKey {
    constexpr EnumKey(std::string_view called, Type as) : TextKey(called, as) {}
};
struct GidKey : TextKey {
    explicit constexpr GidKey(std::string_view called) : TextKey(called, Type::gid) {}
};
struct AddressKey : TextKey {
    explicit constexpr AddressKey(std::string_view called) : TextKey(called, Type::address) {}
};

namespace key {

// Every event of rocetrace.
inline constexpr NumberKey pid{"pid"}, tid{"tid"};
inline constexpr NumberKey took_us{"took_us"}, waited_us{"waited_us"};

// Queue pairs, their attributes, and packets.
inline constexpr Number32Key qpn{"qpn"}, dest_qpn{"dest_qpn"}, srqn{"srqn"}, src_qp{"src_qp"};
inline constexpr Number32Key psn{"psn"}, sq_psn{"sq_psn"}, rq_psn{"rq_psn"}, q_key{"q_key"};
inline constexpr EnumKey type{"type", Type::qp_type};
inline constexpr EnumKey state{"state", Type::qp_state};
inline constexpr EnumKey from{"from", Type::qp_state}, to{"to", Type::qp_state};
inline constexpr NumberKey max_send_wr{"max_send_wr"}, max_recv_wr{"max_recv_wr"};
inline constexpr NumberKey max_send_sge{"max_send_sge"}, max_recv_sge{"max_recv_sge"};
inline constexpr NumberKey max_inline_data{"max_inline_data"}, mask{"mask"};
inline constexpr NumberKey timeout{"timeout"}, retry_cnt{"retry_cnt"}, rnr_retry{"rnr_retry"};
inline constexpr NumberKey min_rnr_timer{"min_rnr_timer"}, max_rd_atomic{"max_rd_atomic"};
inline constexpr NumberKey max_dest_rd_atomic{"max_dest_rd_atomic"}, path_mtu{"path_mtu"};
inline constexpr TruthKey signals_all{"signals_all"};
inline constexpr TextKey source{"source"};

// Other objects: their handles, and what they hold.
inline constexpr NumberKey cq{"cq"}, send_cq{"send_cq"}, recv_cq{"recv_cq"}, srq{"srq"}, pd{"pd"};
inline constexpr NumberKey handle{"handle"}, fd{"fd"}, object{"address"};
inline constexpr NumberKey entries{"entries"}, asked{"asked"}, max_wr{"max_wr"}, limit{"limit"};
inline constexpr TruthKey solicited_only{"solicited_only"};
inline constexpr NumberKey sends_posted{"sends_posted"}, sends_outstanding{"sends_outstanding"};
inline constexpr NumberKey receives_posted{"receives_posted"}, forgotten{"forgotten"};
inline constexpr NumberKey receives_outstanding{"receives_outstanding"};

// Devices.
inline constexpr TextKey device{"device"}, netdev{"netdev"};
inline constexpr NumberKey port{"port"}, gid_index{"gid_index"};
inline constexpr EnumKey port_state{"state", Type::port_state};
inline constexpr EnumKey gid_type{"gid_type", Type::gid_type};
inline constexpr GidKey gid{"gid"}, dest_gid{"dest_gid"};
// Their limits, as ibv_query_device() names them.
inline constexpr NumberKey max_qp_wr{"max_qp_wr"}, max_sge{"max_sge"}, max_cqe{"max_cqe"};
inline constexpr NumberKey max_mr_size{"max_mr_size"}, max_qp_rd_atom{"max_qp_rd_atom"};
inline constexpr NumberKey max_qp_init_rd_atom{"max_qp_init_rd_atom"};

// Memory.
inline constexpr NumberKey va{"va"}, len{"len"}, memory{"memory"}, used{"used"}, crc32{"crc32"};
inline constexpr Number32Key lkey{"lkey"}, rkey{"rkey"};
inline constexpr EnumKey access{"access", Type::access};
inline constexpr NumberKey window_type{"type"};
inline constexpr TextKey begins{"begins"};

// Work requests and completions.
inline constexpr NumberKey wr_id{"wr_id"}, request{"request"}, remote_va{"remote_va"}, ah{"ah"};
inline constexpr NumberKey add{"add"}, compare{"compare"}, swap{"swap"}, byte_len{"byte_len"};
inline constexpr Number32Key imm{"imm"}, invalidates{"invalidates"}, vendor_err{"vendor_err"};
inline constexpr Number32Key psn_first{"psn_first"}, psn_last{"psn_last"};
inline constexpr Number32Key psn_offset_first{"psn_offset_first"};
inline constexpr Number32Key psn_offset_last{"psn_offset_last"};
inline constexpr EnumKey opcode{"opcode", Type::opcode};
inline constexpr EnumKey send_flags{"send_flags", Type::send_flags};
inline constexpr TruthKey signaled{"signaled"}, unfinished{"unfinished"};
inline constexpr SgesKey sges{"sges"};
inline constexpr NumberKey more_sges{"more_sges"}, requests{"requests"};
inline constexpr TextKey status{"status"}, queue{"queue"};

// Calls, and connections of librdmacm.
inline constexpr TextKey call{"call"};
inline constexpr EnumKey error{"error", Type::error};
inline constexpr NumberKey id{"id"}, port_space{"port_space"};
inline constexpr NumberKey private_data_len{"private_data_len"};
inline constexpr NumberKey responder_resources{"responder_resources"};
inline constexpr NumberKey initiator_depth{"initiator_depth"}, backlog{"backlog"};
inline constexpr NumberKey iteration{"iteration"};
inline constexpr AddressKey address{"address"}, peer{"peer"}, local{"source"};
inline constexpr EnumKey cm_type{"type", Type::cm_event};
inline constexpr EnumKey async_type{"type", Type::async_event};
inline constexpr SignedKey cm_status{"status"};
inline constexpr TextKey reason{"reason"}, step{"step"}, icrc{"icrc"};

// Programs.
inline constexpr TextKey text{"text"}, what{"what"}, verdict{"verdict"}, fix{"fix"}, line{"line"};
inline constexpr TextKey direction{"direction"}, channel{"channel"};
inline constexpr TextKey comm{"comm"}, command{"command"};
inline constexpr NumberKey records{"records"}, exit_status{"exit_status"}, signal{"signal"};

// The link emulator.
inline constexpr NumberKey rule{"rule"}, frame{"frame"}, copy{"copy"};
inline constexpr TextKey detail{"detail"}, opcode_name{"opcode_name"};

// Lessons.
inline constexpr TextKey end{"end"}, result{"result"}, why{"why"};
inline constexpr NumberKey client{"client"};
inline constexpr NumberKey rank{"rank"}, ranks{"ranks"}, count{"count"}, chunks{"chunks"};
inline constexpr NumberKey bytes{"bytes"};

}  // namespace key
}  // namespace runlog
