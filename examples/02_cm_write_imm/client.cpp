// Step 02, the active side: one WRITE that nobody hears of, then WRITEs with immediate data, each
// of which wakes the server.
#include <arpa/inet.h>
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "slots.hpp"
#include "util/error.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"

namespace {

// `wr_id` is the number of the message, and fills the slot of that number.
void write(common::CmClient& client, ibv_wr_opcode opcode, std::uint32_t wr_id, const ibv_mr& local,
           const cm::Capability& remote) {
    const std::uint32_t slot = wr_id % step02::slots;
    ibv_sge piece = common::piece_of(local);
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va + std::uint64_t{slot} * step02::slot_size;
    wr.wr.rdma.rkey = remote.rkey;
    // 32 bits of the program's own, in network byte order by custom. Without _WITH_IMM they stay
    // here.
    wr.imm_data = htonl(slot);
    client.post_send(wr);
    client.expect_success(verbs::name_of(opcode));
}

int run(const common::ClientOptions& options, std::size_t length, std::uint64_t count,
        runlog::Log& log, util::StopSignal& stop) {
    // 1. Connect as in step 01.
    common::CmClient client(options, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(length, "Wake up. ");
    const verbs::Mr mr = verbs::register_memory(client.pd(), bytes, 0);
    log.event("mr", verbs::describe(*mr, 0));
    client.make_qp({.max_send_wr = 2,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0});
    const cm::Capability remote = client.connect();
    if (remote.length < step02::slots * step02::slot_size)
        throw util::Error(
            "the server lends less memory than step 02's does. Is it another step's?");

    // 2. A WRITE alone: the server's memory changes, its program does not notice.
    write(client, IBV_WR_RDMA_WRITE, 0, *mr, remote);

    // 3. The same with immediate data: data, and a notification that cannot arrive before it.
    for (std::uint32_t i = 1; i <= count; ++i)
        write(client, IBV_WR_RDMA_WRITE_WITH_IMM, i, *mr, remote);

    client.disconnect();
    log.note("one silent WRITE and " + std::to_string(count) + " that were heard");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Step 02, client: WRITEs that notify, by immediate data.");
    common::ClientOptions options;
    command_line.add(options);
    std::uint64_t length = 10'000;
    command_line.number("--length", length, 1, step02::slot_size, "Bytes of each WRITE");
    std::uint64_t count = 3;
    command_line.number("--count", count, 1, 1000, "WRITEs with immediate data");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, length, count, log, stop);
    });
}
