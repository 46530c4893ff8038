// Lesson 10, part 5, the client: without credits, a sender that is faster than the receiver gets RNR
// NAKs ("receiver not ready"). With credits it waits for the receiver instead.
#pragma once

#include <vector>

#include "ask.hpp"
#include "credits.hpp"
#include "rdma/completion.hpp"
#include "rdma/counters.hpp"

namespace lesson10 {

struct CreditOptions {
    std::uint64_t messages = 32;
    std::uint64_t receives = 8;
    std::uint64_t work_ms = 10;
    std::uint64_t rnr_timer = 14;       // 1.28 ms
    std::uint64_t long_rnr_timer = 24;  // 40.96 ms
};

/// Returns the device's count of RNR NAKs; nullopt if it has no such counter.
inline std::optional<std::uint64_t> rnr_naks(const Side& side) {
    const auto counters =
        rdma::read_counters(ibv_get_device_name(side.context()->device), side.port.number);
    const auto it = counters.find("rcvd_rnr_err");
    return it == counters.end() ? std::nullopt : std::optional(it->second);
}

inline void send_messages(const Side& side, const CreditOptions& options, std::string_view way,
                          Task task, std::uint64_t rnr_timer) {
    // 1. A connection. Credit messages need receives here. The server returns half of its receives
    // in one message, so at most three messages can be outstanding.
    constexpr std::size_t answers = 4;
    Ask{.task = task,
        .rnr_timer = static_cast<std::uint16_t>(rnr_timer),
        .receives = static_cast<std::uint32_t>(options.receives),
        .messages = static_cast<std::uint32_t>(options.messages),
        .work_ms = static_cast<std::uint32_t>(options.work_ms)}
        .send(side);
    std::vector<std::byte> bytes = common::pattern(message_size + answers * credit_size, "Work. ");
    const auto answer = [&](std::uint64_t i) {
        return std::span(bytes).subspan(message_size + i * credit_size, credit_size);
    };
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context(), 64, nullptr, nullptr, 0))};
    ibv_qp_cap cap{.max_send_wr = 16,
                   .max_recv_wr = answers,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = 0};
    const rdma::Qp qp = make_qp(side, cq.get(), cap);
    connect(side, qp.get());
    for (std::uint64_t i = 0; i < answers; ++i)
        post_receive(qp.get(), i, answer(i), mr->lkey);
    side.barrier();

    // 2. Messages, as many as the send queue and the credits allow. The sender starts with one
    // credit for each receive that the server has initially posted.
    const bool has_credits = task == Task::GiveCredits;
    std::uint64_t credits = options.receives;
    std::uint64_t credit_messages = 0;
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = message_size,
                .lkey = mr->lkey};
    // The server processes all received messages before it responds.
    const auto deadline = [&] {
        return util::deadline_in(side.time +
                                 std::chrono::milliseconds(options.receives * options.work_ms));
    };
    const auto naks_before = rnr_naks(side);
    const auto began = util::Clock::now();
    std::uint64_t posted = 0;
    for (std::uint64_t done = 0; done < options.messages;) {
        side.check_stop();
        while (posted < options.messages && posted - done < cap.max_send_wr &&
               (credits > 0 || !has_credits)) {
            ibv_send_wr wr{};
            wr.wr_id = ++posted;
            wr.opcode = IBV_WR_SEND;
            wr.send_flags = IBV_SEND_SIGNALED;
            wr.sg_list = &sge;
            wr.num_sge = 1;
            ibv_send_wr* bad_wr = nullptr;
            CHECK_RC(ibv_post_send(qp.get(), &wr, &bad_wr));
            credits -= has_credits ? 1 : 0;
        }
        const auto wc =
            rdma::expect_success(common::next_completion(cq.get(), side.stop, deadline()), "SEND");
        if (wc.opcode == IBV_WC_RECV) {
            ++credit_messages;
            credits += credits_in(answer(wc.wr_id));
            post_receive(qp.get(), wc.wr_id, answer(wc.wr_id), mr->lkey);
        } else {
            ++done;
        }
    }
    const auto took_us = (util::Clock::now() - began).count() / 1000;
    net::barrier(side.channel, {side.stop, deadline()});

    // 3. The result.
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
    send_messages(side, options, "no credits", Task::Receive, options.rnr_timer);
    send_messages(side, options, "no credits", Task::Receive, options.long_rnr_timer);
    send_messages(side, options, "credits", Task::GiveCredits, options.rnr_timer);
}

}  // namespace lesson10
