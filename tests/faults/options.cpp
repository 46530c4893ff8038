#include "tests/faults/options.hpp"

namespace faults {

namespace {

constexpr std::uint64_t most = 1'000'000;

void add(common::CommandLine& line, Options& end) {
    line.text("--transport", end.transport, "rc, uc or ud, the same at both ends (default: rc)");
    line.path_mtu(end.path_mtu, "Path MTU of this end's queue pair");
    line.number("--psn-offset", end.psn_offset, 0, 0xffffff,
                "Tell the peer a first PSN that is higher by N than the one in use");
    line.number("--qpn-offset", end.qpn_offset, 0, 0xffffff,
                "Connect to the peer's queue pair number plus N");
    line.text("--destination", end.destination, "Connect to this address in place of the peer's");
    line.number("--sgid-index", end.sgid_index, 0, Options::no_index,
                "Send from this entry of the GID table (256: the entry of the TCP connection)");
    line.number("--pkey-index", end.pkey_index, 0, 0xffff, "Entry of the P_Key table");
    line.number("--qkey", end.qkey, 0, 0xffffffff, "UD: own Q_Key, and that of what is sent");
    line.number("--ack-timeout", end.ack_timeout, 0, 31, "timeout: 4.096 us * 2^N");
    line.number("--retry-cnt", end.retry_cnt, 0, 7, "retry_cnt");
    line.number("--rnr-retry", end.rnr_retry, 0, 7, "rnr_retry");
    line.number("--rnr-timer", end.rnr_timer, 0, 31, "min_rnr_timer");
    line.number("--reads", end.reads, 0, 128, "max_rd_atomic");
    line.number("--accepted-reads", end.accepted_reads, 0, 128, "max_dest_rd_atomic");
    line.flag("--stay-in-init", end.stay_in_init, "Leave the queue pair in INIT");
    line.number("--depth", end.depth, 1, 4096, "max_send_wr");
    line.number("--cq-size", end.cq_size, 1, 4096, "Entries of the completion queue");
    line.flag("--no-polling", end.no_polling, "Leave the completions in the queue");
    line.number("--length", end.length, 0, 1u << 26,
                "Bytes of a message (client) or of a receive buffer (server)");
    line.flag("--read-only-buffer", end.read_only_buffer, "The own buffer lacks LOCAL_WRITE");
    line.flag("--buffer-of-other-pd", end.buffer_of_other_pd,
              "The own buffer is of another protection domain");
    line.number("--lkey-offset", end.lkey_offset, 0, 0xffffffff,
                "Use the own buffer's lkey plus N");
    line.number("--sge-offset", end.sge_offset, 0, 1u << 30, "Use the own buffer's address plus N");
    line.number("--time-limit", end.time_limit, 1, 60,
                "End after so many seconds, whatever happened");
}

}  // namespace

void ServerOptions::add_to(common::CommandLine& line) {
    line.add(server);
    add(line, end);
    line.number("--memory", memory, 1, 1u << 26, "Bytes of the exposed region");
    line.text("--region-access", region_access,
              "Rights of the region: of write, read, atomic, separated by commas; or none");
    line.text("--qp-access", qp_access, "Rights of the queue pair, likewise");
    line.flag("--region-of-other-pd", region_of_other_pd,
              "Register the region in another protection domain");
    line.flag("--deregister", deregister, "Deregister the region before the client begins");
    line.number("--deregister-after", deregister_after, 0, most,
                "Deregister the region N ms after the client began (this and others: 0: never)");
    line.number("--receives", receives, 0, 4096, "Receives to post, once");
    line.number("--receives-after", receives_after, 0, most,
                "Post them N ms after the client began (0: before)");
    line.number("--ready-after", ready_after, 0, most,
                "Go from INIT to RTR and RTS N ms after the client began (0: before)");
    line.number("--exit-after", exit_after, 0, most, "Exit N ms after the client began");
    line.number("--destroy-after", destroy_after, 0, most,
                "Destroy the queue pair N ms after the client began");
    line.number("--error-after", error_after, 0, most,
                "Move the queue pair to ERR N ms after the client began");
    line.number("--reset-after", reset_after, 0, most,
                "Move the queue pair to RESET N ms after the client began");
}

void ClientOptions::add_to(common::CommandLine& line) {
    line.add(client);
    add(line, end);
    line.text("--op", operation, "send, write, write-imm, read or atomic (default: send)");
    line.number("--count", count, 1, most, "Operations");
    line.number("--window", window, 1, 4096, "Operations outstanding at most");
    line.number("--signal-every", signal_every, 0, 4096,
                "Ask for a completion of every Nth operation (0: of none)");
    line.number("--interval", interval, 0, 10'000, "Milliseconds between two operations");
    line.number("--rkey-offset", rkey_offset, 0, 0xffffffff, "Use the server's rkey plus N");
    line.number("--address-offset", address_offset, 0, 1u << 30, "Use the server's address plus N");
}

}  // namespace faults
