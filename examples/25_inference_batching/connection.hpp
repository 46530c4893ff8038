// Lesson 25, a client's connection: slots on the server for its batches, and memory for the results
// that the server writes.
#pragma once

#include <array>
#include <deque>
#include <string>

#include "examples/common/cm_client.hpp"
#include "slots.hpp"
#include "util/check.hpp"

namespace lesson25 {

/// A client's parameters for its server.
struct Terms {
    Shape shape;
    std::uint16_t clients = 1;  // Greeting::clients
    std::string wrong;          // what to corrupt in the first batch: "id", "count" or "length"
};

/// A result may arrive before the notice of its batch has completed: so twice as many batches as
/// slots.
constexpr std::uint32_t max_client_sends(const Shape& shape) {
    return 2u * shape.depth * (shape.batch + 1u);
}
constexpr std::uint32_t max_client_receives(const Shape& shape) {
    return shape.depth + 1u;  // one for the start message
}

/// Every call throws util::Error or std::system_error on failure.
struct Connection {
    Terms terms;
    ClientSlots slots;
    std::vector<Output> results;                 // by slot: written by the server
    std::array<std::byte, Header::size> header;  // of the posted batch
    common::CmClient client;
    rdma::Mr inputs_mr, results_mr;
    rdma::Capability remote{};  // the server's slots
    std::uint64_t wr_id = 0;
    std::uint32_t in_queue = 0;         // outstanding requests,
    std::deque<std::uint32_t> lists{};  // and their number in each batch

    /// `inputs`: of all requests. They and the references must outlive the connection.
    Connection(const common::ClientOptions& options, const Terms& wanted, std::span<Input> inputs,
               runlog::Log& log, util::StopSignal& stop)
        : terms(wanted),
          slots(wanted.shape),
          results(wanted.shape.results()),
          header{},
          client(options,
                 static_cast<int>(max_client_sends(terms.shape) + max_client_receives(terms.shape)),
                 log, stop),
          inputs_mr(CHECK_PTR(ibv_reg_mr(client.pd(), inputs.data(), inputs.size_bytes(), 0))),
          results_mr(
              CHECK_PTR(ibv_reg_mr(client.pd(), results.data(), results.size() * sizeof(Output),
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))) {
        client.make_qp({.max_send_wr = max_client_sends(terms.shape),
                        .max_recv_wr = max_client_receives(terms.shape),
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = Header::size});
        for (std::uint32_t i = 0; i < max_client_receives(terms.shape); ++i)
            post_receive();
        const Greeting greeting{{.va = reinterpret_cast<std::uintptr_t>(results.data()),
                                 .length = results_mr->length,
                                 .rkey = results_mr->rkey},
                                terms.shape,
                                terms.clients};
        log.event("exchange", rdma::describe(greeting.results, "sent"));
        remote = client.connect(greeting.serialize());
        if (remote.length != terms.shape.slots_size())
            throw util::Error(
                "the server exposes other slots than requested. Is it the server of another "
                "lesson?");
    }
    Connection(const Connection&) = delete;  // the device has the address of its memory
    Connection& operator=(const Connection&) = delete;
    Connection(Connection&&) = delete;
    Connection& operator=(Connection&&) = delete;
    ~Connection() = default;

    /// Posts a receive for the notice of a result.
    void post_receive() {
        ibv_recv_wr wr{};
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(client.qp(), &wr, &bad_wr));
    }

    /// Returns true if a slot is free and the send queue has room for a full batch.
    bool may_send() const {
        return slots.has_free() &&
               in_queue + terms.shape.batch + 1u <= max_client_sends(terms.shape);
    }

    std::string unanswered() const {
        return fmt::format("{} batch{}", slots.outstanding(), slots.outstanding() == 1 ? "" : "es");
    }
};

}  // namespace lesson25
