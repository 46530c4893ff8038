// Two connected queue pairs of this program, as in step 05: one asks, the other owns the memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/completion.hpp"
#include "verbs/device.hpp"
#include "verbs/rc_states.hpp"

namespace step13 {

/// What a program needs of a device.
struct Device {
    ibv_context* context;
    verbs::Gid gid;
    ibv_pd* pd;
    util::StopSignal& stop;
};

class Pair {
  public:
    explicit Pair(const Device& device) : stop_(device.stop), asking_(device), owning_(device) {
        constexpr std::uint32_t psn = 0x1000;  // of no interest to anybody else
        for (const auto& [end, other] :
             {std::pair{&asking_, &owning_}, std::pair{&owning_, &asking_}}) {
            verbs::to_init(end->qp.get(), device.gid.port, IBV_ACCESS_REMOTE_WRITE);
            verbs::to_rtr(end->qp.get(), device.gid,
                          {.qpn = other->qp->qp_num, .psn = psn, .gid = device.gid.raw}, 1024);
            verbs::to_rts(end->qp.get(), psn);
        }
    }

    ibv_qp* owner() const { return owning_.qp.get(); }

    /// A WRITE of all of `from` to this address of the owner, with this key.
    ibv_wc_status write(const ibv_mr& from, const std::byte* to, std::uint32_t rkey) {
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(from.addr),
                      .length = static_cast<std::uint32_t>(from.length),
                      .lkey = from.lkey};
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to);
        wr.wr.rdma.rkey = rkey;
        return post(asking_, wr);
    }

    /// A SEND without a byte that takes a key from its owner; what the owner's completion says.
    ibv_wc send_with_invalidate(std::uint32_t rkey) {
        ibv_recv_wr receive{};
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(owner(), &receive, &refused), "ibv_post_recv");
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_SEND_WITH_INV;
        wr.invalidate_rkey = rkey;
        const ibv_wc_status status = post(asking_, wr);
        if (status == IBV_WC_SUCCESS)
            return completion(owning_);
        ibv_wc failed{};
        failed.status = status;
        return failed;
    }

    /// A request of the owner about its own keys.
    ibv_wc_status post_at_owner(ibv_send_wr& wr) { return post(owning_, wr); }
    /// Of the owner's request that is under way.
    ibv_wc_status owner_status() { return completion(owning_).status; }

  private:
    struct End {
        verbs::CompletionQueue completions;
        verbs::Qp qp;

        explicit End(const Device& device) : completions(device.context, 8) {
            ibv_qp_init_attr attributes{};
            attributes.qp_type = IBV_QPT_RC;
            attributes.send_cq = completions.cq.get();
            attributes.recv_cq = completions.cq.get();
            attributes.cap = {.max_send_wr = 4,
                              .max_recv_wr = 4,
                              .max_send_sge = 1,
                              .max_recv_sge = 1,
                              .max_inline_data = 0};
            qp.reset(util::check_ptr(ibv_create_qp(device.pd, &attributes), "ibv_create_qp"));
        }
    };

    ibv_wc_status post(End& end, ibv_send_wr& wr) {
        wr.send_flags |= IBV_SEND_SIGNALED;
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(end.qp.get(), &wr, &refused), "ibv_post_send");
        return completion(end).status;
    }

    ibv_wc completion(End& end) {
        const auto wc =
            end.completions.next(stop_, util::deadline_in(std::chrono::milliseconds(5000)));
        if (!wc)
            throw util::Error(stop_.requested() ? "stopped by a signal."
                                                : "no completion came in five seconds.");
        return *wc;
    }

    util::StopSignal& stop_;
    End asking_, owning_;
};

}  // namespace step13
