// Step 09, the side that is attacked: it lends memory, and tells what became of it, of its queue
// pair and of its device's counters. It knows nothing of the forgeries.
#include <libdeflate.h>
#include <vector>

#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/secure.hpp"
#include "exchange/tls.hpp"
#include "forge/dialogue.hpp"
#include "forge/lab_only.hpp"
#include "link.hpp"
#include "verbs/counters.hpp"
#include "verbs/describe.hpp"
#include "verbs/psn.hpp"

namespace {

constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::chrono::milliseconds exchange_time{10'000};
constexpr std::size_t memory_size = 4096;
constexpr std::size_t message_size = 64;
// A request of this side is never repeated: it stays outstanding until somebody answers.
constexpr verbs::RetryPolicy no_retry{.timeout = 0};

class Session {
  public:
    Session(exchange::Channel& channel, verbs::DevicePort device, runlog::Log& log,
            util::StopSignal& stop)
        : channel_(channel), log_(log), stop_(stop), device_(std::move(device)) {
        log.event("device", verbs::describe_device(context(), device_.gid.port, &device_.gid));
        log.event("mr", verbs::describe(*lent_mr_, access_rights));
        log.event("mr", verbs::describe(*other_mr_, access_rights));
    }

    void serve() {
        witness_ = connect(other_pd_.get(), witness_cq_, *other_mr_);
        while (true) {
            std::array<std::byte, forge::request_size> bytes{};
            channel_.receive(bytes, {stop_, std::nullopt});
            const forge::Request request = forge::parse_request(bytes);
            if (request.ask == forge::Ask::Done)
                break;
            obey(request.ask);
            channel_.send(forge::serialize(report(request.received)), patience());
        }
        log_.event("memory", common::describe_memory(lent_));
    }

  private:
    ibv_context* context() const { return device_.context.get(); }
    exchange::Patience patience() { return {stop_, util::deadline_in(exchange_time)}; }

    void obey(forge::Ask ask) {
        switch (ask) {
            case forge::Ask::Connect:
                std::ranges::fill(lent_, std::byte{0});
                target_ = connect(pd_.get(), target_cq_, *lent_mr_);
                break;
            case forge::Ask::Reconnect:
                exchange_and_raise(target_, target_.mine.psn, reused_source, *lent_mr_);
                break;
            case forge::Ask::Renew:
                exchange_and_raise(target_, step07::random_psn(), random_source, *lent_mr_);
                break;
            case forge::Ask::PostWrite:
                post(IBV_WR_RDMA_WRITE);
                break;
            case forge::Ask::PostRead:
                std::ranges::fill(returned_, std::byte{0});
                post(IBV_WR_RDMA_READ);
                break;
            case forge::Ask::Report:
            case forge::Ask::Done:
                break;
        }
    }

    Link connect(ibv_pd* pd, const verbs::CompletionQueue& completions, const ibv_mr& lent) {
        Link link{.qp = make_qp(pd, completions), .mine = {}, .theirs = {}};
        exchange_and_raise(link, step07::random_psn(), random_source, lent);
        return link;
    }

    void exchange_and_raise(Link& link, std::uint32_t psn, std::string_view psn_source,
                            const ibv_mr& lent) {
        reset(link.qp.get());
        link.mine = endpoint_of(*link.qp, psn, device_.gid, &lent);
        announce(link.mine, psn_source, log_);
        link.theirs = exchange::receive_endpoint(channel_, patience());
        exchange::send_endpoint(channel_, link.mine, patience());
        raise(link, device_.gid, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, no_retry);
        log_.event("qp_state", verbs::query_state(link.qp.get()));
        exchange::meet(channel_, patience());
    }

    // A request that the peer's queue pair does not answer: there is nothing at this address.
    void post(ibv_wr_opcode opcode) {
        const ibv_mr& local = opcode == IBV_WR_RDMA_READ ? *returned_mr_ : *outgoing_mr_;
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                      .length = message_size,
                      .lkey = local.lkey};
        ibv_send_wr wr{};
        wr.wr_id = ++posted_;
        wr.opcode = opcode;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        auto psns = verbs::PsnPredictor::of(target_.qp.get());
        log_.event("post_send", verbs::describe(*target_.qp, wr, psns.take(opcode, message_size)));
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(target_.qp.get(), &wr, &refused), "ibv_post_send");
    }

    // The kernel answers with counters up to 10 ms old (ib_core's "lifespan"); the client knows
    // what the next ones must have reached.
    verbs::Counters count(std::uint64_t at_least) {
        const util::Deadline deadline = util::deadline_in(exchange_time);
        constexpr std::chrono::milliseconds pause{2};
        while (true) {
            auto counters =
                verbs::read_counters(ibv_get_device_name(context()->device), device_.gid.port);
            const auto received = counters.find("rcvd_pkts");
            if (received == counters.end() || received->second >= at_least ||
                util::is_past(deadline) ||
                util::wait_readable(stop_.fd(), stop_, util::deadline_in(pause)) ==
                    util::Ready::stop)
                return counters;
        }
    }

    forge::Report report(std::uint64_t at_least) {
        const verbs::Counters counters = count(at_least);
        const auto counter = [&](const char* name) {
            const auto it = counters.find(name);
            return it == counters.end() ? std::optional<std::uint64_t>() : it->second;
        };
        ibv_qp_attr attributes{};
        ibv_qp_init_attr unused{};
        if (target_.qp)
            util::check_rc(
                ibv_query_qp(target_.qp.get(), &attributes, IBV_QP_STATE | IBV_QP_RQ_PSN, &unused),
                "ibv_query_qp");
        forge::Report report{.state = static_cast<std::uint8_t>(attributes.qp_state),
                             .rq_psn = attributes.rq_psn,
                             .memory_crc = lent_crc(),
                             .read_crc = libdeflate_crc32(0, returned_.data(), returned_.size()),
                             .received = counter("rcvd_pkts"),
                             .sent = counter("sent_pkts"),
                             .duplicate = counter("duplicate_request"),
                             .out_of_sequence = counter("out_of_seq_request")};
        std::copy_n(lent_.begin(), report.begins.size(), report.begins.begin());
        ibv_wc wc{};
        if (ibv_poll_cq(target_cq_.cq.get(), 1, &wc) == 1) {
            report.completion = static_cast<std::uint8_t>(wc.status);
            log_.event("wc", verbs::describe(wc));
        }
        return report;
    }

    // Of the memory on both connections: the witness's is not to change either.
    std::uint32_t lent_crc() const {
        return libdeflate_crc32(libdeflate_crc32(0, lent_.data(), lent_.size()), other_.data(),
                                other_.size());
    }

    exchange::Channel& channel_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    verbs::DevicePort device_;
    verbs::Pd pd_{util::check_ptr(ibv_alloc_pd(context()), "ibv_alloc_pd")};
    verbs::Pd other_pd_{util::check_ptr(ibv_alloc_pd(context()), "ibv_alloc_pd")};
    std::vector<std::byte> lent_ = std::vector<std::byte>(memory_size);
    std::vector<std::byte> other_ = std::vector<std::byte>(memory_size);
    std::vector<std::byte> outgoing_ = common::pattern(message_size, "For the client. ");
    std::vector<std::byte> returned_ = std::vector<std::byte>(message_size);
    verbs::Mr lent_mr_ = verbs::register_memory(pd_.get(), lent_, access_rights);
    verbs::Mr other_mr_ = verbs::register_memory(other_pd_.get(), other_, access_rights);
    verbs::Mr outgoing_mr_ = verbs::register_memory(pd_.get(), outgoing_, 0);
    verbs::Mr returned_mr_ = verbs::register_memory(pd_.get(), returned_, IBV_ACCESS_LOCAL_WRITE);
    verbs::CompletionQueue witness_cq_{context(), 4};
    verbs::CompletionQueue target_cq_{context(), 16};
    Link witness_;
    Link target_;
    std::uint64_t posted_ = 0;
};

struct Options {
    common::ServerOptions server;
    common::SecureOptions secure;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto address = options.server.address();
    if (!address.is_any())
        forge::require_lab(address);
    const auto tls = step07::open_tls(exchange::TlsRole::Server, options.secure, log);
    common::serve_each(address, log, stop, [&](exchange::Socket socket) {
        forge::require_lab(socket.peer);
        exchange::TlsChannel channel(*tls, std::move(socket),
                                     {stop, util::deadline_in(exchange_time)});
        Session(channel, verbs::open_device_of(channel.socket().local()), log, stop).serve();
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 09, server: lends memory, and reports what forged packets did to it.");
    Options options;
    command_line.add(options.server);
    command_line.add(options.secure);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
