// Completion queues that had more completions than entries. Of a responder's: no_response.cpp.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class Overruns {
  public:
    Overruns(const Whole& whole, Causes& causes) : whole_(whole), causes_(causes) {}

    void explain() {
        for (const LoggedQueuePair& pair : whole_.logs.queue_pairs())
            requests(pair);
        requests_together();
        for (const runlog::Event& event : whole_.logs.notices())
            if (event.is("async") && event[key::async_type].find("CQ_ERR") != std::string::npos)
                reported(event);
    }

  private:
    // Completion queues: of a role, by number.
    using Queue = logged::Key;

    void reported(const runlog::Event& event) {
        add_fatal(causes_, Code::CqOverrun, Certainty::Certain,
                  "a completion queue had more completions than entries and stopped working.",
                  event.role)
            .add(evidence(event));
    }

    void add(const Queue& queue, std::string where, const std::string& what) {
        const std::uint64_t entries = entries_of(queue);
        Cause& cause =
            add_fatal(causes_, Code::CqOverrun, Certainty::Likely,
                      fmt::format("{}, and the completion queue has {} entries.", what, entries),
                      std::move(where));
        cause.add(value(queue.first,
                        fmt::format("completion queue {} with {} entries", queue.second, entries)));
    }

    // Without a log of the queue, it has no limit.
    std::uint64_t entries_of(const Queue& queue) const {
        const std::uint64_t entries = whole_.logs.queue(queue.first, queue.second).entries;
        return entries == 0 ? UINT64_MAX : entries;
    }

    static bool is_due(const Post& post) {
        return post.is_signaled && !post.is_done && !post.opcode.empty();
    }
    static std::uint64_t due_of(const LoggedQueuePair& pair) {
        return static_cast<std::uint64_t>(std::ranges::count_if(pair.posts, is_due));
    }

    // More requests without completion than the queue has entries, and no error that explains it.
    void requests(const LoggedQueuePair& pair) {
        if (!pair.send_cq)
            return;
        const Queue queue(pair.role, *pair.send_cq);
        by_send_queue_[queue].push_back(&pair);
        if (const std::uint64_t due = due_of(pair); pair.errors.empty() && due > entries_of(queue))
            add(queue, whole_.where_of(pair, false),
                fmt::format("{} signaled requests have no completion", due));
    }

    // The same of queue pairs that complete in one queue. Each may wait for a silent peer: only requests
    // count that were acknowledged in the capture. The numbers of queues are used again: only queue pairs
    // count that existed with the newest one.
    void requests_together() {
        for (auto& [queue, pairs] : by_send_queue_) {
            std::erase_if(pairs, [newest = pairs.back()](const LoggedQueuePair* pair) {
                return pair->destroyed_ns && newest->made_ns &&
                       *pair->destroyed_ns <= *newest->made_ns;
            });
            const std::uint64_t entries = entries_of(queue);
            const bool is_told = std::ranges::any_of(pairs, [&](const LoggedQueuePair* pair) {
                return !pair->errors.empty() || due_of(*pair) > entries;
            });
            if (pairs.size() < 2 || is_told)
                continue;
            std::uint64_t due = 0;
            for (const LoggedQueuePair* pair : pairs)
                due += acknowledged_of(*pair);
            if (due > entries)
                add(queue, whole_.where_of(*pairs.front(), false),
                    fmt::format("{} signaled requests of {} queue pairs were acknowledged and have "
                                "no completion",
                                due, pairs.size()));
        }
    }

    // Requests without completion that the responder executed.
    std::uint64_t acknowledged_of(const LoggedQueuePair& pair) const {
        const Direction* direction = whole_.directions.of_requester(pair);
        if (direction == nullptr)
            return 0;
        return static_cast<std::uint64_t>(std::ranges::count_if(pair.posts, [&](const Post& post) {
            return is_due(post) && answer_to(*direction, post) != nullptr;
        }));
    }

    const Whole& whole_;
    Causes& causes_;
    std::map<Queue, std::vector<const LoggedQueuePair*>> by_send_queue_;
};

}  // namespace

void explain_overruns(const Whole& whole, Causes& causes) {
    Overruns(whole, causes).explain();
}

}  // namespace explain
