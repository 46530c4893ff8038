// Lesson 11, the server: sleeps until a solicited message arrives, and then takes all messages.
#include <array>
#include <string>
#include <vector>

#include "connect.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

constexpr std::chrono::milliseconds exchange_time{5000};
constexpr int receives = 2 * lesson11::messages;

void post_receive(ibv_qp* qp, std::uint64_t wr_id, const ibv_mr& mr) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) +
                        wr_id % lesson11::messages * lesson11::message_size,
                .length = lesson11::message_size,
                .lkey = mr.lkey};
    ibv_recv_wr wr{.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

// Sleeps until the channel has an event. Further events require ibv_req_notify_cq.
void await_event(ibv_comp_channel* channel, const net::TimeLimit& limit) {
    if (util::wait_readable(channel->fd, limit.stop, limit.deadline) != util::Ready::input)
        throw util::Error("no event arrived: is the client still running?");
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    CHECK_ERRNO(ibv_get_cq_event(channel, &cq, &cq_context));
    ibv_ack_cq_events(cq, 1);
}

// Polls all available completions and returns their number.
int drain(ibv_cq* cq) {
    int count = 0;
    ibv_wc wc{};
    while (ibv_poll_cq(cq, 1, &wc) > 0) {
        rdma::expect_success(wc, "a receive");
        ++count;
    }
    return count;
}

void serve(net::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    const net::TimeLimit limit{stop, util::deadline_in(exchange_time)};

    // 1. A completion queue with a channel, armed for solicited events: SENDs and WRITEs with
    // immediate data whose sender set IBV_SEND_SOLICITED, and errors.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> inbox(std::size_t{lesson11::messages} * lesson11::message_size);
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), inbox.data(), inbox.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::CompChannel events{CHECK_PTR(ibv_create_comp_channel(port.context.get()))};
    const rdma::Cq cq{
        CHECK_PTR(ibv_create_cq(port.context.get(), receives, nullptr, events.get(), 0))};
    util::check_rc(ibv_req_notify_cq(cq.get(), 1), "ibv_req_notify_cq(solicited only)");
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &init))};
    lesson11::connect(channel, limit, qp.get(), port, 0x5e2300, [&] {
        for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
            post_receive(qp.get(), wr_id, *mr);
    });

    // 2. One event for four messages: the last one is solicited, and the others have completed
    // before it.
    await_event(events.get(), limit);
    const int received = drain(cq.get());
    log.note("1 event, " + std::to_string(received) + " messages: solicited events only");
    net::barrier(channel, limit);

    // 3. Four events for four messages: each completion causes one. Poll the queue again after
    // arming it, because a completion in between causes no event.
    int all = 0;
    for (int i = 0; i < lesson11::messages; ++i) {
        util::check_rc(ibv_req_notify_cq(cq.get(), 0), "ibv_req_notify_cq(all)");
        all += drain(cq.get());
        net::barrier(channel, limit);
        await_event(events.get(), limit);
        all += drain(cq.get());
    }
    log.note(std::to_string(lesson11::messages) + " events, " + std::to_string(all) +
             " messages: all events");
    net::barrier(channel, limit);
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        serve(channel, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server", "Lesson 11, server: wakes up for solicited events.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
