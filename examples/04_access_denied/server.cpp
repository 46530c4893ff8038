// Lesson 04, the server: exposes memory, with one thing wrong in each case. The device refuses the
// client's request without involving this program.
#include <string>
#include <vector>

#include "examples/common/cm_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/tracer.hpp"
#include "refusal.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

constexpr std::size_t memory_size = 4096;

lesson04::Refusal asked_for(std::span<const std::byte> request) {
    if (request.empty() || std::to_integer<std::size_t>(request[0]) >= lesson04::refusals.size())
        throw util::Error(
            "the client requests an unknown kind of access. Is it the client of another lesson?");
    return static_cast<lesson04::Refusal>(request[0]);
}

void serve(common::CmSession& session, runlog::Log& log) {
    const lesson04::Refusal refusal = asked_for(session.request());
    log.note("this client tries " + std::string(text(refusal)));

    // 1. Access rights belong to the memory region. They are set here, and the device checks them
    // for each packet.
    const bool is_read_only = refusal == lesson04::Refusal::MissingRight;
    std::vector<std::byte> memory(memory_size);
    rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(session.pd(), memory.data(), memory.size(),
                             IBV_ACCESS_LOCAL_WRITE | (is_read_only ? IBV_ACCESS_REMOTE_READ
                                                                    : IBV_ACCESS_REMOTE_WRITE)))};
    const rdma::Capability capability{.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                                      .length = memory.size(),
                                      .rkey = mr->rkey};

    // 2. Without its region, an rkey is only a number.
    if (refusal == lesson04::Refusal::Deregistered) {
        CHECK_RC(ibv_dereg_mr(mr.release()));
        log.note("deregistered: the client's rkey is no longer valid");
    }

    // 3. The program's part ends here: it waits until the client has disconnected.
    session.make_qp({.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1});
    session.accept(capability);
    session.await_established();
    while (session.stays_connected()) {
    }

    // 4. No byte has changed.
    log.event("memory", common::describe_memory(memory));
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::CmServer server(options, log, stop);
    server.serve_each([&](common::CmSession& session) { serve(session, log); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 04, server: exposes memory, and refuses the client's accesses.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
