// Lesson 02, the client: SENDs. It knows no address or rkey of the server's memory, and it does not
// know whether the server is ready.
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    std::uint64_t length = 64;
    std::uint64_t count = 2;
    std::uint64_t rnr_retries = 7;
};

void send(ibv_qp* qp, std::uint64_t wr_id, const ibv_mr& local, util::StopSignal& stop,
          std::chrono::milliseconds time) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    const auto wc = common::next_completion(qp->send_cq, stop, util::deadline_in(time));
    if (wc && wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
        throw util::Error(
            "the server had no receive posted, and all RNR retries of the device were used "
            "(RNR_RETRY_EXC_ERR). Try a larger --rnr-retries; 7 means \"without limit\".");
    rdma::expect_success(wc, rdma::name_of(wr.opcode));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // 1. Connect. In rdma_cm, each side sets the RNR retries of the *other* side's device: the
    // request carries the number, and the server accepts with it.
    common::CmClient client(options.client, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(options.length, "Are you ready? ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(client.pd(), bytes.data(), bytes.size(), 0))};
    client.make_qp({.max_send_wr = 2,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0});
    const auto request = static_cast<std::byte>(options.rnr_retries);
    client.connect({&request, 1});

    // 2. The first SEND is too early. The device retries until the server has posted a receive;
    // this program only sees that the completion takes long.
    for (std::uint64_t wr_id = 1; wr_id <= options.count; ++wr_id)
        send(client.qp(), wr_id, *mr, stop, options.client.timeout);

    client.disconnect();
    log.note(std::to_string(options.count) + " messages arrived");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Lesson 02, client: SENDs to a server that is not ready.");
    Options options;
    command_line.add(options.client);
    command_line.number("--length", options.length, 1, 1u << 20, "Bytes of each message");
    command_line.number("--count", options.count, 1, 1000, "Messages");
    command_line.number("--rnr-retries", options.rnr_retries, 0, 7,
                        "Retries of the device after an RNR NAK;\n7: without limit");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
