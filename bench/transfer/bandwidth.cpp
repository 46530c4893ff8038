#include <algorithm>
#include <vector>

#include "bench/transfer/measure.hpp"
#include "util/check.hpp"

namespace bench {
namespace {

// `count` equal requests as one list. The last one is signalled; its wr_id is their number.
class Batch {
  public:
    Batch(const Link& link, ibv_wr_opcode opcode, std::uint64_t count) : requests_(count) {
        const ibv_send_wr request = link.request(opcode, sge_);
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            requests_[i] = request;
            requests_[i].next = i + 1 < requests_.size() ? &requests_[i + 1] : nullptr;
        }
        requests_.back().wr_id = count;
        requests_.back().send_flags = IBV_SEND_SIGNALED;
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    Batch(Batch&&) = delete;
    Batch& operator=(Batch&&) = delete;
    ~Batch() = default;

    std::uint64_t size() const { return requests_.size(); }
    void post(ibv_qp* qp) {
        ibv_send_wr* bad = nullptr;
        CHECK_RC(ibv_post_send(qp, requests_.data(), &bad));
    }

  private:
    ibv_sge sge_{};
    std::vector<ibv_send_wr> requests_;
};

}  // namespace

Nanoseconds stream(Link& link, const Plan& plan, const net::TimeLimit& limit) {
    const ibv_wr_opcode opcode =
        plan.test == Test::ReadBandwidth ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
    Batch full(link, opcode, std::min(plan.batch, plan.iterations));
    // The rest after all full batches; one request if there is none.
    Batch rest(link, opcode, std::max<std::uint64_t>(plan.iterations % full.size(), 1));

    const auto begin = util::Clock::now();
    std::uint64_t posted = 0;
    for (std::uint64_t completed = 0; completed < plan.iterations;) {
        while (posted < plan.iterations) {
            Batch& next = plan.iterations - posted >= full.size() ? full : rest;
            if (posted - completed + next.size() > plan.depth)
                break;
            next.post(link.qp());
            posted += next.size();
        }
        completed += await_completion(link, plan.is_polling, limit).wr_id;
    }
    return util::Clock::now() - begin;
}

}  // namespace bench
