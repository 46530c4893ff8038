// Lesson 13: a client's connection, and memory for the results of its atomics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "words.hpp"

namespace lesson13 {

/// Every call throws util::Error or std::system_error on failure.
struct Connection {
    std::uint64_t number;              // of the client, from 1
    std::uint64_t posted;              // last wr_id posted
    std::uint64_t completed = posted;  // last wr_id completed; completions are in order
    std::vector<std::uint64_t> found;  // a word's previous value: a slot for each atomic in flight
    common::CmClient client;
    rdma::Mr mr;
    rdma::Capability remote;  // the words

    Connection(std::uint64_t client_number, const common::ClientOptions& options,
               std::size_t in_flight, runlog::Log& log, util::StopSignal& stop)
        : number(client_number),
          posted(100 * client_number),  // wr_ids in the log show the client
          found(in_flight),
          client(options, static_cast<int>(in_flight), log, stop),
          mr(CHECK_PTR(ibv_reg_mr(client.pd(), found.data(), in_flight * sizeof(found[0]),
                                  IBV_ACCESS_LOCAL_WRITE))) {
        const ibv_device_attr device = query_device(client.id()->verbs);
        if (number == 1)
            log_device(client.id()->verbs, device, log);
        client.make_qp({.max_send_wr = static_cast<std::uint32_t>(in_flight),
                        .max_recv_wr = 1,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = 0});

        // initiator_depth: READs and atomics that this side has in flight. The server may grant
        // fewer.
        const Key key = Key::WithAtomics;
        rdma_conn_param parameters{
            .private_data = &key,
            .private_data_len = sizeof key,
            .initiator_depth = static_cast<std::uint8_t>(
                std::min<std::size_t>(in_flight, device.max_qp_init_rd_atom)),
            .retry_count = 7,
            .rnr_retry_count = 7};
        CHECK_ERRNO(rdma_connect(client.id(), &parameters));
        remote = client.await_established();
        log_depth(client.qp(), log);
    }

    /// Waits for the oldest atomic in flight and returns its result, which is in `slot`.
    std::uint64_t complete(std::size_t slot, std::string_view what) {
        client.expect_success(what);
        ++completed;
        return found[slot];
    }

    void log_found(std::uint64_t value, std::optional<std::string_view> result, runlog::Log& log) {
        runlog::Fields fields{
            {"qpn", client.qp()->qp_num}, {"wr_id", completed}, {"original", value}};
        if (result)
            fields.emplace_back("result", *result);
        log.event("atomic", std::move(fields));
    }
};

}  // namespace lesson13
