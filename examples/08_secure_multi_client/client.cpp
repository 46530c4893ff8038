// Lesson 08, the client: many clients of lesson 07 in one process, each with a request outstanding.
#include <algorithm>
#include <list>

#include <fmt/format.h>

#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/completion.hpp"
#include "resources.hpp"

namespace {

constexpr std::uint64_t size = 10'000;  // of each WRITE and READ; the server exposes 16 KiB

struct Client {
    net::TlsChannel channel;
    std::vector<std::byte> memory;  // what it writes, what it reads back, and what it SENDs
    rdma::Pd pd;
    rdma::Mr mr;
    rdma::Cq cq;
    rdma::Qp qp;
    net::Endpoint mine, theirs;
    std::uint64_t requests = 0;

    Client(unsigned number, net::TlsContext& tls, net::Socket socket, const lesson06::Port& port,
           const net::TimeLimit& limit)
        : channel(tls, std::move(socket), limit),
          memory(common::pattern(2 * size + lesson08::message_size,
                                 fmt::format("Client {}. ", number))),
          pd(CHECK_PTR(ibv_alloc_pd(port.context.get()))),
          mr(CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE))),
          cq(CHECK_PTR(ibv_create_cq(port.context.get(), 1, nullptr, nullptr, 0))),
          qp(lesson08::make_qp(pd.get(), cq.get(), 1)) {
        std::ranges::fill(part(IBV_WR_RDMA_READ), std::byte{0});
        mine = lesson08::endpoint_of(*qp, port, *mr);
        net::send_endpoint(channel, mine, limit);
        theirs = net::receive_endpoint(channel, limit);
        lesson06::to_init(qp.get(), port, 0);
        lesson06::to_rtr(qp.get(), port, theirs);
        lesson06::to_rts(qp.get(), mine.psn);
        net::barrier(channel, limit);
    }

    std::span<std::byte> part(ibv_wr_opcode opcode) {
        return opcode == IBV_WR_RDMA_WRITE  ? std::span(memory).first(size)
               : opcode == IBV_WR_RDMA_READ ? std::span(memory).subspan(size, size)
                                            : std::span(memory).last(lesson08::message_size);
    }

    void post(ibv_wr_opcode opcode) {
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(part(opcode).data()),
                    .length = static_cast<std::uint32_t>(part(opcode).size()),
                    .lkey = mr->lkey};
        ibv_send_wr wr{.wr_id = ++requests,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = opcode,
                       .send_flags = IBV_SEND_SIGNALED,
                       .wr = {.rdma = {.remote_addr = theirs.va, .rkey = theirs.rkey}}};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
    }
};

void run(std::uint64_t count, std::uint64_t rounds, const common::ClientOptions& options,
         net::TlsContext& tls, runlog::Log& log, util::StopSignal& stop) {
    const auto deadline = [&] { return util::deadline_in(options.timeout); };
    const util::Address server = options.resolve_server();
    const auto source = options.local.resolve(0, server.is_ipv6());
    const auto port = lesson06::open_port(source ? *source : net::local_address_towards(server));

    // 1. Connect the clients, one after another.
    std::list<Client> clients;
    for (unsigned number = 1; number <= count; ++number) {
        const net::TimeLimit limit{stop, deadline()};
        clients.emplace_back(number, tls, net::connect_tcp(server, source, limit), port, limit);
        log.event("psn", lesson08::describe_psn(clients.back().mine));
    }
    log.note(fmt::format("{} clients are connected", count));

    // 2. WRITE and READ involve only the server's device; the SEND tells its program about them.
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND}) {
            for (Client& client : clients)
                client.post(opcode);
            for (const Client& client : clients)
                rdma::expect_success(common::next_completion(client.cq.get(), stop, deadline()),
                                     "a request");
        }
        for (Client& client : clients)
            if (!std::ranges::equal(client.part(IBV_WR_RDMA_WRITE), client.part(IBV_WR_RDMA_READ)))
                throw util::Error("the bytes READ back differ from the bytes written.");
    }

    // 3. No request of a client is outstanding: the server may drain and destroy its queue pair.
    for (Client& client : clients) {
        net::finish(client.channel, {stop, deadline()});
        client.qp.reset();
        client.channel.close({stop, deadline()});
    }
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client", "Lesson 08, client: many clients in one process.");
    common::ClientOptions options{.timeout = std::chrono::seconds(30)};
    common::SecureOptions secure;
    std::uint64_t clients = 3;
    std::uint64_t operations = 1;
    command_line.add(options);
    command_line.add(secure);
    command_line.number("--clients", clients, 1, 100'000, "Clients to run concurrently");
    command_line.number("--operations", operations, 1, 1u << 30, "Rounds of requests per client");
    return command_line.main(
        argc, argv, common::traced([&](runlog::Log& log, util::StopSignal& stop) {
            const auto tls = lesson07::open_tls(net::TlsRole::Client, secure, log);
            run(clients, operations, options, *tls, log, stop);
            return 0;
        }));
}
