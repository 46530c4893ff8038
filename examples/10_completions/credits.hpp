// Lesson 10, part 5: credits. A credit is the permission to send one message: the receiver grants it
// after posting a receive. Without credits, a sender that is faster than the receiver gets RNR NAKs
// ("receiver not ready").
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ask.hpp"
#include "rdma/completion.hpp"
#include "rdma/counters.hpp"
#include "util/cursor.hpp"

namespace lesson10 {

inline constexpr std::size_t message_size = 64;
inline constexpr std::size_t credit_size = 16;

struct CreditOptions {
    std::uint64_t messages = 32;
    std::uint64_t receives = 8;
    std::uint64_t work_ms = 10;
    std::uint64_t rnr_timer = 14;       // 1.28 ms
    std::uint64_t long_rnr_timer = 24;  // 40.96 ms
};

// A number of credits in network byte order, and a readable text. (Wireshark takes shorter messages
// for malformed RPC over RDMA.)
inline std::array<std::byte, credit_size> credit_message(std::uint32_t credits) {
    std::array<std::byte, credit_size> bytes{};
    std::ranges::copy(common::pattern(credit_size, "    more for you"), bytes.begin());
    util::put_be32<0>(std::span(bytes), credits);
    return bytes;
}

inline std::uint32_t credits_in(std::span<const std::byte> bytes) {
    return util::be32<0>(bytes.first<credit_size>());
}

/// The server: does some work for each message, and then posts its receive again.
inline void receive_messages(const Side& side, const Ask& ask) {
    Connection to(side,
                  {.cqe = static_cast<int>(ask.receives) + 8,
                   .max_send_wr = 8,
                   .max_recv_wr = ask.receives,
                   .max_inline_data = credit_size},
                  std::vector<std::byte>(ask.receives * message_size));
    const auto buffer = [&](std::uint64_t i) {
        return std::span(to.bytes).subspan(i * message_size, message_size);
    };
    // The client chooses how long this side's RNR NAKs make it wait.
    ibv_qp_attr attr{.min_rnr_timer = static_cast<std::uint8_t>(ask.rnr_timer)};
    util::check_rc(ibv_modify_qp(to.qp.get(), &attr, IBV_QP_MIN_RNR_TIMER),
                   "ibv_modify_qp(MIN_RNR_TIMER)");
    for (std::uint64_t i = 0; i < ask.receives; ++i)
        to.post_receive(i, buffer(i));
    side.barrier();

    std::uint32_t unannounced = 0;       // reposted receives that the sender does not know of yet
    std::uint32_t given = ask.receives;  // credits, including the sender's initial ones
    std::uint64_t wr_id = 1000;
    for (std::uint32_t received = 0; received < ask.messages;) {
        // 1. Receive, work, repost the receive.
        side.check_stop();
        const auto wc = rdma::expect_success(
            common::next_completion(to.cq.get(), side.stop, side.deadline()), "RECV");
        if (wc.opcode != IBV_WC_RECV)
            continue;
        ++received;
        static_cast<void>(util::wait_readable(
            side.stop.fd(), side.stop, util::deadline_in(std::chrono::milliseconds(ask.work_ms))));
        to.post_receive(wc.wr_id, buffer(wc.wr_id));

        // 2. After half of the receives, return as many credits in an inline message, which needs
        // no registered buffer.
        if (++unannounced < std::max(ask.receives / 2, 1U) || given >= ask.messages ||
            ask.task != Task::GiveCredits)
            continue;
        const auto message = credit_message(unannounced);
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(message.data()),
                    .length = credit_size,
                    .lkey = 0};
        ibv_send_wr wr{.wr_id = ++wr_id,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
        given += unannounced;
        unannounced = 0;
    }
    side.last_barrier();
}

/// Returns the device's count of RNR NAKs; nullopt if it has no such counter.
inline std::optional<std::uint64_t> rnr_naks(const Side& side) {
    const auto counters =
        rdma::read_counters(ibv_get_device_name(side.context()->device), side.port.number);
    const auto it = counters.find("rcvd_rnr_err");
    return it == counters.end() ? std::nullopt : std::optional(it->second);
}

/// The client: sends as many messages as the send queue and its credits allow. It starts with one
/// credit for each receive that the server has posted. Returns the number of credit messages.
inline std::uint64_t send_messages(const Side& side, Connection& to, const CreditOptions& options,
                                   bool has_credits, const auto& deadline) {
    const auto answer = [&](std::uint64_t i) {
        return std::span(to.bytes).subspan(message_size + i * credit_size, credit_size);
    };
    to.all.length = message_size;
    std::uint64_t credits = options.receives;
    std::uint64_t credit_messages = 0;
    std::uint64_t posted = 0;
    for (std::uint64_t done = 0; done < options.messages;) {
        side.check_stop();
        while (posted < options.messages && posted - done < to.cap.max_send_wr &&
               (credits > 0 || !has_credits)) {
            ibv_send_wr wr{.wr_id = ++posted,
                           .sg_list = &to.all,
                           .num_sge = 1,
                           .opcode = IBV_WR_SEND,
                           .send_flags = IBV_SEND_SIGNALED};
            ibv_send_wr* bad_wr = nullptr;
            CHECK_RC(ibv_post_send(to.qp.get(), &wr, &bad_wr));
            credits -= has_credits ? 1 : 0;
        }
        const auto wc = rdma::expect_success(
            common::next_completion(to.cq.get(), side.stop, deadline()), "SEND");
        if (wc.opcode == IBV_WC_RECV) {
            ++credit_messages;
            credits += credits_in(answer(wc.wr_id));
            to.post_receive(wc.wr_id, answer(wc.wr_id));
        } else {
            ++done;
        }
    }
    return credit_messages;
}

/// The client: one run, with or without credits.
inline void run_credits(const Side& side, const CreditOptions& options, std::string_view way,
                        Task task, std::uint64_t rnr_timer) {
    // 1. Credit messages need receives, too. The server returns half of its receives in one message,
    // so at most three messages can be outstanding.
    constexpr std::uint32_t answers = 4;
    Ask{.task = task,
        .rnr_timer = static_cast<std::uint16_t>(rnr_timer),
        .receives = static_cast<std::uint32_t>(options.receives),
        .messages = static_cast<std::uint32_t>(options.messages),
        .work_ms = static_cast<std::uint32_t>(options.work_ms)}
        .send(side);
    Connection to(side, {.cqe = 64, .max_send_wr = 16, .max_recv_wr = answers},
                  common::pattern(message_size + answers * credit_size, "Work. "));
    for (std::uint64_t i = 0; i < answers; ++i)
        to.post_receive(i,
                        std::span(to.bytes).subspan(message_size + i * credit_size, credit_size));
    side.barrier();

    // 2. The server processes all received messages before it responds.
    const auto deadline = [&] {
        return util::deadline_in(side.time +
                                 std::chrono::milliseconds(options.receives * options.work_ms));
    };
    const auto naks_before = rnr_naks(side);
    const auto began = util::Clock::now();
    const std::uint64_t credit_messages =
        send_messages(side, to, options, task == Task::GiveCredits, deadline);
    const auto took_us = (util::Clock::now() - began).count() / 1000;
    net::barrier(side.channel, {side.stop, deadline()});
    const auto naks_after = rnr_naks(side);
    runlog::Fields fields{{"way", way},
                          {"rnr_timer", rnr_timer},
                          {"messages", options.messages},
                          {"receives", options.receives},
                          {"work_ms", options.work_ms},
                          {"took_us", took_us},
                          {"credit_messages", credit_messages}};
    if (naks_before && naks_after)
        fields.emplace_back("rnr_naks", *naks_after - *naks_before);
    side.log.event("credits", std::move(fields));
}

inline void send_with_and_without_credits(const Side& side, const CreditOptions& options) {
    run_credits(side, options, "no credits", Task::Receive, options.rnr_timer);
    run_credits(side, options, "no credits", Task::Receive, options.long_rnr_timer);
    run_credits(side, options, "credits", Task::GiveCredits, options.rnr_timer);
}

}  // namespace lesson10
