#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "wire/text/summary.hpp"

namespace wire {
namespace {

// `third`: text of code 2, which differs between an MRA and a REJ.
std::string_view answered(CmAnswered code, std::string_view third) {
    switch (code) {
        case 0:
            return "REQ";
        case 1:
            return "REP";
        case 2:
            return third;
        default:
            return "a reserved code";
    }
}

std::string service(std::uint64_t id, const std::optional<IpService>& ip) {
    return ip ? fmt::format("port {}", ip->port) : fmt::format("service 0x{:016x}", id);
}

std::string pair(std::uint32_t local, std::uint32_t remote) {
    return fmt::format("comm 0x{:08x} to 0x{:08x}", local, remote);
}

struct Details {
    std::string operator()(std::monostate) const { return "not decoded"; }

    std::string operator()(const CmReq& req) const {
        return fmt::format("comm 0x{:08x} qpn 0x{:06x} psn 0x{:06x} {} mtu {}", req.local_comm_id,
                           req.local_qpn, req.starting_psn, service(req.service_id, req.ip_service),
                           req.path_mtu_bytes());
    }
    std::string operator()(const CmRep& rep) const {
        return fmt::format("{} qpn 0x{:06x} psn 0x{:06x}",
                           pair(rep.local_comm_id, rep.remote_comm_id), rep.local_qpn,
                           rep.starting_psn);
    }
    std::string operator()(const CmRej& rej) const {
        return fmt::format("{} of {}: {} ({})", pair(rej.local_comm_id, rej.remote_comm_id),
                           answered(rej.message_rejected, "no message"), rej.reason_name(),
                           rej.reason);
    }
    std::string operator()(const CmMra& mra) const {
        return fmt::format("{} of {}", pair(mra.local_comm_id, mra.remote_comm_id),
                           answered(mra.message_mraed, "LAP"));
    }
    std::string operator()(const CmSidrReq& sidr) const {
        return fmt::format("request 0x{:08x} {}", sidr.request_id,
                           service(sidr.service_id, sidr.ip_service));
    }
    std::string operator()(const CmSidrRep& sidr) const {
        return fmt::format("request 0x{:08x} qpn 0x{:06x} q_key 0x{:08x}: {}", sidr.request_id,
                           sidr.qpn, sidr.q_key, sidr.status_name());
    }
    // Rtu and Drep have only the two IDs, Dreq and Lap also a queue pair.
    template <typename Message>
    std::string operator()(const Message& message) const {
        std::string ids = pair(message.local_comm_id, message.remote_comm_id);
        if constexpr (requires { message.remote_qpn; })
            return fmt::format("{} remote qpn 0x{:06x}", ids, message.remote_qpn);
        else
            return ids;
    }

    std::string operator()(const CmApr& apr) const {
        return fmt::format("{} status {}", pair(apr.local_comm_id, apr.remote_comm_id), apr.status);
    }
};

}  // namespace

std::string cm_details(const Cm& cm) {
    return std::visit(Details{}, cm.body);
}

}  // namespace wire
