#include "service/workers.hpp"

#include <algorithm>
#include <sys/eventfd.h>
#include <utility>

#include "util/check.hpp"

namespace service {

Workers::Workers(std::size_t threads)
    : ended_fd_(util::check_errno(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
    for (std::size_t i = 0; i < threads; ++i)
        threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void Workers::submit(std::string key, std::function<void()> call,
                     std::function<void(std::exception_ptr)> done) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({std::move(key), std::move(call), std::move(done), nullptr});
    }
    changed_.notify_one();
}

void Workers::take_results() {
    eventfd_t count = 0;
    eventfd_read(ended_fd_.get(), &count);  // fails where nothing has ended
    std::vector<Job> ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(ended_);
    }
    for (const Job& job : ended)
        job.done(job.error);
}

// The first whose key no other thread works for.
std::deque<Workers::Job>::iterator Workers::next() {
    return std::ranges::find_if(waiting_, [&](const Job& job) { return !busy_.contains(job.key); });
}

void Workers::work() {
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
        changed_.notify_all();  // another one with this key may begin
    }
}

}  // namespace service
