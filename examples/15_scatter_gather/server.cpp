// Lesson 15, the server: one receive with two entries. The device writes the header of a message
// into one buffer and its body into another.
#include <array>
#include <string>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

constexpr std::size_t most_body = 2 << 20;
constexpr std::chrono::milliseconds exchange_time{5000};

void serve(net::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    const net::TimeLimit limit{stop, util::deadline_in(exchange_time)};

    // 1. A queue pair whose receives may have two entries.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 2, nullptr, nullptr, 0))};
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 2},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &init))};

    // 2. Two buffers and one receive. The device fills its entries in order: the second gets what
    // does not fit into the first.
    std::array<std::byte, lesson15::Header::size> head{};
    std::vector<std::byte> body(most_body);
    const rdma::Mr head_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), head.data(), head.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Mr body_mr{CHECK_PTR(ibv_reg_mr(pd.get(), body.data(), body.size(),
                                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ))};
    std::array<ibv_sge, 2> entries{{{.addr = reinterpret_cast<std::uintptr_t>(head.data()),
                                     .length = static_cast<std::uint32_t>(head.size()),
                                     .lkey = head_mr->lkey},
                                    {.addr = reinterpret_cast<std::uintptr_t>(body.data()),
                                     .length = static_cast<std::uint32_t>(body.size()),
                                     .lkey = body_mr->lkey}}};
    lesson06::to_init(qp.get(), port, IBV_ACCESS_REMOTE_READ);
    ibv_recv_wr receive{
        .wr_id = 1, .sg_list = entries.data(), .num_sge = static_cast<int>(entries.size())};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp.get(), &receive, &bad_wr));

    // 3. Connect as in lesson 06; the peer may READ the body's buffer.
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = 0x5e2200,
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(body.data()),
                       .length = body.size(),
                       .rkey = body_mr->rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);
    net::barrier(channel, limit);

    // 4. Receive the message: byte_len includes both parts.
    const ibv_wc wc = rdma::expect_success(common::next_completion(cq.get(), stop, limit.deadline),
                                           "the receive");
    const auto header = lesson15::Header::parse(head);
    if (wc.byte_len < head.size() || wc.byte_len - head.size() != header.length ||
        common::crc_of(std::span(body).first(header.length)) != header.crc)
        throw util::Error("the message does not match its header.");
    log.event("memory", common::describe_memory(head));
    log.event("memory", common::describe_memory(std::span(body).first(header.length)));
    net::barrier(channel, {stop, std::nullopt});
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
    common::CommandLine command_line(
        "server", "Lesson 15, server: one receive into two buffers, header and body.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
