// Lesson 08, hardened, the server: threads for calls that may block, so that the thread with all the
// connections does not. ibv_modify_qp to RTR is such a call: on RoCE the kernel resolves the peer's
// GID in it, which takes a second if there is no reply.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <utility>
#include <vector>

#include "util/check.hpp"
#include "util/fd.hpp"

namespace lesson08 {

class Workers {
  public:
    /// Runs at most `threads` calls in parallel. Throws std::system_error.
    explicit Workers(std::size_t threads)
        : ended_fd_(CHECK_ERRNO(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
        for (std::size_t i = 0; i < threads; ++i)
            threads_.emplace_back([this] { work(); });
    }
    /// Discards calls that have not started; waits for those that have.
    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            is_stopping_ = true;
            waiting_.clear();
        }
        changed_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    Workers(Workers&&) = delete;
    Workers& operator=(Workers&&) = delete;

    /// Runs `call` on another thread. Calls with the same `key` run one at a time, in order, so
    /// that a peer whose calls block occupies only one thread. take_results() calls `done` with the
    /// exception of `call`, or null.
    void submit(std::string key, std::function<void()> call,
                std::function<void(std::exception_ptr)> done) {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back({std::move(key), std::move(call), std::move(done), nullptr});
        }
        changed_.notify_one();
    }

    /// Readable when take_results() has work.
    int fd() const { return ended_fd_.get(); }
    void take_results() {
        eventfd_t count = 0;
        eventfd_read(ended_fd_.get(), &count);  // fails if no call has ended
        std::vector<Job> ended;
        {
            const std::lock_guard lock(mutex_);
            ended.swap(ended_);
        }
        for (const Job& job : ended)
            job.done(job.error);
    }

  private:
    struct Job {
        std::string key;
        std::function<void()> call;
        std::function<void(std::exception_ptr)> done;
        std::exception_ptr error;
    };

    // Returns the first job whose key is not in use by another thread.
    std::deque<Job>::iterator next() {
        return std::ranges::find_if(waiting_,
                                    [&](const Job& job) { return !busy_.contains(job.key); });
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] { return is_stopping_ || next() != waiting_.end(); });
            if (is_stopping_)
                return;
            const auto chosen = next();
            Job job = std::move(*chosen);
            waiting_.erase(chosen);
            busy_.insert(job.key);
            lock.unlock();
            try {
                job.call();
            } catch (...) {
                job.error = std::current_exception();
            }
            lock.lock();
            busy_.erase(job.key);
            ended_.push_back(std::move(job));
            eventfd_write(ended_fd_.get(), 1);
            changed_.notify_all();  // the next job with this key may start
        }
    }

    util::Fd ended_fd_;
    std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    std::set<std::string> busy_;  // keys of running calls
    std::vector<Job> ended_;
    bool is_stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace lesson08
