// Calls that may block, on threads of their own, so that the thread with all the connections waits
// for none of them. ibv_modify_qp(RTR) is such a call: on RoCE the kernel resolves the peer's GID in
// it, and an address that nobody answers for takes a second.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "util/fd.hpp"

namespace service {

class Workers {
  public:
    /// At most `threads` calls at a time. Throws std::system_error.
    explicit Workers(std::size_t threads);
    /// Calls that have not begun are forgotten; those that have are waited for.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    Workers(Workers&&) = delete;
    Workers& operator=(Workers&&) = delete;

    /// `call` is made on another thread. Of the calls with the same `key` one is made at a time, in
    /// order: a peer whose calls block holds one thread, however many there are. `done` is called by
    /// take_results() with what `call` has thrown, or null.
    void submit(std::string key, std::function<void()> call,
                std::function<void(std::exception_ptr)> done);

    /// Can be read when there is something for take_results().
    int fd() const { return ended_fd_.get(); }
    void take_results();

  private:
    struct Job {
        std::string key;
        std::function<void()> call;
        std::function<void(std::exception_ptr)> done;
        std::exception_ptr error;
    };

    void work();
    std::deque<Job>::iterator next();

    util::Fd ended_fd_;
    std::mutex mutex_;  // of all that follows
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    std::set<std::string> busy_;  // the keys of the calls that are being made
    std::vector<Job> ended_;
    bool is_stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace service
