#include <cstdint>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include "examples/common/program.hpp"
#include "net/channel.hpp"
#include "rdma/names.hpp"
#include "tests/faults/end.hpp"
#include "tests/faults/faulty.hpp"
#include "util/check.hpp"

namespace faults {

namespace {

/// Actions that run once, some time after the client started.
class Plan {
  public:
    /// `after`: milliseconds; 0: never.
    void add(std::uint64_t after, std::function<void()> action) {
        if (after != 0)
            steps_.push_back(
                {util::Clock::now() + std::chrono::milliseconds(after), std::move(action)});
    }
    void do_what_is_due() {
        for (Step& step : steps_)
            if (step.action && util::Clock::now() >= step.time)
                std::exchange(step.action, nullptr)();
    }

  private:
    struct Step {
        util::Clock::time_point time;
        std::function<void()> action;
    };
    std::vector<Step> steps_;
};

void post_receives(const End& end, std::uint64_t count) {
    for (std::uint64_t id = 1; id <= count; ++id) {
        ibv_sge sge = end.buffer();
        if (end.type() == IBV_QPT_UD)
            sge.length += 40;  // the GRH comes before the message
        ibv_recv_wr wr{};
        wr.wr_id = id;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(end.qp(), &wr, &bad_wr));
    }
}

struct Received {
    std::uint64_t count = 0;
    std::string first_error = "no error";
};

void take_completions(ibv_cq* cq, Received& received) {
    ibv_wc wc{};
    while (ibv_poll_cq(cq, 1, &wc) > 0) {
        if (wc.status == IBV_WC_SUCCESS)
            ++received.count;
        else if (received.first_error == "no error")
            received.first_error = rdma::name_of(wc.status);
    }
}

}  // namespace

int run_server(const ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    net::TcpListener listener(options.server.address());
    log.event("ready",
              {{"address", listener.address().host()}, {"port", listener.address().port()}});
    const net::TimeLimit limit{stop, util::deadline_in(std::chrono::seconds(30))};
    auto socket = listener.accept(limit);
    if (!socket)
        return 0;
    const util::Deadline deadline = util::deadline_in(std::chrono::seconds(options.end.time_limit));
    net::TcpChannel channel(std::move(*socket));
    End end(channel.socket(), options.end, rights_of(options.qp_access));
    std::vector<std::byte> memory(options.memory);
    rdma::Mr region{CHECK_PTR(ibv_reg_mr(
        options.region_of_other_pd ? end.other_pd() : end.pd(), memory.data(), memory.size(),
        IBV_ACCESS_LOCAL_WRITE | static_cast<int>(rights_of(options.region_access))))};
    net::Endpoint mine = end.own();
    mine.va = reinterpret_cast<std::uintptr_t>(memory.data());
    mine.length = memory.size();
    mine.rkey = region->rkey;
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    net::send_endpoint(channel, mine, limit);
    end.to_init();
    if (options.receives_after == 0)
        post_receives(end, options.receives);
    if (options.ready_after == 0)
        end.connect(theirs);
    if (options.deregister)
        region.reset();
    net::barrier(channel, limit);

    Received received;
    bool is_gone = false;
    Plan plan;
    plan.add(options.deregister_after, [&] { region.reset(); });
    plan.add(options.receives_after, [&] { post_receives(end, options.receives); });
    plan.add(options.ready_after, [&] { end.connect(theirs); });
    plan.add(options.exit_after, [&] { is_gone = true; });
    plan.add(options.destroy_after, [&] { end.destroy_qp(); });
    plan.add(options.error_after, [&] { end.to_state(IBV_QPS_ERR); });
    plan.add(options.reset_after, [&] { end.to_state(IBV_QPS_RESET); });
    while (!is_gone && !net::discard_input(channel.socket()) && common::nap(stop, deadline)) {
        plan.do_what_is_due();
        if (!options.end.no_polling)
            take_completions(end.cq(), received);
    }
    take_completions(end.cq(), received);
    log.note("result: " + std::to_string(received.count) + " received; " + received.first_error);
    if (is_gone)
        _exit(0);  // like a program that ends without notifying its peer
    return 0;
}

}  // namespace faults
