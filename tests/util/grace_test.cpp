#include "util/grace.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace {

auto handler_of(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action.sa_handler;
}

// The program that uses it may go on.
TEST(Grace, gives_the_signals_back) {
    for (const int signal : {SIGINT, SIGTERM, SIGALRM}) {
        const auto before = handler_of(signal);
        {
            const util::Grace grace;
            EXPECT_NE(handler_of(signal), before) << signal;
            EXPECT_FALSE(grace.expired());
        }
        EXPECT_EQ(handler_of(signal), before) << signal;
    }
}

}  // namespace
