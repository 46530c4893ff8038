// Step 08, the active side: one client, or many independent ones in one process. Each is step 07's;
// all are connected before one of them works, and all have worked before one leaves.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "crowd.hpp"
#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/secure.hpp"
#include "examples/common/transfer.hpp"
#include "report.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/limits.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

namespace {

using step08::Report;

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t clients = 3;
    std::uint64_t at_once = 32;
    std::uint64_t operations = 1;
    std::uint64_t length = 10'000;
};

constexpr unsigned in_full = 10;  // clients whose every event is in the log

// What all clients of this process have in common.
struct Common {
    const Options& options;
    runlog::Log& log;
    util::StopSignal& stop;
    exchange::TlsContext& tls;
    util::Address server;
    std::optional<util::Address> source;
    verbs::DevicePort device;
    ibv_port_attr port;
};

class Client {
  public:
    Client(Common& common, unsigned number)
        : common_(common),
          log_(number <= in_full ? &common.log : nullptr),
          outgoing_(common::pattern(common.options.length, fmt::format("Client {}. ", number))),
          returned_(common.options.length) {}

    // 1. As in step 07, but with the time that each phase takes.
    void connect() {
        const exchange::Patience patience = this->patience();
        service::Stopwatch watch;
        exchange::Socket socket = exchange::connect_tcp(common_.server, common_.source, patience);
        time(service::Phase::Tcp, watch);
        channel_.emplace(common_.tls, std::move(socket), patience);
        time(service::Phase::Tls, watch);
        make_queue_pair();
        const verbs::Gid& gid = common_.device.gid;
        exchange::Endpoint mine{
            .qpn = qp_->qp_num,
            .psn = step07::random_psn(),
            .lid = common_.port.lid,
            .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(common_.port.active_mtu))};
        std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
        time(service::Phase::Qp, watch);
        exchange::send_endpoint(*channel_, mine, patience);
        const exchange::Endpoint theirs = exchange::receive_endpoint(*channel_, patience);
        time(service::Phase::Exchange, watch);
        if (theirs.length < common_.options.length)
            throw util::Error(fmt::format(
                "the server lends {} bytes, fewer than --length {}. Start it with a larger "
                "--memory.",
                theirs.length, common_.options.length));
        remote_ = {.va = theirs.va, .rkey = theirs.rkey};
        verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
        std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
        verbs::to_init(qp_.get(), gid.port, 0);
        verbs::to_rtr(qp_.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
        verbs::to_rts(qp_.get(), mine.psn);
        time(service::Phase::Qp, watch);
        exchange::meet(*channel_, patience);
        time(service::Phase::Exchange, watch);
        if (log_ != nullptr) {
            log_->event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
            log_->event("exchange", exchange::describe(mine, "sent", channel_->name()));
            log_->event("exchange", exchange::describe(theirs, "received", channel_->name()));
            log_->event("qp_state", verbs::query_state(qp_.get()));
        }
    }

    // 2. WRITE and READ are between the devices: the server's processor learns of them by the SEND.
    void work() {
        auto psns = verbs::PsnPredictor::of(qp_.get());
        const common::Requester requester{
            qp_.get(), psns, *completions_, common_.options.client.timeout, log_, common_.stop};
        std::uint64_t wr_id = 0;
        for (std::uint64_t round = 0; round < common_.options.operations; ++round) {
            std::ranges::fill(returned_, std::byte{0});
            perform(requester, IBV_WR_RDMA_WRITE, ++wr_id, *outgoing_mr_);
            perform(requester, IBV_WR_RDMA_READ, ++wr_id, *returned_mr_);
            if (!std::ranges::equal(outgoing_, returned_))
                throw util::Error("the bytes READ back differ from the bytes written.");
            Report{1, outgoing_.size(), 1, returned_.size()}.write_to(report_);
            perform(requester, IBV_WR_SEND, ++wr_id, *report_mr_);
        }
    }

    // 3. Nothing of mine is on its way: the server may drain and let go; then so may I.
    void disconnect() {
        const exchange::Patience patience = this->patience();
        exchange::finish(*channel_, patience);
        verbs::to_error(qp_.get());
        ibv_wc wc{};
        if (ibv_poll_cq(completions_->cq.get(), 1, &wc) != 0)
            throw util::Error("a request was still on its way at the end.");
        if (log_ != nullptr)
            log_->event("qp_state", verbs::query_state(qp_.get()));
        qp_.reset();
        channel_->close(patience);
    }

    const service::PhaseTimes& times() const { return times_; }

  private:
    void make_queue_pair() {
        ibv_context* context = common_.device.context.get();
        pd_.reset(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd"));
        outgoing_mr_ = verbs::register_memory(pd_.get(), outgoing_, 0);
        returned_mr_ = verbs::register_memory(pd_.get(), returned_, IBV_ACCESS_LOCAL_WRITE);
        report_mr_ = verbs::register_memory(pd_.get(), report_, 0);
        completions_.emplace(context, 1);
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = completions_->cq.get();
        attributes.recv_cq = completions_->cq.get();
        attributes.cap = {.max_send_wr = 1,
                          .max_recv_wr = 1,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = 0};
        qp_.reset(util::check_ptr(ibv_create_qp(pd_.get(), &attributes), "ibv_create_qp"));
        if (log_ != nullptr)
            log_->event("qp", verbs::describe(*qp_, attributes.cap));
    }

    void perform(const common::Requester& requester, ibv_wr_opcode opcode, std::uint64_t wr_id,
                 const ibv_mr& local) const {
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                      .length = static_cast<std::uint32_t>(local.length),
                      .lkey = local.lkey};
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        if (opcode != IBV_WR_SEND) {
            wr.wr.rdma.remote_addr = remote_.va;
            wr.wr.rdma.rkey = remote_.rkey;
        }
        common::perform(requester, wr);
    }

    exchange::Patience patience() const {
        return {common_.stop, util::deadline_in(common_.options.client.timeout)};
    }
    void time(service::Phase phase, service::Stopwatch& watch) {
        times_[static_cast<std::size_t>(phase)] += watch.lap();
    }

    Common& common_;
    runlog::Log* log_;  // null: too many clients to write down what each does
    service::PhaseTimes times_{};
    std::optional<exchange::TlsChannel> channel_;
    std::vector<std::byte> outgoing_, returned_;
    std::array<std::byte, Report::size> report_{};
    common::RemoteMemory remote_;
    verbs::Pd pd_;
    verbs::Mr outgoing_mr_, returned_mr_, report_mr_;
    std::optional<verbs::CompletionQueue> completions_;
    verbs::Qp qp_;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    util::need_open_files(2 * options.clients + 32,  // each has a socket and a completion channel
                          fmt::format("--clients {}", options.clients));
    const util::Address server = options.client.resolve_server();
    const auto source = options.client.local.resolve(0, server.is_ipv6());
    const auto tls = step07::open_tls(exchange::TlsRole::Client, options.secure, log);
    verbs::DevicePort device =
        verbs::open_device_of(source ? *source : exchange::local_address_towards(server));
    log.event("device", verbs::describe_device(device.context.get(), device.gid.port, &device.gid));
    const ibv_port_attr port = verbs::query_port(device.context.get(), device.gid.port);
    Common common{options, log, stop, *tls, server, source, std::move(device), port};
    std::vector<std::unique_ptr<Client>> clients;
    for (unsigned number = 1; number <= options.clients; ++number)
        clients.push_back(std::make_unique<Client>(common, number));
    step08::Crowd<Client> crowd(std::move(clients), log);
    crowd.each("are connected", options.at_once, &Client::connect);
    crowd.log_setup();
    crowd.each("have worked", options.clients, &Client::work);
    crowd.each("have left", options.clients, &Client::disconnect);
    return crowd.failures() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Step 08, client: one or many clients, each with a queue pair of its own.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);  // a thousand of us take their time
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--clients", options.clients, 1, 100'000, "Be so many clients at once");
    command_line.number("--at-once", options.at_once, 1, 100'000,
                        "Of them, connect so many at the same time");
    command_line.number("--operations", options.operations, 1, 1'000'000'000,
                        "Rounds of WRITE, READ and SEND of each client");
    command_line.number("--length", options.length, 1, 1u << 30, "Bytes to write and read back");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
