// Hosts that read slowly or not at all, leave, or send what is no frame.
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "emulator/link_switch.hpp"

namespace slow_host_test {

using namespace link_switch;

// A host that does not read blocks its senders: no frame is lost, and memory is bounded.
TEST_F(LinkSwitch, waits_for_a_slow_host) {
    host(1).send(host(1).frame(255, arp_frame()));
    host(0).receive();
    std::uint32_t sent = 0;
    const auto send_until = [&](const std::function<bool()>& is_done) {
        while (!is_done())
            if (host(0).send(host(0).frame(1, roce_frame(sent % 0x1000000))))
                ++sent;
            else
                std::this_thread::sleep_for(1ms);
    };
    const auto passed = [](auto time) {
        return [until = std::chrono::steady_clock::now() + time] {
            return std::chrono::steady_clock::now() >= until;
        };
    };
    send_until([&, late = passed(30s), tries = 0U]() mutable {
        // Ask seldom: it takes as long as hundreds of frames.
        return ++tries % 100 == 0 && (late() || counter(1, "waiting") > Switch::backlog_limit);
    });
    send_until(passed(200ms));
    EXPECT_GT(counter(1, "waiting"), Switch::backlog_limit);
    EXPECT_LT(counter(1, "waiting"), 2 * Switch::backlog_limit);
    for (std::uint32_t psn = 0; psn < sent; ++psn)
        ASSERT_EQ(psn_of(host(1).receive()), psn);
    EXPECT_EQ(counter(1, "undelivered"), 0U);
}

TEST_F(LinkSwitch, goes_on_without_a_host_that_goes_and_with_one_that_comes_back) {
    host(1).leave();
    const Bytes to_all = host(0).frame(255, arp_frame());
    host(0).send(to_all);
    EXPECT_EQ(host(2).receive(), to_all);
    host(1).accept();
    for (unsigned tries = 0; tries < 50; ++tries) {
        host(0).send(to_all);
        if (host(1).receive(100ms) == to_all)
            return;
    }
    ADD_FAILURE() << "the host that came back gets nothing";
}

TEST_F(LinkSwitch, lets_go_of_a_host_that_sends_what_is_no_frame) {
    host(1).send_bytes(Bytes(64, std::byte{0xee}));
    host(1).accept();
    const Bytes to_all = host(0).frame(255, arp_frame());
    host(0).send(to_all);
    EXPECT_EQ(host(2).receive(), to_all);
}

// Its senders wait for it for some seconds. Then the others go on, and it gets what comes after it reads.
TEST_F(LinkSwitch, drops_what_goes_to_a_host_that_accepts_nothing) {
    host(1).send(host(1).frame(255, arp_frame()));
    host(0).receive();
    const auto send_until = [&](const Bytes& frame, const std::function<bool()>& is_done) {
        for (const auto late = util::Clock::now() + 30s; !is_done();) {
            ASSERT_LT(util::Clock::now(), late);
            if (!host(0).send(frame))
                std::this_thread::sleep_for(1ms);
        }
    };
    const auto since = util::Clock::now();
    send_until(host(0).frame(1, roce_frame(1)), [&] {
        return has_said("h1 has accepted no frame for 5 s: frames to it are dropped until it does");
    });
    EXPECT_GE(util::Clock::now() - since, Switch::silence_limit);
    EXPECT_GT(counter(1, "undelivered"), 0U);

    const Bytes to_two = host(0).frame(2, roce_frame(2));
    while (!host(0).send(to_two))
        std::this_thread::sleep_for(1ms);
    Bytes received;
    while (received != to_two)  // those to host 1 were for all until it was known
        ASSERT_FALSE((received = host(2).receive()).empty());

    while (!host(1).receive(100ms).empty()) {
    }
    EXPECT_TRUE(has_said("h1 accepts frames again"));
    const Bytes next = host(0).frame(1, roce_frame(3));
    ASSERT_TRUE(host(0).send(next));
    EXPECT_EQ(host(1).receive(), next);
}

}  // namespace slow_host_test
