// Where a datagram goes: the host, which an address handle names, and the queue pair there, which
// each request names anew. So one queue pair talks to as many as it likes.
#pragma once

#include <cstring>

#include "exchange/endpoint.hpp"
#include "side.hpp"
#include "util/check.hpp"

namespace step10 {

/// What UD has before each message that it has received: the "global route header" (IBTA volume 1,
/// 8.3), or what stands for it on RoCEv2.
constexpr std::size_t grh_size = 40;

class Destination {
  public:
    Destination(const Side& side, const ibv_gid& gid, std::uint32_t qpn, std::uint32_t q_key)
        : qpn_(qpn), q_key_(q_key) {
        ibv_ah_attr attributes{};
        attributes.is_global = 1;
        attributes.port_num = side.device.gid.port;
        attributes.grh.dgid = gid;
        attributes.grh.sgid_index = static_cast<std::uint8_t>(side.device.gid.index);
        attributes.grh.hop_limit = 64;
        ah_.reset(util::check_ptr(ibv_create_ah(side.pd.get(), &attributes), "ibv_create_ah"));
    }
    Destination(verbs::Ah ah, std::uint32_t qpn, std::uint32_t q_key)
        : ah_(std::move(ah)), qpn_(qpn), q_key_(q_key) {}

    void address(ibv_send_wr& wr) const {
        wr.wr.ud.ah = ah_.get();
        wr.wr.ud.remote_qpn = qpn_;
        wr.wr.ud.remote_qkey = q_key_;
    }
    Destination& with_qpn(std::uint32_t qpn) { return qpn_ = qpn, *this; }
    Destination& with_q_key(std::uint32_t q_key) { return q_key_ = q_key, *this; }

  private:
    verbs::Ah ah_;
    std::uint32_t qpn_;
    std::uint32_t q_key_;
};

inline ibv_gid gid_of(const exchange::Endpoint& endpoint) {
    ibv_gid gid{};
    std::memcpy(gid.raw, endpoint.gid.data(), endpoint.gid.size());
    return gid;
}

}  // namespace step10
