#include "util/grace.hpp"

#include <sys/time.h>

namespace util {
namespace {

volatile std::sig_atomic_t over = 0;

// Repeats, since an alarm may arrive just before a read instead of during it.
void set_alarm(time_t first_seconds) {
    const itimerval timer{.it_interval = {.tv_sec = first_seconds == 0 ? 0 : 1, .tv_usec = 0},
                          .it_value = {.tv_sec = first_seconds, .tv_usec = 0}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void begin_grace(int) {
    constexpr time_t grace_seconds = 2;
    set_alarm(grace_seconds);
}

void end_grace(int) {
    over = 1;
}

void handle(int signal, void (*handler)(int), int flags, struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, &before);
}

}  // namespace

Grace::Grace() {
    over = 0;
    handle(SIGALRM, end_grace, 0, alarm_);
    // Blocked reads continue, and a second signal has the default action.
    handle(SIGINT, begin_grace, SA_RESTART | static_cast<int>(SA_RESETHAND), interrupt_);
    handle(SIGTERM, begin_grace, SA_RESTART | static_cast<int>(SA_RESETHAND), terminate_);
}

Grace::~Grace() {
    set_alarm(0);
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    sigaction(SIGALRM, &alarm_, nullptr);
}

bool Grace::expired() const {
    return over != 0;
}

}  // namespace util
