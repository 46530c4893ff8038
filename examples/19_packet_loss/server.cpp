// Lesson 19, the server: exposes memory to WRITEs over a lossy link, and then stops responding.
#include <vector>

#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "protocol.hpp"
#include "util/check.hpp"

namespace {

using namespace lesson19;

// Part 1: exposes memory until the client is done.
void expose(const common::RcSide& side, std::uint64_t size) {
    std::vector<std::byte> memory(size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context, 1, nullptr, nullptr, 0))};
    const common::RcConnection connection(
        side, {.cq = cq.get(), .first_psn = 0x5e1500, .exposed = mr.get()});
    side.barrier();
    const common::Counted counted(side.context, side.gid);
    side.barrier_without_limit();
    side.log.event("memory", common::describe_memory(memory));
    common::ReceiverReport{common::crc_of(memory),
                           static_cast<std::uint32_t>(counted.since("out_of_seq_request")),
                           static_cast<std::uint32_t>(counted.since("duplicate_request"))}
        .send(side.channel, side.limit());
}

// Part 2: destroys the queue pair without notifying the client.
void fall_silent(const common::RcSide& side) {
    {
        const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context, 1, nullptr, nullptr, 0))};
        const common::RcConnection connection(side, {.cq = cq.get(), .first_psn = 0x5e1580});
        side.barrier();
    }
    side.log.note("the queue pair is destroyed; the client is not informed");
    side.barrier();
}

void serve(const common::RcSide& side) {
    while (true) {
        const Ask ask = Ask::receive(side.channel, {side.stop, std::nullopt});
        switch (ask.task) {
            case Task::Expose:
                expose(side, ask.memory);
                break;
            case Task::FallSilent:
                fall_silent(side);
                break;
            case Task::Done:
                return side.barrier();
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 19, server: exposes memory over a link that loses packets, then stops responding.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 common::serve_rc_clients(options.address(), log, stop, serve);
                                 return 0;
                             }));
}
