#include "bench/transfer/measure.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace bench {
namespace {

constexpr std::uint64_t warm_up = 20;
// As in perftest (ib_send_lat, cq_mod): one SEND in 50 is signalled. Every WRITE and READ is.
constexpr std::uint64_t sends_a_completion = 50;
constexpr std::uint64_t receives = 16;

// One end of any of the tests: sends a message and receives one. The order of its steps is
// perftest's: if a request is signalled, its completion is awaited first.
class Player {
  public:
    Player(Link& link, const Plan& plan, const net::TimeLimit& limit)
        : link_(link), plan_(plan), limit_(limit), request_(link.request(opcode(), sge_)) {
        if (plan.depth < sends_a_completion)
            throw util::Error("--depth is " + std::to_string(sends_a_completion) +
                              " at least for a latency.");
        if (plan.size <= link.most_inline() && plan.test != Test::ReadLatency)
            inline_ = IBV_SEND_INLINE;
        if (plan.test == Test::SendLatency)
            for (std::uint64_t i = 0; i < receives; ++i)
                link.post_receive();
    }

    // A WRITE's last byte is its number: once it has arrived, the whole message has. No
    // specification guarantees that to a program that polls memory; perftest relies on it, and
    // adapters do it.
    void send() {
        ++sent_;
        if (plan_.test == Test::WriteLatency)
            link_.outgoing().back() = number(sent_);
        const bool is_signalled =
            plan_.test != Test::SendLatency || sent_ % sends_a_completion == 0;
        request_.send_flags = inline_ | (is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U);
        ibv_send_wr* bad = nullptr;
        CHECK_RC(ibv_post_send(link_.qp(), &request_, &bad));
        if (is_signalled)
            while (take_completion() == IBV_WC_RECV) {
            }
    }

    // Waits for the peer's message; a READ has none.
    void await() {
        ++received_;
        if (plan_.test == Test::WriteLatency) {
            const volatile std::byte* last = &link_.incoming().back();
            spin_until(limit_, [&] { return *last == number(received_); });
        } else if (plan_.test == Test::SendLatency)
            while (arrived_ < received_)
                take_completion();
    }

  private:
    ibv_wr_opcode opcode() const {
        switch (plan_.test) {
            case Test::WriteLatency:
                return IBV_WR_RDMA_WRITE;
            case Test::SendLatency:
                return IBV_WR_SEND;
            default:
                return IBV_WR_RDMA_READ;
        }
    }

    static std::byte number(std::uint64_t of) { return static_cast<std::byte>(of & 0xff); }

    ibv_wc_opcode take_completion() {
        const ibv_wc wc = await_completion(link_, true, limit_);
        if (wc.opcode == IBV_WC_RECV) {
            ++arrived_;
            link_.post_receive();
        }
        return wc.opcode;
    }

    Link& link_;
    const Plan& plan_;
    const net::TimeLimit& limit_;
    ibv_sge sge_{};
    ibv_send_wr request_;
    unsigned inline_ = 0;
    std::uint64_t sent_ = 0, received_ = 0, arrived_ = 0;
};

}  // namespace

std::vector<Nanoseconds> ping(Link& link, const Plan& plan, const net::TimeLimit& limit) {
    Player player(link, plan, limit);
    const int ways = plan.test == Test::ReadLatency ? 1 : 2;
    std::vector<Nanoseconds> samples;
    samples.reserve(plan.iterations);
    for (std::uint64_t i = 0; i < warm_up + plan.iterations; ++i) {
        const auto begin = util::Clock::now();
        player.send();
        player.await();
        const auto end = util::Clock::now();
        if (i >= warm_up)
            samples.push_back((end - begin) / ways);
    }
    return samples;
}

void pong(Link& link, const Plan& plan, const net::TimeLimit& limit) {
    Player player(link, plan, limit);
    for (std::uint64_t i = 0; i < warm_up + plan.iterations; ++i) {
        player.await();
        player.send();
    }
}

}  // namespace bench
