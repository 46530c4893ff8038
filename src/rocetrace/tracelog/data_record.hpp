// The fields of the records of the data path, for the events and the JSON that are made of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "rocetrace/tracelog/names.hpp"
#include "rocetrace/tracelog/record.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace tracelog {

namespace key = runlog::key;

/// Copies the record from its bytes; nullopt if they are too few.
template <typename Record>
std::optional<Record> as(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(Record))
        return std::nullopt;
    Record record{};
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
}

/// Copies the record of a post, and of its scatter/gather list what is there. nullopt: the bytes are
/// too few.
template <typename Post>
std::optional<Post> post_of(std::span<const std::byte> bytes, std::size_t least) {
    if (bytes.size() < least)
        return std::nullopt;
    Post post{};
    std::memcpy(&post, bytes.data(), least);
    const std::uint32_t fixed = post.fixed_size();
    const std::uint32_t entries = SgeList::recorded(post.header);
    if (bytes.size() < fixed + entries * sizeof(Sge))
        return std::nullopt;
    std::memcpy(&post, bytes.data(), fixed);
    std::memcpy(post.sges.entries, bytes.data() + fixed, entries * sizeof(Sge));
    return post;
}

/// The beginning of a member of a JSON object, so that JSON is written without composing it:
/// `,"qpn":`, and for a text `,"opcode":"`.
struct Member {
    std::string_view key;
    std::string_view json;
};

/// The members of an event's fields: `MembersOf<"wc">::member<key::qpn>`.
template <runlog::EventName event>
class MembersOf {
    template <const auto& key>
    static constexpr auto chars = [] {
        static_assert(event.row().keys.has(key), "the event has no such field");
        std::array<char, key.name.size() + 5> all{',', '"'};
        char* const end = std::ranges::copy(key.name, all.data() + 2).out;
        std::ranges::copy(std::string_view("\":\""), end);
        return all;
    }();
    static constexpr bool is_text(Type type) {
        return type != Type::number && type != Type::truth && type != Type::sges;
    }

  public:
    template <const auto& key>
    static constexpr Member member{
        key.name, {chars<key>.data(), chars<key>.size() - (is_text(key.type) ? 0 : 1)}};
};

template <typename Add>
void each_sge_field(const Header& header, const SgeList& list, Add add) {
    using Of = MembersOf<"post_send">;
    const std::uint32_t recorded = SgeList::recorded(header);
    const std::uint32_t all = SgeList::count(header);
    if (recorded != 0)
        add(Of::member<key::sges>, std::span(list.entries, recorded));
    if (all > recorded)
        add(Of::member<key::more_sges>, all - recorded);
}

/// Calls add(Member, value) for each field.
template <typename Add>
void each_field(const PostSend& record, Add add) {
    using Of = MembersOf<"post_send">;
    const std::uint32_t opcode = record.opcode;
    const auto has = [&](PostSend::Flag flag) { return (record.header.flags & flag) != 0; };
    add(Of::member<key::qpn>, record.qpn);
    add(Of::member<key::wr_id>, record.wr_id);
    add(Of::member<key::opcode>, opcode_name(opcode));
    add(Of::member<key::len>, record.len);
    if (is_one_sided(opcode) || is_atomic(opcode)) {
        add(Of::member<key::remote_va>, record.remote_va);
        add(Of::member<key::rkey>, record.rkey);
    }
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        add(Of::member<key::add>, record.compare_add);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        add(Of::member<key::compare>, record.compare_add);
        add(Of::member<key::swap>, record.swap);
    }
    if (has(PostSend::is_ud)) {
        add(Of::member<key::dest_qpn>, static_cast<std::uint32_t>(record.remote_va >> 32U));
        add(Of::member<key::q_key>, static_cast<std::uint32_t>(record.remote_va));
        add(Of::member<key::ah>, record.compare_add);
    }
    if (has(PostSend::is_xrc))
        add(Of::member<key::srqn>, record.srqn);
    if (has_immediate(opcode))
        add(Of::member<key::imm>, record.imm);
    if (invalidates(opcode))
        add(Of::member<key::invalidates>, record.imm);
    if (has(PostSend::has_psns)) {
        add(Of::member<key::psn_first>, record.psn_first);
        add(Of::member<key::psn_last>, record.psn_last);
    }
    add(Of::member<key::request>, record.request);
    add(Of::member<key::signaled>, has(PostSend::is_signaled));
    if (const auto flags = send_flag_names(record.send_flags); !flags.empty())
        add(Of::member<key::send_flags>, flags);
    each_sge_field(record.header, record.sges, add);
    if (has(PostSend::unfinished))
        add(Of::member<key::unfinished>, true);
}

template <typename Add>
void each_field(const PostRecv& record, Add add) {
    using Of = MembersOf<"post_recv">;
    const bool is_srq = (record.header.flags & PostRecv::is_srq) != 0;
    add(is_srq ? Of::member<key::srq> : Of::member<key::qpn>, record.queue);
    add(Of::member<key::wr_id>, record.wr_id);
    add(Of::member<key::len>, record.len);
    each_sge_field(record.header, record.sges, add);
    if ((record.header.flags & PostRecv::unfinished) != 0)
        add(Of::member<key::unfinished>, true);
}

template <typename Add>
void each_field(const Wc& record, Add add) {
    using Of = MembersOf<"wc">;
    const auto status = static_cast<ibv_wc_status>(record.status);
    const auto has = [&](Wc::Flag flag) { return (record.header.flags & flag) != 0; };
    add(Of::member<key::qpn>, record.qpn);
    add(Of::member<key::wr_id>, record.wr_id);
    add(Of::member<key::status>, rdma::name_of(status));
    // After an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if (status != IBV_WC_SUCCESS) {
        add(Of::member<key::vendor_err>, record.vendor_err);
    } else {
        add(Of::member<key::opcode>, rdma::name_of(static_cast<ibv_wc_opcode>(record.opcode)));
        if (has(Wc::has_byte_len))
            add(Of::member<key::byte_len>, record.byte_len);
        if ((record.opcode & IBV_WC_RECV) != 0 && (record.wc_flags & IBV_WC_WITH_IMM) != 0)
            add(Of::member<key::imm>, record.imm);
    }
    add(Of::member<key::queue>, std::string_view(has(Wc::is_recv) ? "recv" : "send"));
    if (has(Wc::has_request))
        add(Of::member<key::request>, record.request);
}

/// Calls visit(record, event name) if the bytes are a record of the data path. Returns false if
/// they are not, or too few.
template <typename Visit>
bool visit_data(std::span<const std::byte> bytes, Visit visit) {
    const auto header = as<Header>(bytes);
    const auto visit_it = [&](const auto& record, runlog::EventName event) {
        if (record)
            visit(*record, event.row().name);
        return record.has_value();
    };
    switch (header ? header->kind : Kind::skip) {
        case Kind::post_send:
            return visit_it(post_of<PostSend>(bytes, PostSend::short_size), "post_send");
        case Kind::post_recv:
            return visit_it(post_of<PostRecv>(bytes, PostRecv::fixed_size()), "post_recv");
        case Kind::wc:
            return visit_it(as<Wc>(bytes), "wc");
        default:
            return false;
    }
}

}  // namespace tracelog
