// Lesson 18, the client, with an attacker: the forgeries of lesson 09 against RoCE in ESP. Lab
// only.
#include <net/if.h>
#include <optional>
#include <string>

#include "attacker.hpp"
#include "esp.hpp"
#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/09_forged_packets/lab_only.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "trials.hpp"
#include "util/check.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    bool no_esp = false;
    std::string esp_sa;
};

std::string interface_of(const lesson06::Port& port) {
    ibv_gid_entry entry{};
    CHECK_RC(ibv_query_gid_ex(port.context.get(), port.number, port.gid_index, &entry, 0));
    std::array<char, IF_NAMESIZE> name{};
    return CHECK_PTR(if_indextoname(entry.ndev_ifindex, name.data()));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::chrono::milliseconds timeout = options.client.timeout;
    const util::Address server = options.client.resolve_server();
    lesson09::require_lab(server);
    if (!options.no_esp)
        lesson18::prepare();
    const net::TimeLimit limit{stop, util::deadline_in(timeout)};
    const auto tls = lesson07::open_tls(net::TlsRole::Client, options.secure, log);
    net::TlsChannel channel(
        *tls, net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit),
        limit);

    // 1. As in lesson 07: a queue pair with a random PSN, and the exchange of endpoints over TLS.
    const lesson06::Port port = lesson06::open_port(channel.socket().local());
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    std::vector<std::byte> outgoing = common::pattern(lesson18::Report::shown, "Honest. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), outgoing.data(), outgoing.size(), 0))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(port.context.get(), 1, nullptr, nullptr, 0))};
    ibv_qp_init_attr attributes{
        .send_cq = cq.get(),
        .recv_cq = cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &attributes))};
    net::Endpoint mine{.qpn = qp->qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);

    // 2. Exchange the keys over TLS, too. Each side chooses those for the packets to it.
    const lesson18::Sa in = options.no_esp ? lesson18::Sa{} : lesson18::Sa::random();
    channel.send(in.serialize(), limit);
    std::array<std::byte, lesson18::Sa::size> bytes{};
    channel.receive(bytes, limit);
    const lesson18::Sa out = lesson18::Sa::parse(bytes);
    std::optional<lesson18::Esp> esp;
    if (!options.no_esp)
        esp.emplace(channel.socket().local(), channel.peer(), in, out);
    if (esp && !options.esp_sa.empty())
        esp->write_for_wireshark(options.esp_sa, in, out);

    // 3. From RESET to RTS; nothing may be sent before both hosts have their keys.
    lesson06::to_init(qp.get(), port, 0);
    lesson06::to_rtr(qp.get(), port, theirs);
    lesson06::to_rts(qp.get(), mine.psn);
    net::barrier(channel, {stop, util::deadline_in(timeout)});

    // 4. An honest WRITE. The attacker records its packet and learns all that the client knows
    // except the keys: address, rkey, QPN and the next PSN.
    lesson18::Attacker attacker(interface_of(port));
    const common::RemoteMemory remote{.va = theirs.va, .rkey = theirs.rkey};
    common::transfer(qp.get(), 1, IBV_WR_RDMA_WRITE, *mr, remote, stop, timeout);
    wire::Gid me;
    std::memcpy(me.bytes.data(), mine.gid.data(), mine.gid.size());
    const lesson09::CapturedFrame seen = attacker.record(me, stop, util::deadline_in(timeout));
    log.note(lesson09::is_esp(seen.packet()) ? "on the interface: ESP"
                                             : "on the interface: plain RoCE");

    // 5. The forgeries. An honest WRITE of no bytes follows each one: when it completes, the
    // server's kernel has processed both.
    lesson18::Trials trials(channel, stop, timeout, log);
    std::uint32_t sent = 1;
    const auto attempt = [&](std::string_view what, const lesson09::Frame& frame) {
        attacker.send(frame);
        ibv_send_wr nothing{.wr_id = ++sent,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_SIGNALED,
                            .wr = {.rdma = {.remote_addr = theirs.va, .rkey = theirs.rkey}}};
        common::perform(qp.get(), nothing, stop, timeout);
        trials.judge(what);
    };
    const auto forged = common::pattern(lesson18::Report::shown, "Forged. ");
    attempt("plain RoCE WRITE, every field right",
            lesson18::plain_write(seen, theirs, wire::Psn(mine.psn + sent), forged));
    if (esp) {
        const std::size_t header = lesson18::esp_at(seen);
        attempt("the recorded ESP packet, once more", seen.frame);
        attempt("the same with a later sequence number", lesson18::changed(seen, header + 5));
        attempt("the same with another SPI", lesson18::changed(seen, header + 3));
    }
    trials.finish();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 18, client: sends RoCE in ESP, and injects forged packets. In the lab only.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.flag("--no-esp", options.no_esp,
                      "Use plain RoCE, for comparison: the forgery succeeds");
    command_line.text("--esp-sa", options.esp_sa,
                      "Write the keys to this file, in the format of Wireshark's esp_sa");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
