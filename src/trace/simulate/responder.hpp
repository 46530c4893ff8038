// A responder that conforms to the specification (IBTA volume 1, 9.7): it executes each message once
// and in order, sends one NAK for each gap, and answers duplicates again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "trace/simulate/events.hpp"
#include "trace/simulate/message.hpp"

namespace simulate {

class Responder {
  public:
    struct Request {
        std::uint32_t place = 0;  ///< before the first: larger than all places
        Message message{};        ///< whose place it is
        bool asks_for_ack = false;
        std::optional<std::uint8_t> refusal{};  ///< the syndrome of the NAK, if it is executed
    };
    class User {
      public:
        User() = default;
        User(const User&) = delete;
        User& operator=(const User&) = delete;
        User(User&&) = delete;
        User& operator=(User&&) = delete;
        virtual ~User() = default;

        /// Sends an ACK or a NAK. `msn`: messages that were executed.
        virtual void answer(std::uint32_t place, std::uint8_t syndrome, std::uint32_t msn) = 0;
        /// Sends the packet of this place in the response to a request that began at `begin`.
        virtual void send_data(const Message& message, std::uint32_t begin, std::uint32_t place,
                               std::uint32_t msn) = 0;
        /// Whether a SEND that begins finds a receive.
        virtual bool is_ready() = 0;
    };
    struct Syndromes {
        std::uint8_t ack = 0, rnr = 0;
    };

    /// `acknowledges_each_copy`: as Soft-RoCE does; otherwise, those that ask for it.
    Responder(Events& events, User& user, Syndromes syndromes, bool acknowledges_each_copy)
        : events_(events),
          user_(user),
          syndromes_(syndromes),
          acknowledges_each_copy_(acknowledges_each_copy) {}

    /// A request arrives. It is executed after those before it and their responses, and takes `takes_ns`.
    void enter(const Request& request, std::int64_t takes_ns);

    static constexpr std::uint8_t sequence_error = 0x60;  ///< NAK, code 0
    static constexpr std::int64_t data_spacing_ns = 2'000;

  private:
    struct Waiting {
        Request request;
        std::int64_t takes_ns = 0;
    };

    void begin_next();
    /// Returns how long its responses take.
    std::int64_t execute(const Request& request);
    bool accept(const Request& request);

    Events& events_;
    User& user_;
    Syndromes syndromes_;
    bool acknowledges_each_copy_;
    std::uint32_t expected_ = 0, msn_ = 0;
    std::deque<Waiting> waiting_;
    bool is_busy_ = false;
    bool was_nak_sent_ = false, was_rnr_sent_ = false, has_failed_ = false;
};

}  // namespace simulate
