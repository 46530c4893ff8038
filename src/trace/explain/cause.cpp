#include "trace/explain/cause.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace explain {
namespace {

struct CodeRow {
    Code code;
    std::string_view name;
    std::string_view advice;
};

constexpr auto rows = std::to_array<CodeRow>({
    {Code::CmRejected, "cm-rejected",
     "Check the reason, whether a program listens on this port, and the arguments of "
     "rdma_connect."},
    {Code::CmNoAnswer, "cm-no-answer",
     "Check that the peer is up, that UDP port 4791 passes in both directions (firewall, security "
     "group), and that the address belongs to its RDMA device (rdma link, ibv_devinfo -v)."},
    {Code::WrongPsn, "wrong-psn",
     "Set rq_psn (RTR) of each end to the sq_psn (RTS) of the other end, after both were "
     "exchanged."},
    {Code::PathMtuMismatch, "path-mtu-mismatch",
     "Exchange the path MTU and set the smaller one at both ends (ibv_modify_qp to RTR)."},
    {Code::WrongQpn, "wrong-qpn",
     "Set dest_qp_num to the number of the peer's current queue pair; a queue pair that is "
     "destroyed and created again has a new number."},
    {Code::PeerNotReady, "peer-not-ready",
     "Move the responder to RTR before the requester posts: let the responder send a message when "
     "it is ready, and wait for that message."},
    {Code::WrongGid, "wrong-gid",
     "Compare the destination GID with the peer's GID table (show_gids, ibv_devinfo -v), and "
     "choose the GID index of a RoCE v2 entry in the same network."},
    {Code::WrongPKey, "wrong-pkey",
     "Set pkey_index (INIT) to the entry that both ports share: 0xffff in most networks."},
    {Code::WrongQKey, "wrong-qkey",
     "Send with the Q_Key that the receiving queue pair was given (ibv_modify_qp, IBV_QP_QKEY)."},
    {Code::PeerGone, "peer-gone",
     "Look for the reason at the peer: its program ended, or its queue pair went to ERR or was "
     "destroyed. Agree on the end (a message, rdma_disconnect) before destroying."},
    {Code::PathBroken, "path-broken",
     "Capture at the other end to see on which side the packets disappear; check link, routes, "
     "firewall, UDP port 4791 and the hop limit of the address handle."},
    {Code::AcksLost, "acks-lost",
     "Capture at the requester to see whether the responses arrive; look for drops on the return "
     "path."},
    {Code::LargePacketsLost, "large-packets-lost",
     "Compare the MTU of all interfaces on the path with the path MTU plus 80 bytes of headers, or "
     "use a smaller path MTU."},
    {Code::TimeoutTooShort, "timeout-too-short",
     "Use a longer ACK timeout (attribute timeout: 4.096 us * 2^n); 14 is 67 ms."},
    {Code::WrongRkey, "wrong-rkey",
     "Send the rkey that ibv_reg_mr returned at the responder, in the byte order that both ends "
     "expect."},
    {Code::OutOfBounds, "out-of-bounds",
     "Check address and length against the region: remote_addr + length must not pass its end."},
    {Code::MissingAccessRight, "missing-access-right",
     "Register the memory and set up the queue pair with the right that the request needs "
     "(IBV_ACCESS_REMOTE_WRITE, _READ or _ATOMIC)."},
    {Code::Deregistered, "deregistered",
     "Keep the memory registered until the peer confirms that it no longer needs it."},
    {Code::OtherPd, "other-pd", "Register the memory in the protection domain of the queue pair."},
    {Code::Misaligned, "misaligned-address",
     "Align the 8 bytes that atomic operations work on: alignas(8), or an offset that is a "
     "multiple "
     "of 8."},
    {Code::RemoteAccess, "remote-access",
     "Compare rkey, address, length and rights of the request with the responder's memory regions; "
     "its run log (--log) shows which of them is wrong."},
    {Code::ReceiverNotReady, "receiver-not-ready",
     "Post receives before the peer sends, and more of them; rnr_retry 7 waits without limit."},
    {Code::ReceiveTooSmall, "receive-too-small",
     "Post receive buffers of at least the longest message."},
    {Code::LocalProtection, "local-protection",
     "Check lkey, address and length of the scatter-gather entries, and IBV_ACCESS_LOCAL_WRITE of "
     "memory that the adapter writes to."},
    {Code::LocalLength, "local-length",
     "Keep a message within what the port allows (max_msg_sz), and a datagram within the path "
     "MTU."},
    {Code::SendQueueFull, "send-queue-full",
     "Poll completions before posting more, signal at least one request in max_send_wr, or make a "
     "larger queue."},
    {Code::CqOverrun, "cq-overrun",
     "Make the completion queue at least as large as the number of requests that may complete "
     "before it is polled."},
    {Code::NotPolled, "not-polled",
     "Poll the completion queue until the completion of each request has come."},
    {Code::LateRank, "late-rank",
     "Look at what this rank does before its call: more data, a slower or busier host, a "
     "checkpoint."},
    {Code::ReadDepth, "read-depth",
     "Set max_rd_atomic of the requester to at most max_dest_rd_atomic of the responder."},
    {Code::BufferReused, "buffer-reused",
     "Leave the memory of a request as it is until its completion: the device may send it again."},
    {Code::CallFailed, "call-failed",
     "Look at the call's arguments, the program's limits (ulimit -l), and what the device allows "
     "(ibv_devinfo -v)."},
    {Code::Loss, "loss",
     "Look for drops on the path (interface and switch counters, PFC), and capture at both ends to "
     "find on which side."},
    {Code::Reordering, "reordering",
     "Look for per-packet load balancing on the path, and keep each flow on one path."},
    {Code::Corruption, "corruption", "Look at the error counters of links and cables on the path."},
    {Code::WrongIcrc, "wrong-icrc",
     "Compare captures at both ends: a device that rewrites headers, such as NAT, must compute the "
     "ICRC again or leave RoCE out."},
    {Code::Congestion, "congestion",
     "Check that the sender reacts to CNPs (DCQCN), and look for the congested link."},
    {Code::OnePath, "one-path",
     "Give each queue pair a flow label of its own (ibv_modify_qp to RTR, ah_attr.grh.flow_label), "
     "if the adapter derives the UDP source port from it; counters of the switch's ports show "
     "whether one path carries all."},
    {Code::NeedlessRetransmissions, "needless-retransmissions",
     "Find the device on the path that duplicates packets, and check whether the capture records "
     "each packet twice."},
    {Code::Deviation, "deviation",
     "'rocecap check' lists all deviations. Look for an update of the device's driver and "
     "firmware, "
     "and for another sender of packets with this queue pair's number."},
    {Code::OneSidedCapture, "one-sided-capture",
     "Capture both directions: at an interface that both pass, without a filter on one address, or "
     "with both ports of a mirror."},
    {Code::CutCapture, "cut-capture",
     "Capture whole packets, or at least 384 bytes of each: rocecap live -s 384, tcpdump -s 384."},
    {Code::IncompleteCapture, "incomplete-capture",
     "Look for the number of dropped packets, which tcpdump and 'rocecap live' print at the end, "
     "and capture with a larger buffer (-B) or fewer bytes of each packet (-s 384)."},
});

const CodeRow& row_of(Code code) {
    return rows[static_cast<std::size_t>(code)];
}

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].code) != i)
            return false;
    return true;
}
static_assert(is_in_order());

}  // namespace

std::string_view name(Code code) {
    return row_of(code).name;
}

std::string_view advice(Code code) {
    return row_of(code).advice;
}

std::string_view name(Certainty certainty) {
    switch (certainty) {
        case Certainty::Possible:
            return "possible";
        case Certainty::Likely:
            return "likely";
        case Certainty::Certain:
            break;
    }
    return "certain";
}

void Cause::consider(Code alternative, std::optional<std::string> because) {
    if (alternative == code)
        return;
    if (because) {
        excluded.push_back({alternative, *std::move(because)});
        return;
    }
    open.push_back(alternative);
    certainty = std::min(certainty, Certainty::Likely);
}

}  // namespace explain
