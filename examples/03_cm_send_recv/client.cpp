// Step 03, the active side: SENDs. It knows neither an address nor a key of the server's memory,
// and it does not know whether the server is ready.
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "util/error.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    std::uint64_t length = 64;
    std::uint64_t count = 2;
    std::uint64_t rnr_retries = 7;
};

void send(common::CmClient& client, std::uint64_t wr_id, const ibv_mr& local) {
    ibv_sge piece = common::piece_of(local);
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    client.post_send(wr);
    const auto wc = client.completion();
    if (wc && wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
        throw util::Error("the server had no receive posted, and " +
                          std::string("the device's patience was over (RNR_RETRY_EXC_ERR). Give "
                                      "it more --rnr-retries; 7 stands for \"without end\"."));
    verbs::expect_success(wc, verbs::name_of(wr.opcode));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    common::CmClient client(options.client, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(options.length, "Are you ready? ");
    const verbs::Mr mr = verbs::register_memory(client.pd(), bytes, 0);
    log.event("mr", verbs::describe(*mr, 0));
    client.make_qp({.max_send_wr = 2,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0});
    // rdma_cm lets each side say how patient the *other* one's device is. So the number goes to the
    // server, which accepts with it.
    const auto request = static_cast<std::byte>(options.rnr_retries);
    client.connect({&request, 1});

    // The first SEND comes too early. The device tries again until the server has a receive posted;
    // this program sees nothing of it but that the completion takes its time.
    for (std::uint64_t wr_id = 1; wr_id <= options.count; ++wr_id)
        send(client, wr_id, *mr);

    client.disconnect();
    log.note(std::to_string(options.count) + " messages arrived");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Step 03, client: SENDs to a server that is not ready.");
    Options options;
    command_line.add(options.client);
    command_line.number("--length", options.length, 1, 1u << 20, "Bytes of each message");
    command_line.number("--count", options.count, 1, 1000, "Messages");
    command_line.number("--rnr-retries", options.rnr_retries, 0, 7,
                        "How often the device tries again after a RNR NAK;\n7: without end");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
