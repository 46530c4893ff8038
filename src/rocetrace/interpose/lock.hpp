// A mutex of four bytes without an owner: it can be reset in the child of a fork, and needs no call
// for its creation or destruction.
// Source: Drepper, "Futexes Are Tricky", mutex 2.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace interpose {

class Lock {
  public:
    void lock() {
        std::uint32_t seen = 0;
        if (!word_.compare_exchange_strong(seen, taken, std::memory_order_acquire))
            wait();
    }
    void unlock() {
        if (word_.exchange(0, std::memory_order_release) == awaited)
            syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
    void reset() { word_.store(0, std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t taken = 1;
    static constexpr std::uint32_t awaited = 2;

    void wait() {
        while (word_.exchange(awaited, std::memory_order_acquire) != 0)
            syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, awaited, nullptr, nullptr, 0);
    }

    std::atomic<std::uint32_t> word_{0};
};

class Guard {
  public:
    explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    Guard(Guard&&) = delete;
    Guard& operator=(Guard&&) = delete;

  private:
    Lock& lock_;
};

}  // namespace interpose
