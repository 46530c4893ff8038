// A requester that conforms to the specification (IBTA volume 1, 9.7): it sends what is posted, waits
// for the responses, and sends again from the oldest packet that has none: after a NAK, after a
// response that shows that another one is missing, and when the timer expires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/simulate/events.hpp"
#include "trace/simulate/message.hpp"

namespace simulate {

enum class Response : std::uint8_t {
    Ack,
    Data,         ///< a packet of a READ's or an atomic's response
    SequenceNak,  ///< "PSN sequence error"
    RnrNak,
    FatalNak,  ///< any other
};

class Requester {
  public:
    struct Settings {
        unsigned timeout = 14;  ///< the timer takes 4.096 µs * 2^timeout; 0: for ever
        unsigned retry_cnt = 7;
        std::int64_t spacing_ns = 4'000;  ///< from one packet to the next
        /// The timer runs on when all requests are acknowledged, as in Soft-RoCE, and may expire
        /// early.
        bool has_running_timer = false;
    };
    class User {
      public:
        User() = default;
        User(const User&) = delete;
        User& operator=(const User&) = delete;
        User(User&&) = delete;
        User& operator=(User&&) = delete;
        virtual ~User() = default;

        /// Sends the packet of this place; for a message that wants data, the request for the rest of it.
        virtual void send(const Message& message, std::uint32_t place) = 0;
        virtual void completed(std::size_t message) = 0;
        virtual void timed_out() = 0;
        /// The queue pair is in the error state: nothing more is sent.
        virtual void failed(std::size_t message) = 0;
    };

    Requester(Events& events, User& user, const Settings& settings)
        : events_(events), user_(user), is_(settings) {}

    /// `message` begins where the one before it ends.
    void post(const Message& message);
    /// A response with a PSN of this place; one before the first is larger than all places. `rnr_ns`:
    /// the wait that an RNR NAK asks for.
    void hear(std::uint32_t place, Response response, std::int64_t rnr_ns = 0);

    std::size_t outstanding() const { return messages_.size() - completed_; }
    bool has_failed() const { return has_failed_; }

  private:
    const Message& message_of(std::uint32_t place) const;
    void pump();
    void send_next();
    void start_timer();
    void expire();
    void go_back();
    void progress();
    void fail();

    Events& events_;
    User& user_;
    Settings is_;
    std::vector<Message> messages_;
    std::size_t completed_ = 0;
    std::uint32_t cursor_ = 0, unacknowledged_ = 0, sent_ = 0;  // places
    std::optional<std::uint32_t> gone_back_for_;
    std::optional<std::uint64_t> timer_;
    std::uint64_t timers_ = 0;
    unsigned retries_ = 0;
    std::int64_t not_before_ = 0;
    bool is_pumping_ = false, has_failed_ = false;
};

}  // namespace simulate
