// Part 5: a receiver that says how many messages may come. Without that, a sender that is faster
// than the receiver is stopped by RNR NAKs; with it, it never meets one.
#pragma once

#include "ask.hpp"
#include "examples/common/memory.hpp"
#include "recorder.hpp"
#include "verbs/completion.hpp"
#include "verbs/counters.hpp"

namespace step12 {

struct CreditOptions {
    std::uint64_t messages = 32;
    std::uint64_t receives = 8;
    std::uint64_t work_ms = 10;
    std::uint64_t rnr_timer = 14;       // 1.28 ms
    std::uint64_t long_rnr_timer = 24;  // 40.96 ms
};

inline constexpr std::size_t message_size = 64;
inline constexpr std::size_t credit_size = 16;

// A message of credits: how many receives have been posted anew, in network byte order, and a word
// for who reads the packet. (Shorter ones Wireshark takes for broken RPC over RDMA.)
inline std::array<std::byte, credit_size> credit_message(std::uint32_t credits) {
    std::array<std::byte, credit_size> bytes{};
    std::ranges::copy(common::pattern(credit_size, "    more for you"), bytes.begin());
    util::put_be32<0>(std::span(bytes), credits);
    return bytes;
}

inline std::uint32_t credits_in(std::span<const std::byte> bytes) {
    return util::be32<0>(bytes.first<credit_size>());
}

// `poster`: a Link, or a Recorder.
template <typename Poster>
void post_receive(Poster& poster, std::span<std::byte> buffer, std::uint32_t lkey,
                  std::uint64_t wr_id) {
    ibv_sge piece = piece_of(buffer, lkey);
    ibv_recv_wr wr = receive(wr_id, piece);
    poster.post_recv(wr);
}

struct Sent {
    std::int64_t took_us = 0;
    std::uint64_t credit_messages = 0;
    std::optional<std::uint64_t> rnr_naks;  // as the device counts them
};

// The sender.
class Sender {
  public:
    Sender(const Side& side, const CreditOptions& options, bool is_given_credits)
        : side_(side), options_(options), is_given_credits_(is_given_credits) {
        for (std::size_t i = 0; i < answers; ++i)
            post_receive(link_, buffer(i), mr_->lkey, i);
        side_.meet();
    }

    Sent send_all() {
        Sent sent;
        Recorder recorder(link_, 4 * options_.messages);
        ibv_sge piece = piece_of(std::span(bytes_).first(message_size), mr_->lkey);
        std::uint64_t credits = options_.receives;  // so many are posted at first
        std::uint64_t posted = 0;
        const auto naks_before = naks();
        const auto began = util::Clock::now();
        for (std::uint64_t done = 0; done < options_.messages;) {
            side_.check_stop();
            while (posted < options_.messages && posted - done < link_.cap().max_send_wr &&
                   (credits > 0 || !is_given_credits_)) {
                ibv_send_wr wr = request(IBV_WR_SEND, ++posted, piece, IBV_SEND_SIGNALED);
                recorder.post_send(wr);
                credits -= is_given_credits_ ? 1 : 0;
            }
            const auto wc =
                verbs::expect_success(completions_.next(side_.stop, patience()), "SEND");
            recorder.completed(wc);
            recorder.write_old();
            if (wc.opcode == IBV_WC_RECV) {
                ++sent.credit_messages;
                credits += credits_in(buffer(wc.wr_id));
                post_receive(recorder, buffer(wc.wr_id), mr_->lkey, wc.wr_id);
            } else {
                ++done;
            }
        }
        sent.took_us = (util::Clock::now() - began).count() / 1000;
        recorder.write();
        exchange::meet(side_.channel, {side_.stop, patience()});
        const auto naks_after = naks();
        if (naks_before && naks_after)
            sent.rnr_naks = *naks_after - *naks_before;
        return sent;
    }

  private:
    // Messages of credits need receives here, as any message does. The server gives half of its
    // receives back at a time, so that no more than three can be under way.
    static constexpr std::size_t answers = 4;

    std::span<std::byte> buffer(std::size_t i) {
        return std::span(bytes_).subspan(message_size + i % answers * credit_size, credit_size);
    }

    // The server works on all it has received before it answers.
    util::Deadline patience() const {
        return util::deadline_in(side_.time +
                                 std::chrono::milliseconds(options_.receives * options_.work_ms));
    }

    std::optional<std::uint64_t> naks() const {
        const auto counters = verbs::read_counters(ibv_get_device_name(side_.context()->device),
                                                   side_.device.gid.port);
        const auto it = counters.find("rcvd_rnr_err");
        return it == counters.end() ? std::nullopt : std::optional(it->second);
    }

    const Side& side_;
    const CreditOptions& options_;
    bool is_given_credits_;
    std::vector<std::byte> bytes_ = common::pattern(message_size + answers * credit_size, "Work. ");
    const verbs::Mr mr_ = verbs::register_memory(side_.pd.get(), bytes_, IBV_ACCESS_LOCAL_WRITE);
    verbs::CompletionQueue completions_{side_.context(), 64};
    Link link_{side_,
               {.send_cq = completions_.cq.get(),
                .recv_cq = completions_.cq.get(),
                .max_send_wr = 16,
                .max_recv_wr = answers}};
};

inline void send_with_and_without_credits(const Side& side, const CreditOptions& options) {
    const auto run = [&](std::string_view way, Task task, std::uint64_t rnr_timer) {
        send(side, {.task = task,
                    .rnr_timer = static_cast<std::uint16_t>(rnr_timer),
                    .receives = static_cast<std::uint32_t>(options.receives),
                    .messages = static_cast<std::uint32_t>(options.messages),
                    .work_ms = static_cast<std::uint32_t>(options.work_ms)});
        const Sent sent = Sender(side, options, task == Task::GiveCredits).send_all();
        runlog::Fields fields{{"way", way},
                              {"rnr_timer", rnr_timer},
                              {"messages", options.messages},
                              {"receives", options.receives},
                              {"work_ms", options.work_ms},
                              {"took_us", sent.took_us},
                              {"credit_messages", sent.credit_messages}};
        if (sent.rnr_naks)
            fields.emplace_back("rnr_naks", *sent.rnr_naks);
        side.log.event("credits", std::move(fields));
    };
    run("no credits", Task::Receive, options.rnr_timer);
    run("no credits", Task::Receive, options.long_rnr_timer);
    run("credits", Task::GiveCredits, options.rnr_timer);
}

// The receiver: each message makes some work, and its receive is posted anew behind that.
class Receiver {
  public:
    Receiver(const Side& side, const Ask& ask) : side_(side), ask_(ask) {
        ibv_qp_attr attributes{};
        attributes.min_rnr_timer = static_cast<std::uint8_t>(ask.rnr_timer);
        util::check_rc(ibv_modify_qp(link_.qp(), &attributes, IBV_QP_MIN_RNR_TIMER),
                       "ibv_modify_qp(MIN_RNR_TIMER)");
        for (std::uint64_t i = 0; i < ask.receives; ++i)
            post_receive(link_, buffer(i), mr_->lkey, i);
        side_.meet();
    }

    void receive_all() {
        Recorder recorder(link_, std::size_t{4} * ask_.messages);
        for (std::uint32_t got = 0; got < ask_.messages;) {
            side_.check_stop();
            const auto wc =
                verbs::expect_success(completions_.next(side_.stop, side_.deadline()), "RECV");
            recorder.completed(wc);
            recorder.write_old();
            if (wc.opcode != IBV_WC_RECV)
                continue;
            ++got;
            work();
            post_receive(recorder, buffer(wc.wr_id), mr_->lkey, wc.wr_id);
            if (++free_ == std::max(ask_.receives / 2, 1U) && given_ < ask_.messages &&
                ask_.task == Task::GiveCredits)
                give_credits(recorder);
        }
        recorder.write();
        side_.meet_at_last();
    }

  private:
    std::span<std::byte> buffer(std::uint64_t i) {
        return std::span(bytes_).subspan(i * message_size, message_size);
    }

    void work() const {
        static_cast<void>(
            util::wait_readable(side_.stop.fd(), side_.stop,
                                util::deadline_in(std::chrono::milliseconds(ask_.work_ms))));
    }

    // Inline, so that the bytes need neither a registered buffer nor one that lasts.
    void give_credits(Recorder& recorder) {
        const auto message = credit_message(free_);
        ibv_sge piece = piece_of(message, 0);
        ibv_send_wr wr =
            request(IBV_WR_SEND, ++credit_messages_, piece, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        recorder.post_send(wr);
        given_ += free_;
        free_ = 0;
    }

    const Side& side_;
    const Ask& ask_;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(ask_.receives * message_size);
    const verbs::Mr mr_ = verbs::register_memory(side_.pd.get(), bytes_, IBV_ACCESS_LOCAL_WRITE);
    verbs::CompletionQueue completions_{side_.context(), static_cast<int>(ask_.receives) + 8};
    Link link_{side_,
               {.send_cq = completions_.cq.get(),
                .recv_cq = completions_.cq.get(),
                .max_send_wr = 8,
                .max_recv_wr = ask_.receives,
                .max_inline_data = credit_size}};
    std::uint32_t free_ = 0;  // receives posted anew that the sender does not know of
    std::uint32_t given_ = ask_.receives;
    std::uint64_t credit_messages_ = 1000;
};

}  // namespace step12
