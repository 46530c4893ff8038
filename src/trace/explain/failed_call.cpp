#include "trace/explain/failed_call.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace explain {
namespace {

using runlog::NumberKey;

// What a call asks for, and the limit of the device for it.
struct DeviceLimit {
    std::string_view call;  // also of its variants: ibv_create_qp_ex
    NumberKey asked, limit;
    std::string_view name = asked.name;  // of the call's parameter
};
constexpr auto device_limits = std::to_array<DeviceLimit>({
    {"ibv_create_qp", key::max_send_wr, key::max_qp_wr},
    {"ibv_create_qp", key::max_recv_wr, key::max_qp_wr},
    {"ibv_create_qp", key::max_send_sge, key::max_sge},
    {"ibv_create_qp", key::max_recv_sge, key::max_sge},
    {"ibv_create_cq", key::asked, key::max_cqe, "cqe"},
    {"ibv_reg_mr", key::len, key::max_mr_size, "length"},
    {"ibv_modify_qp", key::max_rd_atomic, key::max_qp_init_rd_atom},
    {"ibv_modify_qp", key::max_dest_rd_atomic, key::max_qp_rd_atom},
    {"rdma_connect", key::responder_resources, key::max_qp_rd_atom},
    {"rdma_connect", key::initiator_depth, key::max_qp_init_rd_atom},
    {"rdma_accept", key::responder_resources, key::max_qp_rd_atom},
    {"rdma_accept", key::initiator_depth, key::max_qp_init_rd_atom},
});

// Bytes of private data that a message of the connection manager has room for, without the header
// that librdmacm adds for IP addresses (rdma_connect(3), rdma_accept(3)).
constexpr std::uint64_t port_space_tcp = 0x0106;
constexpr std::uint64_t most_at_connect = 56;
constexpr std::uint64_t most_at_accept = 196;

bool is_post_send(std::string_view call) {
    return call == "ibv_post_send" || call == "ibv_wr_complete";
}

class Reasons {
  public:
    Reasons(const runlog::Event& failed, const Logs& logs)
        : failed_(failed), logs_(logs), call_(failed[key::call]), pair_(logs.pair_at(failed)) {}

    std::vector<Reason> all() {
        for (const DeviceLimit& row : device_limits)
            if (call_.starts_with(row.call))
                device(row);
        if (call_.starts_with("ibv_create_qp"))
            inline_size();
        if (call_ == "rdma_connect")
            private_data(most_at_connect);
        if (call_ == "rdma_accept")
            private_data(most_at_accept);
        if (call_ == "ibv_modify_qp")
            without_grh();
        if (is_post_send(call_))
            post_send();
        if (call_ == "ibv_post_recv")
            post_recv();
        return std::move(reasons_);
    }

  private:
    void device(const DeviceLimit& row) {
        const auto asked = failed_[row.asked];
        const auto limit = logs_.devices().limit(failed_.role, row.limit);
        // librdmacm replaces this value by the device's limit (RDMA_MAX_RESP_RES).
        constexpr std::uint64_t as_many_as_possible = 255;
        const bool is_chosen = call_.starts_with("rdma_") && asked == as_many_as_possible;
        if (!asked || !limit || *asked <= *limit || is_chosen)
            return;
        reasons_.push_back(
            {fmt::format("{} {} is more than the device allows ({} {})", row.name, *asked,
                         row.limit.name, *limit),
             fmt::format("{} {}, {} {} of the device", row.name, *asked, row.limit.name, *limit),
             fmt::format("Ask for at most {} ({}); ibv_devinfo -v prints what the device allows.",
                         *limit, row.name)});
    }

    // No attribute of a device limits inline data, so only the others can be excluded.
    void inline_size() {
        const auto asked = failed_[key::max_inline_data].value_or(0);
        if (!reasons_.empty() || asked == 0 || failed_[key::error] != "EINVAL" ||
            !failed_[key::max_send_sge] || !logs_.devices().limit(failed_.role, key::max_qp_wr))
            return;
        reasons_.push_back(
            {fmt::format("max_inline_data {} is the only value for which the device states no "
                         "limit; the others are within its limits",
                         asked),
             fmt::format("max_inline_data {}", asked),
             "Ask for a smaller max_inline_data: ibv_create_qp returns what was granted.",
             Certainty::Likely});
    }

    void private_data(std::uint64_t most) {
        const auto bytes = failed_[key::private_data_len];
        if (!bytes || *bytes <= most || failed_[key::port_space] != port_space_tcp)
            return;
        reasons_.push_back(
            {fmt::format("{} bytes of private data are more than the message has room for ({})",
                         *bytes, most),
             fmt::format("private_data_len {}, at most {} in port space RDMA_PS_TCP", *bytes, most),
             fmt::format("Pass at most {} bytes of private data, and send the rest as a message.",
                         most)});
    }

    // RoCE addresses packets by GID, and only a GRH has one. An event without a GID has no GRH.
    void without_grh() {
        constexpr std::uint64_t av = 1U << 7U;  // IBV_QP_AV
        if (failed_[key::error] != "EINVAL" || failed_[key::to] != "RTR" ||
            (failed_[key::mask].value_or(0) & av) == 0 || failed_[key::gid_index])
            return;
        reasons_.push_back(
            {"its ah_attr has no GRH (is_global is 0), and RoCE reaches the peer only by its GID",
             fmt::format("mask {:#x} has IBV_QP_AV, and ah_attr no GID",
                         failed_[key::mask].value_or(0)),
             "Set ah_attr.is_global to 1, and grh.dgid and grh.sgid_index to the GIDs of both "
             "ends: a LID is an address of InfiniBand only."});
    }

    void post_send() {
        const std::string_view state = failed_[key::state];
        if (failed_[key::error] == "EINVAL" &&
            (state == "RESET" || state == "INIT" || state == "RTR"))
            state_of(state, "RTS");
        misaligned();
        if (pair_ == nullptr)
            return;
        entries(pair_->max_send_sge, "max_send_sge");
        const auto bytes = failed_[key::len];
        const auto most = pair_->max_inline_data;
        if (failed_[key::send_flags].find("INLINE") != std::string_view::npos && bytes && most &&
            *bytes > *most)
            reasons_.push_back(
                {fmt::format("{} inline bytes are more than its queue pair was made for "
                             "(max_inline_data {})",
                             *bytes, *most),
                 fmt::format("{} inline bytes, max_inline_data {} of QP {:#08x}", *bytes, *most,
                             pair_->qpn),
                 fmt::format("Send at most {} bytes inline, leave out IBV_SEND_INLINE, or create "
                             "the queue pair with a larger max_inline_data.",
                             *most)});
    }

    void post_recv() {
        if (failed_[key::state] == "RESET" && failed_[key::error] == "EINVAL")
            state_of("RESET", "INIT");
        if (pair_ == nullptr)
            return;
        if (pair_->srq && failed_[key::error] == "EINVAL")
            reasons_.push_back(
                {"its queue pair takes its receives from a shared receive queue",
                 fmt::format("shared receive queue {} of QP {:#08x}", *pair_->srq, pair_->qpn),
                 "Post the receives to the shared receive queue (ibv_post_srq_recv)."});
        entries(pair_->max_recv_sge, "max_recv_sge");
        const auto outstanding = failed_[key::receives_outstanding];
        const std::uint64_t most = pair_->max_recv_wr;
        if (failed_[key::error] == "ENOMEM" && outstanding && most != 0 && *outstanding >= most)
            reasons_.push_back(
                {"the receive queue was full",
                 fmt::format("max_recv_wr {}, {} receives outstanding", most, *outstanding),
                 "Post a receive for each completion, or make a larger queue."});
    }

    void state_of(std::string_view state, std::string_view least) {
        reasons_.push_back(
            {fmt::format("its queue pair was in {}", state),
             fmt::format("state {}, {} or later needed", state, least),
             fmt::format("Move the queue pair to {} (ibv_modify_qp) before {}.", least, call_)});
    }

    void entries(const std::optional<std::uint64_t>& most, std::string_view name) {
        const auto* const first = failed_.find(key::sges.name);
        const auto* const listed = first == nullptr ? nullptr : std::get_if<runlog::Sges>(first);
        if (listed == nullptr || !most)
            return;
        const std::uint64_t count = listed->size() + failed_[key::more_sges].value_or(0);
        if (count <= *most)
            return;
        reasons_.push_back(
            {fmt::format("{} scatter-gather entries are more than its queue pair was made for "
                         "({} {})",
                         count, name, *most),
             fmt::format("{} entries, {} {} of QP {:#08x}", count, name, *most, pair_->qpn),
             fmt::format("Use at most {} entries, or create the queue pair with a larger {}.",
                         *most, name)});
    }

    // Soft-RoCE checks this before it sends.
    void misaligned() {
        constexpr std::uint64_t bytes = 8;
        const auto va = failed_[key::remote_va];
        if (!failed_[key::opcode].starts_with("ATOMIC_") || failed_[key::error] != "EINVAL" ||
            !va || *va % bytes == 0)
            return;
        reasons_.push_back(
            {fmt::format("the address {:#x} of the atomic operation is not a multiple of {}", *va,
                         bytes),
             fmt::format("remote_va {:#x}", *va), std::string(advice(Code::Misaligned))});
    }

    const runlog::Event& failed_;
    const Logs& logs_;
    std::string_view call_;
    const LoggedQueuePair* pair_;
    std::vector<Reason> reasons_;
};

}  // namespace

std::string send_queue(const runlog::Event& failed, const LoggedQueuePair* pair) {
    std::string text;
    if (!is_post_send(failed[key::call]))
        return text;
    if (pair != nullptr && pair->max_send_wr != 0)
        text = fmt::format("max_send_wr {}", pair->max_send_wr);
    if (const auto outstanding = failed[key::sends_outstanding])
        text += fmt::format("{}{} requests outstanding", text.empty() ? "" : ", ", *outstanding);
    return text;
}

std::vector<Reason> reasons_of(const runlog::Event& failed, const Logs& logs) {
    return Reasons(failed, logs).all();
}

}  // namespace explain
