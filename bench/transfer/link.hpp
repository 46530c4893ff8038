// A queue pair connected to the peer's, and memory on both sides, for each measurement of RDMA.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "bench/transfer/plan.hpp"
#include "net/tcp.hpp"
#include "rdma/completion.hpp"
#include "rdma/device.hpp"

namespace bench {

class Link {
  public:
    /// Both ends must create one concurrently. The memory has room for two messages: the outgoing
    /// one, and after it the peer's incoming one. It is page-aligned, as in perftest. Throws
    /// util::Error, also if the peer has another --size.
    Link(net::Channel& channel, const util::Address& local, const Plan& plan,
         const net::TimeLimit& limit);

    ibv_qp* qp() const { return qp_.get(); }
    rdma::CompletionQueue& completions() { return completions_; }
    std::span<std::byte> outgoing() const { return {memory_.get(), size_}; }
    std::span<std::byte> incoming() const { return {memory_.get() + size_, size_}; }

    /// A request for one message: WRITE from `outgoing` to the peer's `incoming`, READ from there
    /// into the own `incoming`, or SEND. `sge` must outlive it.
    ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& sge) const;
    /// A receive for a message, into `incoming`.
    void post_receive() const;

    /// Maximum bytes of inline data.
    std::uint32_t most_inline() const { return most_inline_; }

  private:
    struct Free {
        void operator()(std::byte* memory) const noexcept;
    };

    std::size_t size_;
    rdma::DevicePort device_;
    rdma::Pd pd_;
    std::unique_ptr<std::byte[], Free> memory_;
    rdma::Mr mr_;
    rdma::CompletionQueue completions_;
    rdma::Qp qp_;
    std::uint32_t most_inline_ = 0;
    std::uint64_t remote_incoming_ = 0;
    std::uint32_t rkey_ = 0;
};

/// perftest's value for WRITE ping-pongs: 220 bytes.
inline constexpr std::uint32_t wanted_inline = 220;

/// The next completion, which must be a success: by polling, or by sleeping until there is one.
/// Throws util::Error, also if the deadline passes or a stop is requested.
ibv_wc await_completion(Link& link, bool is_polling, const net::TimeLimit& limit);

/// Calls `is_done` until it is true, without yielding the CPU. Throws util::Error if the deadline
/// passes or a stop is requested.
template <typename Condition>
void spin_until(const net::TimeLimit& limit, Condition is_done);

/// Throws if spin_until() must end.
void check_limit(const net::TimeLimit& limit);

template <typename Condition>
void spin_until(const net::TimeLimit& limit, Condition is_done) {
    constexpr unsigned looks_between_checks = 1 << 14;
    for (unsigned looks = 1; !is_done(); ++looks)
        if (looks % looks_between_checks == 0)
            check_limit(limit);
}

}  // namespace bench
