// The responder of the model: what it answers, request by request.
#include "trace/simulate/responder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace simulate_test {

using simulate::Message;
using simulate::Responder;

class SimulatedResponder : public testing::Test, private Responder::User {
  protected:
    static constexpr std::uint8_t ack = 0x1f, rnr = 0x20, remote_access_error = 0x62;

    void send(std::uint32_t place, std::optional<std::uint8_t> refusal = {}) {
        responder_.enter({.place = place,
                          .message = Message{.first = place},
                          .asks_for_ack = true,
                          .refusal = refusal},
                         1000);
        events_.run();
    }
    /// Returns "PLACE SYNDROME msn MSN" of each answer since the last call.
    std::string answers() { return std::exchange(answers_, {}); }

    bool has_receive_ = true;

  private:
    void answer(std::uint32_t place, std::uint8_t syndrome, std::uint32_t msn) override {
        answers_ +=
            fmt::format("{}{} {:#04x} msn {}", answers_.empty() ? "" : ", ", place, syndrome, msn);
    }
    void send_data(const Message& /*message*/, std::uint32_t /*begin*/, std::uint32_t place,
                   std::uint32_t msn) override {
        answer(place, 0, msn);
    }
    bool is_ready() override { return has_receive_; }

    simulate::Events events_;
    Responder responder_{events_, *this, {.ack = ack, .rnr = rnr}, false};
    std::string answers_;
};

TEST_F(SimulatedResponder, executes_in_order_and_answers_a_duplicate_again) {
    send(0);
    send(1);
    EXPECT_EQ(answers(), "0 0x1f msn 1, 1 0x1f msn 2");
    send(0);
    EXPECT_EQ(answers(), "1 0x1f msn 2");
}

TEST_F(SimulatedResponder, sends_one_nak_for_a_gap) {
    send(1);
    send(2);
    EXPECT_EQ(answers(), "0 0x60 msn 0");
    send(0);
    send(2);
    EXPECT_EQ(answers(), "0 0x1f msn 1, 1 0x60 msn 1");
}

TEST_F(SimulatedResponder, executes_nothing_after_it_refused_a_request) {
    send(0, remote_access_error);
    EXPECT_EQ(answers(), "0 0x62 msn 0");
    send(0);
    send(1);
    EXPECT_EQ(answers(), "");
}

TEST_F(SimulatedResponder, takes_the_request_again_for_which_it_had_no_receive) {
    has_receive_ = false;
    send(0);
    send(1);
    EXPECT_EQ(answers(), "0 0x20 msn 0");
    has_receive_ = true;
    send(0);
    EXPECT_EQ(answers(), "0 0x1f msn 1");
}

}  // namespace simulate_test
