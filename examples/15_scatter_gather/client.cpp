// Lesson 15, the client: one message from three buffers, one READ into two, and a list with an
// entry that the device must refuse.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "net/tcp.hpp"
#include "protocol.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    std::uint64_t first = 100;
    std::uint64_t second = 3000;
};

// A buffer with its own registration.
struct Buffer {
    std::vector<std::byte> bytes;
    rdma::Mr mr;

    Buffer(ibv_pd* pd, std::vector<std::byte> content, int access)
        : bytes(std::move(content)),
          mr(CHECK_PTR(ibv_reg_mr(pd, bytes.data(), bytes.size(), access))) {}

    ibv_sge sge() const {
        return {.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = mr->lkey};
    }
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::chrono::milliseconds timeout = options.client.timeout;
    const net::TimeLimit limit{stop, util::deadline_in(timeout)};
    const util::Address server = options.client.resolve_server();
    net::TcpChannel channel(
        net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit));

    // 1. A queue pair whose requests may have three entries. The device's limit is
    // ibv_device_attr.max_sge.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 2, nullptr, nullptr, 0))};
    ibv_qp_init_attr init{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 3, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &init))};

    // 2. Connect as in lesson 06.
    net::Endpoint mine{
        .qpn = qp->qp_num, .psn = 0xc22000, .lid = port.lid, .path_mtu = port.path_mtu};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    lesson06::to_init(qp.get(), port, 0);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);
    net::barrier(channel, limit);

    // 3. Gather: the header and the two parts of the body are in three regions, each with its own
    // lkey. The program does not copy them; the device reads them one after the other.
    const Buffer first(pd.get(), common::pattern(options.first, "first part. "), 0);
    const Buffer second(pd.get(), common::pattern(options.second, "second part. "), 0);
    std::vector<std::byte> body = first.bytes;
    body.insert(body.end(), second.bytes.begin(), second.bytes.end());
    const auto header = lesson15::Header{.sequence = 1,
                                         .length = static_cast<std::uint32_t>(body.size()),
                                         .crc = common::crc_of(body)}
                            .serialize();
    const Buffer head(pd.get(), {header.begin(), header.end()}, 0);
    std::array entries{head.sge(), first.sge(), second.sge()};
    ibv_send_wr send{.wr_id = 1,
                     .sg_list = entries.data(),
                     .num_sge = static_cast<int>(entries.size()),
                     .opcode = IBV_WR_SEND};
    common::perform(qp.get(), send, stop, timeout);

    // 4. Scatter: READ the same body back into two buffers.
    const Buffer left(pd.get(), std::vector<std::byte>(options.first), IBV_ACCESS_LOCAL_WRITE);
    const Buffer right(pd.get(), std::vector<std::byte>(options.second), IBV_ACCESS_LOCAL_WRITE);
    std::array targets{left.sge(), right.sge()};
    ibv_send_wr read{.wr_id = 2,
                     .sg_list = targets.data(),
                     .num_sge = static_cast<int>(targets.size()),
                     .opcode = IBV_WR_RDMA_READ,
                     .wr = {.rdma = {.remote_addr = theirs.va, .rkey = theirs.rkey}}};
    common::perform(qp.get(), read, stop, timeout);
    if (left.bytes != first.bytes || right.bytes != second.bytes)
        throw util::Error("the bytes READ back differ from the bytes sent.");
    log.note("one READ has filled both buffers");

    // 5. An lkey is valid only in its own protection domain. The device checks each entry before it
    // sends; the specified error is LOC_PROT_ERR, but rxe reports another status.
    const rdma::Pd other{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const Buffer stranger(other.get(), common::pattern(100, "of another PD. "), 0);
    entries[1] = stranger.sge();
    send.wr_id = 3;
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp.get(), &send, &bad_wr));
    const auto wc = common::next_completion(cq.get(), stop, util::deadline_in(timeout));
    if (!wc || wc->status == IBV_WC_SUCCESS)
        throw util::Error("an entry of another protection domain was not refused.");
    log.note("the entry of another protection domain: " + std::string(rdma::name_of(wc->status)));
    net::barrier(channel, limit);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 15, client: one SEND from three buffers, one READ into two.");
    Options options;
    command_line.add(options.client);
    command_line.number("--first", options.first, 1, 1 << 20, "Bytes of the body's first part");
    command_line.number("--second", options.second, 1, 1 << 20, "Bytes of the body's second part");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
