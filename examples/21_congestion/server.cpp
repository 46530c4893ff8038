// Lesson 21, the server: exposes memory to WRITEs that pass a bottleneck.
#include <vector>

#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"
#include "util/check.hpp"

namespace {

// One transfer: waits until the client is done, and reports what has arrived.
void expose(const common::RcSide& side, std::uint64_t size) {
    std::vector<std::byte> memory(size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context, 1, nullptr, nullptr, 0))};
    const common::RcConnection connection(
        side, {.cq = cq.get(), .first_psn = 0x5e2000, .exposed = mr.get()});
    side.barrier();
    const common::Counted counted(side.context, side.gid);
    side.barrier_without_limit();
    side.log.event("memory", common::describe_memory(memory));
    common::ReceiverReport{common::crc_of(memory),
                           static_cast<std::uint32_t>(counted.since("out_of_seq_request")),
                           static_cast<std::uint32_t>(counted.since("duplicate_request"))}
        .send(side.channel, side.limit());
}

void serve(const common::RcSide& side) {
    while (const auto memory =
               lesson21::Ask::receive(side.channel, {side.stop, std::nullopt}).memory)
        expose(side, memory);
    side.barrier();
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Lesson 21, server: exposes memory behind a bottleneck.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, common::traced([&](auto& log, auto& stop) {
                                 common::serve_rc_clients(options.address(), log, stop, serve);
                                 return 0;
                             }));
}
