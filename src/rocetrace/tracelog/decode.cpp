#include "rocetrace/tracelog/decode.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "rocetrace/tracelog/names.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace tracelog {
namespace {

using runlog::Event;
using runlog::Fields;

template <typename Record>
std::optional<Record> as(std::span<const std::byte> bytes, std::size_t least = sizeof(Record)) {
    if (bytes.size() < least)
        return std::nullopt;
    Record record{};
    std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
    return record;
}

// Reads what EventWriter wrote, up to a length that exceeds the record.
class Cursor {
  public:
    explicit Cursor(std::span<const std::byte> bytes) : rest_(bytes) {}

    bool has_more() const { return !rest_.empty() && whole_; }
    bool is_whole() const { return whole_; }

    template <typename T>
    T take() {
        T value{};
        const auto bytes = take_bytes(sizeof value);
        if (bytes.size() == sizeof value)
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string take_short() { return text(take_bytes(take<std::uint8_t>())); }
    std::string take_text() { return text(take_bytes(take<std::uint16_t>())); }
    std::span<const std::byte> take_long() { return take_bytes(take<std::uint16_t>()); }
    std::span<const std::byte> take_bytes(std::size_t count) {
        if (count > rest_.size()) {
            whole_ = false;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }

  private:
    static std::string text(std::span<const std::byte> bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    std::span<const std::byte> rest_;
    bool whole_ = true;
};

runlog::Value enumerator(Type type, std::uint64_t number) {
    switch (type) {
        case Type::qp_state:
            return std::string(rdma::name_of(static_cast<ibv_qp_state>(number)));
        case Type::qp_type:
            return std::string(rdma::name_of(static_cast<ibv_qp_type>(number)));
        case Type::access:
            return rdma::access_names(static_cast<unsigned>(number));
        case Type::async_event:
            return std::string(rdma::name_of(static_cast<ibv_event_type>(number)));
        case Type::port_state:
            return std::string(rdma::name_of(static_cast<ibv_port_state>(number)));
        case Type::gid_type:
            // These values are the same in ibv_gid_type_sysfs and ibv_gid_type.
            return std::string(rdma::name_of(static_cast<ibv_gid_type>(number)));
        case Type::cm_event:
            return std::string(cm_event_name(static_cast<unsigned>(number)));
        case Type::error:
            return error_name(static_cast<int>(static_cast<std::int64_t>(number)));
        default:
            return number;
    }
}

std::string gid_text(std::span<const std::byte> gid) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (gid.size() != 16 || inet_ntop(AF_INET6, gid.data(), text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

void take_field(Cursor& cursor, Fields& fields) {
    const std::string key = cursor.take_short();
    const auto type = cursor.take<Type>();
    switch (type) {
        case Type::text:
            fields.emplace_back(key, cursor.take_text());
            break;
        case Type::gid:
            fields.emplace_back(key, gid_text(cursor.take_bytes(16)));
            break;
        case Type::address:
            fields.emplace_back(key, address_text(cursor.take_long()));
            break;
        case Type::negative:
            fields.emplace_back(key, cursor.take<std::int64_t>());
            break;
        case Type::truth:
            fields.emplace_back(key, cursor.take<std::uint64_t>() != 0);
            break;
        default:
            fields.emplace_back(key, enumerator(type, cursor.take<std::uint64_t>()));
    }
}

std::optional<Event> decode_event(std::span<const std::byte> bytes) {
    const auto header = as<Header>(bytes);
    if (!header || header->flags > bytes.size() - sizeof(Header))
        return std::nullopt;
    Cursor cursor(bytes.subspan(sizeof(Header), bytes.size() - sizeof(Header) - header->flags));
    Event event;
    event.name = cursor.take_short();
    while (cursor.has_more())
        take_field(cursor, event.fields);
    if (!cursor.is_whole())
        return std::nullopt;
    return event;
}

Event decode_send(const PostSend& record) {
    const std::uint32_t opcode = record.opcode;
    const bool is_ud = (record.header.flags & PostSend::is_ud) != 0;
    Fields fields{{"qpn", record.qpn},
                  {"wr_id", record.wr_id},
                  {"opcode", opcode_name(opcode)},
                  {"len", record.len}};
    if (is_one_sided(opcode) || is_atomic(opcode)) {
        fields.emplace_back("remote_va", record.remote_va);
        fields.emplace_back("rkey", record.rkey);
    }
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        fields.emplace_back("add", record.compare_add);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        fields.emplace_back("compare", record.compare_add);
        fields.emplace_back("swap", record.swap);
    }
    if (is_ud) {
        fields.emplace_back("dest_qpn", static_cast<std::uint32_t>(record.remote_va >> 32U));
        fields.emplace_back("q_key", static_cast<std::uint32_t>(record.remote_va));
        fields.emplace_back("ah", record.compare_add);
    }
    if ((record.header.flags & PostSend::is_xrc) != 0)
        fields.emplace_back("srqn", record.srqn);
    if (has_immediate(opcode))
        fields.emplace_back("imm", record.imm);
    if (invalidates(opcode))
        fields.emplace_back("invalidates", record.imm);
    if ((record.header.flags & PostSend::has_psns) != 0) {
        fields.emplace_back("psn_first", record.psn_first);
        fields.emplace_back("psn_last", record.psn_last);
    }
    fields.emplace_back("request", record.request);
    fields.emplace_back("signaled", (record.header.flags & PostSend::is_signaled) != 0);
    return {0, {}, "post_send", std::move(fields)};
}

Event decode_recv(const PostRecv& record) {
    const bool is_srq = (record.header.flags & PostRecv::is_srq) != 0;
    return {0,
            {},
            "post_recv",
            {{is_srq ? "srq" : "qpn", record.queue}, {"wr_id", record.wr_id}, {"len", record.len}}};
}

Event decode_wc(const Wc& record) {
    const auto status = static_cast<ibv_wc_status>(record.status);
    const unsigned opcode = record.opcode;
    Fields fields{{"qpn", record.qpn}, {"wr_id", record.wr_id}, {"status", rdma::name_of(status)}};
    // After an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if (status != IBV_WC_SUCCESS) {
        fields.emplace_back("vendor_err", record.vendor_err);
    } else {
        fields.emplace_back("opcode", rdma::name_of(static_cast<ibv_wc_opcode>(opcode)));
        if ((record.header.flags & Wc::has_byte_len) != 0)
            fields.emplace_back("byte_len", record.byte_len);
        if ((opcode & IBV_WC_RECV) != 0 && (record.wc_flags & IBV_WC_WITH_IMM) != 0)
            fields.emplace_back("imm", record.imm);
    }
    fields.emplace_back("queue", (record.header.flags & Wc::is_recv) != 0 ? "recv" : "send");
    if ((record.header.flags & Wc::has_request) != 0)
        fields.emplace_back("request", record.request);
    return {0, {}, "wc", std::move(fields)};
}

template <typename Record>
std::optional<Event> decoded(std::span<const std::byte> bytes, Event (*decode)(const Record&),
                             std::size_t least = sizeof(Record)) {
    const auto record = as<Record>(bytes, least);
    return record ? std::optional(decode(*record)) : std::nullopt;
}

}  // namespace

std::optional<Event> decode(std::span<const std::byte> record, const std::string& role,
                            const Writer& writer) {
    const auto header = as<Header>(record);
    if (!header)
        return std::nullopt;
    std::optional<Event> event;
    switch (header->kind) {
        case Kind::post_send:
            event = decoded<PostSend>(record, decode_send, PostSend::short_size);
            break;
        case Kind::post_recv:
            event = decoded<PostRecv>(record, decode_recv);
            break;
        case Kind::wc:
            event = decoded<Wc>(record, decode_wc);
            break;
        case Kind::event:
            event = decode_event(record);
            break;
        default:
            break;
    }
    if (!event)
        return std::nullopt;
    event->t_ns = header->t_ns;
    event->role = role;
    event->fields.emplace_back("pid", writer.pid);
    event->fields.emplace_back("tid", writer.tid);
    return event;
}

}  // namespace tracelog
