#include "tools/rocecap/line_makers.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/rocecap/parallel_printer.hpp"

namespace rocecap {
namespace {

class LineMakers {
  public:
    explicit LineMakers(unsigned others) : most_waiting_(std::size_t{4} * others) {
        try {
            while (threads_.size() < others)
                threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): fewer also do
        }
    }

    page::Line begin(const page::Line& make) {
        std::packaged_task<std::string()> task(make);
        const auto line = task.get_future().share();
        if (!give(task))
            task();
        return [line] { return line.get(); };
    }

  private:
    bool give(std::packaged_task<std::string()>& task) {
        const std::lock_guard lock(mutex_);
        if (threads_.empty() || waiting_.size() == most_waiting_)
            return false;
        waiting_.push_back(std::move(task));
        changed_.notify_one();
        return true;
    }

    void work(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
            auto task = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::packaged_task<std::string()>> waiting_;
    std::size_t most_waiting_;
    std::vector<std::jthread> threads_;  // ends before what it uses
};

}  // namespace

page::Encode encode_on_all_cpus() {
    constexpr unsigned most_cpus = 4;  // more would wait for the packets
    const auto makers = std::make_shared<LineMakers>(std::min(usable_cpus(), most_cpus) - 1);
    return [makers](const page::Line& make) { return makers->begin(make); };
}

}  // namespace rocecap
