#include "xray/probes.hpp"

#include <fmt/format.h>

namespace xray {

std::vector<Probe> probes_of(const Layout& layout) {
    const auto at = [&](std::string_view structure, std::string_view member) {
        return layout.offset_of(structure, member);
    };
    const std::size_t qpn = at("rxe_qp", "ibqp.qp_num");
    const std::size_t header = at("rxe_pkt_info", "hdr");
    const auto of_queue_pair = fmt::format("qpn=+{}($arg1):u32", qpn);
    // The first words of the BTH, in network byte order.
    const auto bth = [](std::string_view packet) {
        return fmt::format("op=+0({0}):u8 dest=+4({0}):x32 psn=+8({0}):x32", packet);
    };
    // The queue pair with this timer.
    const auto of_timer = [&](std::string_view timer) {
        return fmt::format("qpn=-{}($arg1):u32", at("rxe_qp", timer) - qpn);
    };
    return {
        // A program's request is in memory that it shares with the driver: this call only says that there
        // is one. A request of the kernel is an argument.
        {"post",
         {"rxe_post_send"},
         false,
         fmt::format("{} user=+{}($arg1):u8 wr=+{}($arg2):u64 opcode=+{}($arg2):u32", of_queue_pair,
                     at("rxe_qp", "is_user"), at("ib_send_wr", "wr_id"),
                     at("ib_send_wr", "opcode"))},
        {"requester", {"rxe_requester"}, false, of_queue_pair},
        {"transmit",
         {"rxe_xmit_packet"},
         false,
         fmt::format("{} {}", of_queue_pair, bth(fmt::format("+{}($arg2)", header)))},
        {"receive",
         {"rxe_rcv"},
         false,
         bth(fmt::format("+{}($arg1)", at("sk_buff", "cb") + header))},
        {"icrc", {"rxe_icrc_check"}, true, "ret=$retval:s32"},
        {"responder", {"rxe_responder", "rxe_receiver"}, false, of_queue_pair},
        {"completer", {"rxe_completer"}, false, of_queue_pair},
        {"complete",
         {"rxe_cq_post"},
         false,
         fmt::format(
             "user=+{}($arg1):u8 wr=+{}($arg2):u64 status=+{}($arg2):u32 qpn=+{}($arg2):u32 "
             "kernel_qpn=+{}(+{}($arg2)):u32",
             at("rxe_cq", "is_user"), at("ib_uverbs_wc", "wr_id"), at("ib_uverbs_wc", "status"),
             at("ib_uverbs_wc", "qp_num"), at("ib_qp", "qp_num"), at("ib_wc", "qp"))},
        {"ack_timer", {"retransmit_timer"}, false, of_timer("retrans_timer")},
        {"rnr_timer", {"rnr_nak_timer"}, false, of_timer("rnr_nak_timer")},
        {"error", {"rxe_qp_error"}, false, of_queue_pair},
    };
}

std::string definition(const Probe& probe, std::string_view function, std::string_view group) {
    return fmt::format("{}:{}/{} rdma_rxe:{} {}", probe.is_return ? 'r' : 'p', group, probe.step,
                       function, probe.arguments);
}

}  // namespace xray
