// The options of faulty: each changes one property of an otherwise correct connection.
#pragma once

#include <cstdint>
#include <string>

#include "examples/common/program.hpp"

namespace faults {

/// Options of both ends. The defaults are those of a connection without a fault.
struct Options {
    // The connection.
    std::string transport = "rc";
    std::uint64_t path_mtu = 1024;
    std::uint64_t psn_offset = 0;
    std::uint64_t qpn_offset = 0;
    std::string destination;
    std::uint64_t sgid_index = no_index;
    std::uint64_t pkey_index = 0;
    std::uint64_t qkey = 0x11111111;
    std::uint64_t ack_timeout = 14;
    std::uint64_t retry_cnt = 6;
    std::uint64_t rnr_retry = 6;
    std::uint64_t rnr_timer = 12;
    std::uint64_t reads = 1;
    std::uint64_t accepted_reads = 1;
    bool stay_in_init = false;
    // Queues and memory.
    std::uint64_t depth = 64;
    std::uint64_t cq_size = 256;
    bool no_polling = false;
    std::uint64_t length = 1000;
    bool read_only_buffer = false;
    bool buffer_of_other_pd = false;
    std::uint64_t lkey_offset = 0;
    std::uint64_t sge_offset = 0;
    std::uint64_t time_limit = 8;

    static constexpr std::uint64_t no_index = 256;
};

struct ServerOptions {
    common::ServerOptions server;
    Options end;
    std::uint64_t memory = 65536;
    std::string region_access = "write,read,atomic";
    std::string qp_access = "write,read,atomic";
    bool region_of_other_pd = false;
    bool deregister = false;
    std::uint64_t deregister_after = 0;
    std::uint64_t receives = 64;
    std::uint64_t receives_after = 0;
    std::uint64_t ready_after = 0;
    std::uint64_t exit_after = 0;
    std::uint64_t destroy_after = 0;
    std::uint64_t error_after = 0;
    std::uint64_t reset_after = 0;

    ServerOptions() { end.time_limit = 12; }  // it outlives its client
    void add_to(common::CommandLine& line);
};

struct ClientOptions {
    common::ClientOptions client;
    Options end;
    std::string operation = "send";
    std::uint64_t count = 8;
    std::uint64_t window = 1;
    std::uint64_t signal_every = 1;
    std::uint64_t interval = 0;
    std::uint64_t rkey_offset = 0;
    std::uint64_t address_offset = 0;

    void add_to(common::CommandLine& line);
};

}  // namespace faults
