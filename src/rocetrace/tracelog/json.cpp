// The records of the data path as JSON, written member by member: building a JSON tree for each
// takes ten times as long, and rocetrace shares the CPUs with the program.
#include <charconv>
#include <cstring>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "rocetrace/tracelog/decode.hpp"
#include "rocetrace/tracelog/names.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace tracelog {
namespace {

template <typename Number>
void number(std::string& out, std::string_view key, Number value) {
    std::array<char, 24> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(key).append(digits.data(), end);
}

void word(std::string& out, std::string_view key, std::string_view value) {
    out.append(key).append(value).push_back('"');
}

template <typename Record>
bool take(Record& record, std::span<const std::byte> bytes, std::size_t least = sizeof(Record)) {
    if (bytes.size() < least)
        return false;
    std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
    return true;
}

}  // namespace

JsonRenderer::JsonRenderer(std::string role) : role_(std::move(role)) {
    // Rendered once, with JSON's escapes.
    const std::string line = runlog::to_json({0, role_, "", {}});
    const std::string_view begin = R"({"t_ns":0,"role":)";
    quoted_role_ = line.substr(begin.size(), line.rfind(",\"event\"") - begin.size());
}

void JsonRenderer::begin(std::string& out, const Header& header, std::string_view event) const {
    number(out, R"({"t_ns":)", header.t_ns);
    out.append(R"(,"role":)").append(quoted_role_);
    word(out, R"(,"event":")", event);
}

void JsonRenderer::append_send(std::string& out, const PostSend& record) const {
    const std::uint32_t opcode = record.opcode;
    begin(out, record.header, "post_send");
    number(out, R"(,"qpn":)", record.qpn);
    number(out, R"(,"wr_id":)", record.wr_id);
    word(out, R"(,"opcode":")", opcode_name(opcode));
    number(out, R"(,"len":)", record.len);
    if (is_one_sided(opcode) || is_atomic(opcode)) {
        number(out, R"(,"remote_va":)", record.remote_va);
        number(out, R"(,"rkey":)", record.rkey);
    }
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        number(out, R"(,"add":)", record.compare_add);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        number(out, R"(,"compare":)", record.compare_add);
        number(out, R"(,"swap":)", record.swap);
    }
    if ((record.header.flags & PostSend::is_ud) != 0) {
        number(out, R"(,"dest_qpn":)", record.remote_va >> 32U);
        number(out, R"(,"q_key":)", static_cast<std::uint32_t>(record.remote_va));
        number(out, R"(,"ah":)", record.compare_add);
    }
    if ((record.header.flags & PostSend::is_xrc) != 0)
        number(out, R"(,"srqn":)", record.srqn);
    if (has_immediate(opcode))
        number(out, R"(,"imm":)", record.imm);
    if (invalidates(opcode))
        number(out, R"(,"invalidates":)", record.imm);
    if ((record.header.flags & PostSend::has_psns) != 0) {
        number(out, R"(,"psn_first":)", record.psn_first);
        number(out, R"(,"psn_last":)", record.psn_last);
    }
    number(out, R"(,"request":)", record.request);
    const bool is_signaled = (record.header.flags & PostSend::is_signaled) != 0;
    out.append(is_signaled ? R"(,"signaled":true)" : R"(,"signaled":false)");
}

void JsonRenderer::append_recv(std::string& out, const PostRecv& record) const {
    const bool is_srq = (record.header.flags & PostRecv::is_srq) != 0;
    begin(out, record.header, "post_recv");
    number(out, is_srq ? R"(,"srq":)" : R"(,"qpn":)", record.queue);
    number(out, R"(,"wr_id":)", record.wr_id);
    number(out, R"(,"len":)", record.len);
}

void JsonRenderer::append_wc(std::string& out, const Wc& record) const {
    const auto status = static_cast<ibv_wc_status>(record.status);
    begin(out, record.header, "wc");
    number(out, R"(,"qpn":)", record.qpn);
    number(out, R"(,"wr_id":)", record.wr_id);
    word(out, R"(,"status":")", rdma::name_of(status));
    if (status != IBV_WC_SUCCESS) {
        number(out, R"(,"vendor_err":)", record.vendor_err);
    } else {
        word(out, R"(,"opcode":")", rdma::name_of(static_cast<ibv_wc_opcode>(record.opcode)));
        if ((record.header.flags & Wc::has_byte_len) != 0)
            number(out, R"(,"byte_len":)", record.byte_len);
        if ((record.opcode & IBV_WC_RECV) != 0 && (record.wc_flags & IBV_WC_WITH_IMM) != 0)
            number(out, R"(,"imm":)", record.imm);
    }
    word(out, R"(,"queue":")", (record.header.flags & Wc::is_recv) != 0 ? "recv" : "send");
    if ((record.header.flags & Wc::has_request) != 0)
        number(out, R"(,"request":)", record.request);
}

bool JsonRenderer::append(std::string& out, std::span<const std::byte> bytes,
                          const Writer& writer) const {
    Header header{};
    PostSend send{};
    PostRecv recv{};
    Wc wc{};
    if (!take(header, bytes))
        return false;
    if (header.kind == Kind::post_send && take(send, bytes, PostSend::short_size)) {
        append_send(out, send);
    } else if (header.kind == Kind::post_recv && take(recv, bytes)) {
        append_recv(out, recv);
    } else if (header.kind == Kind::wc && take(wc, bytes)) {
        append_wc(out, wc);
    } else {
        const auto event = decode(bytes, role_, writer);
        if (!event)
            return false;
        out.append(runlog::to_json(*event)).push_back('\n');
        return true;
    }
    number(out, R"(,"pid":)", writer.pid);
    number(out, R"(,"tid":)", writer.tid);
    out.append("}\n");
    return true;
}

}  // namespace tracelog
