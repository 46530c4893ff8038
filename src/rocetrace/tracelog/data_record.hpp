// The fields of the records of the data path, for the events and the JSON that are made of them.
#pragma once

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

template <typename Add>
void each_sge_field(const Header& header, const SgeList& list, Add add) {
    const std::uint32_t recorded = SgeList::recorded(header);
    const std::uint32_t all = SgeList::count(header);
    if (recorded != 0)
        add(R"(,"sges":)", std::span(list.entries, recorded));
    if (all > recorded)
        add(R"(,"more_sges":)", all - recorded);
}

/// Calls add(member, value) for each field. `member` is the beginning of a JSON member, so that JSON
/// is written without composing it: `,"qpn":`, and for a text `,"opcode":"`.
template <typename Add>
void each_field(const PostSend& record, Add add) {
    const std::uint32_t opcode = record.opcode;
    const auto has = [&](PostSend::Flag flag) { return (record.header.flags & flag) != 0; };
    add(R"(,"qpn":)", record.qpn);
    add(R"(,"wr_id":)", record.wr_id);
    add(R"(,"opcode":")", opcode_name(opcode));
    add(R"(,"len":)", record.len);
    if (is_one_sided(opcode) || is_atomic(opcode)) {
        add(R"(,"remote_va":)", record.remote_va);
        add(R"(,"rkey":)", record.rkey);
    }
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        add(R"(,"add":)", record.compare_add);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        add(R"(,"compare":)", record.compare_add);
        add(R"(,"swap":)", record.swap);
    }
    if (has(PostSend::is_ud)) {
        add(R"(,"dest_qpn":)", static_cast<std::uint32_t>(record.remote_va >> 32U));
        add(R"(,"q_key":)", static_cast<std::uint32_t>(record.remote_va));
        add(R"(,"ah":)", record.compare_add);
    }
    if (has(PostSend::is_xrc))
        add(R"(,"srqn":)", record.srqn);
    if (has_immediate(opcode))
        add(R"(,"imm":)", record.imm);
    if (invalidates(opcode))
        add(R"(,"invalidates":)", record.imm);
    if (has(PostSend::has_psns)) {
        add(R"(,"psn_first":)", record.psn_first);
        add(R"(,"psn_last":)", record.psn_last);
    }
    add(R"(,"request":)", record.request);
    add(R"(,"signaled":)", has(PostSend::is_signaled));
    if (const auto flags = send_flag_names(record.send_flags); !flags.empty())
        add(R"(,"send_flags":")", flags);
    each_sge_field(record.header, record.sges, add);
    if (has(PostSend::unfinished))
        add(R"(,"unfinished":)", true);
}

template <typename Add>
void each_field(const PostRecv& record, Add add) {
    const bool is_srq = (record.header.flags & PostRecv::is_srq) != 0;
    add(is_srq ? R"(,"srq":)" : R"(,"qpn":)", record.queue);
    add(R"(,"wr_id":)", record.wr_id);
    add(R"(,"len":)", record.len);
    each_sge_field(record.header, record.sges, add);
    if ((record.header.flags & PostRecv::unfinished) != 0)
        add(R"(,"unfinished":)", true);
}

template <typename Add>
void each_field(const Wc& record, Add add) {
    const auto status = static_cast<ibv_wc_status>(record.status);
    const auto has = [&](Wc::Flag flag) { return (record.header.flags & flag) != 0; };
    add(R"(,"qpn":)", record.qpn);
    add(R"(,"wr_id":)", record.wr_id);
    add(R"(,"status":")", rdma::name_of(status));
    // After an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if (status != IBV_WC_SUCCESS) {
        add(R"(,"vendor_err":)", record.vendor_err);
    } else {
        add(R"(,"opcode":")", rdma::name_of(static_cast<ibv_wc_opcode>(record.opcode)));
        if (has(Wc::has_byte_len))
            add(R"(,"byte_len":)", record.byte_len);
        if ((record.opcode & IBV_WC_RECV) != 0 && (record.wc_flags & IBV_WC_WITH_IMM) != 0)
            add(R"(,"imm":)", record.imm);
    }
    add(R"(,"queue":")", std::string_view(has(Wc::is_recv) ? "recv" : "send"));
    if (has(Wc::has_request))
        add(R"(,"request":)", record.request);
}

/// Calls visit(record, event name) if the bytes are a record of the data path. Returns false if
/// they are not, or too few.
template <typename Visit>
bool visit_data(std::span<const std::byte> bytes, Visit visit) {
    const auto header = as<Header>(bytes);
    const auto visit_it = [&](const auto& record, std::string_view name) {
        if (record)
            visit(*record, name);
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
