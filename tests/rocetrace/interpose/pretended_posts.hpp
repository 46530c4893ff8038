// Posts to a device of this process, their completions and their PSNs.
#pragma once

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "support/pretend_device.hpp"

namespace interpose_test {

using Psns = std::pair<std::uint64_t, std::uint64_t>;

class Post : public testing::Test {
  protected:
    void SetUp() override { trace_.events(); }

    static ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& sge, std::uint64_t wr_id = 0,
                               unsigned flags = IBV_SEND_SIGNALED) {
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.send_flags = flags;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        return wr;
    }
    static int post(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t length, std::uint64_t wr_id = 0,
                    unsigned flags = IBV_SEND_SIGNALED) {
        ibv_sge sge{0, length, 0};
        ibv_send_wr wr = request(opcode, sge, wr_id, flags);
        ibv_send_wr* bad = nullptr;
        return ibv_post_send(qp, &wr, &bad);
    }
    void completes(const ibv_qp* qp, std::uint64_t wr_id, ibv_wc_status status = IBV_WC_SUCCESS,
                   ibv_wc_opcode opcode = IBV_WC_SEND) {
        ibv_wc wc{};
        wc.wr_id = wr_id;
        wc.qp_num = qp->qp_num;
        wc.status = status;
        wc.opcode = opcode;
        device_.completions.push_back(wc);
        ibv_wc polled{};
        ASSERT_EQ(ibv_poll_cq(device_.cq(), 1, &polled), 1);
        ASSERT_EQ(polled.wr_id, wr_id);
    }
    static Psns psns(const runlog::Event& event) {
        return {event.number("psn_first").value_or(UINT64_MAX),
                event.number("psn_last").value_or(UINT64_MAX)};
    }

    support::PretendTrace& trace_ = support::PretendTrace::of_this_process();
    support::PretendDevice device_;
};

}  // namespace interpose_test
