#include <cstdint>
#include <string>

#include "examples/common/program.hpp"
#include "net/channel.hpp"
#include "rdma/names.hpp"
#include "tests/faults/end.hpp"
#include "tests/faults/faulty.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace faults {

namespace {

ibv_wr_opcode opcode_of(const std::string& name) {
    if (name == "send")
        return IBV_WR_SEND;
    if (name == "write")
        return IBV_WR_RDMA_WRITE;
    if (name == "write-imm")
        return IBV_WR_RDMA_WRITE_WITH_IMM;
    if (name == "read")
        return IBV_WR_RDMA_READ;
    if (name == "atomic")
        return IBV_WR_ATOMIC_FETCH_AND_ADD;
    throw util::Error("--op is send, write, write-imm, read or atomic, not '" + name + "'.");
}

class Requests {
  public:
    Requests(const End& end, const net::Endpoint& server, const ClientOptions& options)
        : end_(end), server_(server), options_(options), opcode_(opcode_of(options.operation)) {}

    std::string run(util::StopSignal& stop, util::Deadline deadline) {
        util::Deadline next = util::Clock::now();
        while (done_ < options_.count) {
            while (posted_ < options_.count && posted_ - done_ < options_.window &&
                   util::is_past(next)) {
                if (const int error = post(); error != 0)
                    return "ibv_post_send refused request " + std::to_string(posted_ + 1) + ": " +
                           std::generic_category().message(error);
                next = util::deadline_in(std::chrono::milliseconds(options_.interval));
            }
            if (!end_.options().no_polling && !take_completions())
                return failure_;
            if (!common::nap(stop, deadline))
                return "no completion of " + std::to_string(posted_ - done_) +
                       " requests within the time limit";
        }
        return "all requests completed";
    }

    std::uint64_t done() const { return done_; }

  private:
    int post() {
        ibv_sge sge = end_.buffer();
        if (opcode_ == IBV_WR_ATOMIC_FETCH_AND_ADD)
            sge.length = sizeof(std::uint64_t);
        ibv_send_wr wr{};
        wr.wr_id = posted_ + 1;
        wr.opcode = opcode_;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        if (options_.signal_every != 0 && (posted_ + 1) % options_.signal_every == 0)
            wr.send_flags = IBV_SEND_SIGNALED;
        const std::uint64_t va = server_.va + options_.address_offset;
        const auto rkey = static_cast<std::uint32_t>(server_.rkey + options_.rkey_offset);
        if (end_.type() == IBV_QPT_UD)
            end_.address(wr);
        else if (opcode_ == IBV_WR_ATOMIC_FETCH_AND_ADD)
            wr.wr.atomic = {.remote_addr = va, .compare_add = 1, .swap = 0, .rkey = rkey};
        else
            wr.wr.rdma = {.remote_addr = va, .rkey = rkey};
        ibv_send_wr* bad_wr = nullptr;
        const int error = ibv_post_send(end_.qp(), &wr, &bad_wr);
        posted_ += error == 0 ? 1 : 0;
        return error;
    }

    bool take_completions() {
        ibv_wc wc{};
        int count = 0;
        while ((count = ibv_poll_cq(end_.cq(), 1, &wc)) > 0) {
            if (wc.status != IBV_WC_SUCCESS) {
                failure_ = "request " + std::to_string(wc.wr_id) + " ended in " +
                           std::string(rdma::name_of(wc.status));
                return false;
            }
            done_ = wc.wr_id;
        }
        if (count < 0)
            failure_ = "ibv_poll_cq failed";
        return count == 0;
    }

    const End& end_;
    const net::Endpoint& server_;
    const ClientOptions& options_;
    ibv_wr_opcode opcode_;
    std::uint64_t posted_ = 0;
    std::uint64_t done_ = 0;
    std::string failure_;
};

}  // namespace

int run_client(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Deadline deadline = util::deadline_in(std::chrono::seconds(options.end.time_limit));
    const net::TimeLimit limit{stop, deadline};
    const util::Address server = options.client.resolve_server();
    net::TcpChannel channel(
        net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit));
    End end(channel.socket(), options.end, 0);
    net::send_endpoint(channel, end.own(), limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    end.to_init();
    end.connect(theirs);
    net::barrier(channel, limit);
    Requests requests(end, theirs, options);
    const std::string result = requests.run(stop, deadline);
    log.note("result: " + std::to_string(requests.done()) + " of " + std::to_string(options.count) +
             " done; " + result);
    return 0;
}

}  // namespace faults
