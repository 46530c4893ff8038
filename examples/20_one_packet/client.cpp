// Lesson 20, the client: a few messages of one operation, posted together, over a link that applies a
// rule to one of their packets (lab/lab wire). All packets of a message are small, so that a rule
// can select each of them.
#include "examples/common/rc_end.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/names.hpp"
#include "requests.hpp"
#include "util/check.hpp"

namespace {

using lesson20::Found;
using lesson20::Operation;
using lesson20::Plan;

struct Options {
    common::ClientOptions client;
    std::string operation = "all";
    std::uint64_t messages = 3;
    std::uint64_t size = 3072;
    std::uint64_t path_mtu = 1024;
    std::uint64_t first_psn = 0xc19000;
    std::uint64_t ack_timeout = 16;
    std::uint64_t retry_cnt = 6;
    std::uint64_t late_ms = 0;
};

// Checks that all bytes have arrived and nothing was executed twice, whatever the link lost,
// duplicated or delayed.
std::string damage(const Plan& plan, const std::vector<std::byte>& local, const Found& found) {
    switch (plan.operation) {
        case Operation::FetchAdd:
            for (std::uint64_t number = 0; number < plan.messages; ++number) {
                std::uint64_t value = 0;
                std::memcpy(&value, local.data() + number * plan.size, sizeof value);
                if (value != number)
                    return fmt::format("FETCH_ADD {} returned {} instead of {}", number + 1, value,
                                       number);
            }
            if (found.word != plan.messages)
                return fmt::format("the server's word is {} after {} FETCH_ADDs of 1", found.word,
                                   plan.messages);
            return {};
        case Operation::Read:
            return local == common::unlike_bytes(plan.memory())
                       ? ""
                       : "the bytes READ differ from the server's";
        case Operation::Send:
        case Operation::WriteImm:
            if (found.received != plan.messages)
                return fmt::format("the server has received {} messages, and {} were sent",
                                   found.received, plan.messages);
            [[fallthrough]];
        default:
            return found.crc == common::crc_of(local)
                       ? ""
                       : "the server's bytes differ from the bytes sent";
    }
}

void exercise(const common::RcSide& side, const Plan& plan, const Options& options) {
    const bool is_source =
        plan.operation != Operation::Read && plan.operation != Operation::FetchAdd;
    std::vector<std::byte> local =
        is_source ? common::unlike_bytes(plan.memory()) : std::vector<std::byte>(plan.memory());
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(side.pd, local.data(), local.size(), IBV_ACCESS_LOCAL_WRITE))};
    rdma::CompletionQueue completions(side.context, static_cast<int>(plan.messages));
    plan.send(side.channel, side.limit());
    const common::RcConnection link(
        side, {.cq = completions.cq.get(),
               .first_psn = static_cast<std::uint32_t>(options.first_psn),
               .max_send_wr = static_cast<std::uint32_t>(plan.messages),
               .retry = common::RetryPolicy{static_cast<std::uint8_t>(options.ack_timeout),
                                            static_cast<std::uint8_t>(options.retry_cnt)},
               .path_mtu = static_cast<unsigned>(options.path_mtu),
               .reads = lesson20::reads_at_once});
    side.barrier();
    const ibv_wc_status status = lesson20::perform(side, plan, link, *mr, completions);
    side.barrier();
    const Found found = Found::receive(side.channel, side.limit());
    const std::string_view name =
        lesson20::operation_names.at(static_cast<std::size_t>(plan.operation));
    if (status != IBV_WC_SUCCESS)
        throw util::Error(fmt::format("{} failed: {} ({}); its queue pair is in ERR.", name,
                                      rdma::name_of(status), ibv_wc_status_str(status)));
    if (const std::string found_wrong = damage(plan, local, found); !found_wrong.empty())
        throw util::Error(fmt::format("{}: {}.", name, found_wrong));
    side.log.event(
        "check",
        {{"verdict", "good"},
         {"what",
          fmt::format("{} messages by {}: all bytes arrived, and each message was executed once",
                      plan.messages, name)}});
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto operations = lesson20::operations_of(options.operation);
    const common::RcEnd end(options.client, log, stop);
    const common::RcSide& side = end.side();
    for (const Operation operation : operations) {
        const bool is_atomic = operation == Operation::FetchAdd;
        exercise(side,
                 {operation, options.messages, is_atomic ? sizeof(std::uint64_t) : options.size,
                  options.late_ms},
                 options);
    }
    Plan{}.send(side.channel, side.limit());
    side.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 20, client: sends a few messages over a link that drops "
        "or changes one packet.\nSet the rule with lab/lab wire.");
    Options options;
    options.client.timeout = std::chrono::seconds(20);
    command_line.add(options.client);
    command_line.text("--op", options.operation, "all, send, write, write-imm, read or fetch-add");
    command_line.number("--messages", options.messages, 1, lesson20::most_messages,
                        "Messages, all posted before the first completion");
    command_line.number("--size", options.size, 1, lesson20::most_bytes / 256,
                        "Bytes of each message (fetch-add: always 8)");
    command_line.path_mtu(options.path_mtu, "Largest payload of a packet");
    command_line.number("--first-psn", options.first_psn, 0, 0xffffff,
                        "The client's first PSN; with 16777213 it wraps around");
    command_line.number("--ack-timeout", options.ack_timeout, 1, 31,
                        "A packet without an ACK is retransmitted after\n4.096 us * 2^N: 14 is 67 "
                        "ms, 16 is 268 ms");
    command_line.number("--retry-cnt", options.retry_cnt, 0, 7,
                        "Retransmissions in a row; 7: without limit on Soft-RoCE");
    command_line.number("--late", options.late_ms, 0, 10'000,
                        "Milliseconds by which the server posts its receives late");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
