#include "support/send_queues.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "support/tool.hpp"

namespace support {
namespace {

using runlog::Event;

bool is_signaled(const Event& post) {
    const auto field = std::ranges::find(post.fields, "signaled", &runlog::Field::key);
    return field != post.fields.end() && field->value == runlog::Value(true);
}

struct Request {
    std::uint64_t wr_id;
    bool signaled;
};

// The existing queues by QPN. The device reuses numbers of destroyed queue pairs.
class QueueReader {
  public:
    explicit QueueReader(std::string host) : host_(std::move(host)) {}

    void take(const Event& event) {
        const auto qpn = event.number("qpn");
        if (!qpn)
            return;
        if (event.name == "qp") {
            open_[*qpn] = queues_.size();
            queues_.push_back({host_, *qpn, 0, 0});
            requests_.emplace_back();
            return;
        }
        const auto known = open_.find(*qpn);
        if (known == open_.end())
            return;
        SendQueue& queue = queues_[known->second];
        std::vector<Request>& requests = requests_[known->second];
        if (event.name == "post_send" || event.name == "bind_mw")
            post(queue, requests, event);
        else if (event.name == "wc" && event.text("queue") == "send")
            complete(queue, requests, event);
        else if (event.name == "qp_state" && event.text("state") == "RESET")
            reset(queue, requests);
        else if (event.name == "destroyed" && event.text("what") == "qp")
            destroy(queue, event);
    }

    std::vector<SendQueue> queues() && { return std::move(queues_); }

  private:
    static void post(SendQueue& queue, std::vector<Request>& requests, const Event& event) {
        EXPECT_EQ(event.number("request"), queue.posted) << runlog::to_json(event);
        requests.push_back({event.number("wr_id").value(), is_signaled(event)});
        ++queue.posted;
    }

    static void complete(SendQueue& queue, const std::vector<Request>& requests,
                         const Event& event) {
        const auto number = event.number("request");
        if (!number || *number < queue.completed || *number >= queue.posted) {
            ADD_FAILURE() << "of no outstanding request: " << runlog::to_json(event);
            return;
        }
        const bool succeeded = event.text("status") == "SUCCESS";
        EXPECT_EQ(event.number("wr_id"), requests[*number].wr_id) << runlog::to_json(event);
        EXPECT_TRUE(requests[*number].signaled || !succeeded) << runlog::to_json(event);
        for (; queue.completed < *number; ++queue.completed)
            EXPECT_FALSE(requests[queue.completed].signaled)
                << "request " << queue.completed << " has no completion before "
                << runlog::to_json(event);
        queue.completed = *number + 1;
    }

    static void reset(SendQueue& queue, std::vector<Request>& requests) {
        queue.posted = queue.completed = 0;
        requests.clear();
    }

    static void destroy(const SendQueue& queue, const Event& event) {
        EXPECT_EQ(event.number("sends_posted"), queue.posted) << runlog::to_json(event);
        EXPECT_EQ(event.number("sends_outstanding"), queue.posted - queue.completed)
            << runlog::to_json(event);
    }

    std::string host_;
    std::map<std::uint64_t, std::size_t> open_;
    std::vector<SendQueue> queues_;
    std::vector<std::vector<Request>> requests_;
};

// Reads the lines of queue pairs and their send queues in the summary.
std::vector<SendQueue> queues_of_summary(const LabRun& run) {
    const auto summary = support::run({(build_dir() / "rocetrace").string(), "--summary",
                                       run.file("server.jsonl"), run.file("client.jsonl")});
    EXPECT_EQ(summary.exit_code, 0) << summary.all();
    const std::regex pair("^(\\w+): QP 0x([0-9a-f]+) .*");
    const std::regex sends(
        "^  send queue: (\\d+) posted \\(\\d+ bytes\\), (\\d+) completed, "
        "(\\d+) outstanding;.*");
    std::vector<SendQueue> queues;
    std::smatch match;
    std::istringstream lines(summary.out);
    for (std::string line; std::getline(lines, line);)
        if (std::regex_match(line, match, pair)) {
            queues.push_back({match[1], std::stoull(match[2], nullptr, 16), 0, 0});
        } else if (std::regex_match(line, match, sends)) {
            queues.back().posted = std::stoull(match[1]);
            queues.back().completed = std::stoull(match[2]);
            EXPECT_EQ(queues.back().posted, queues.back().completed + std::stoull(match[3]))
                << summary.out;
        }
    return queues;
}

}  // namespace

std::vector<SendQueue> send_queues_of(const std::vector<Event>& log, const std::string& host) {
    QueueReader reader(host);
    for (const Event& event : log)
        reader.take(event);
    return std::move(reader).queues();
}

std::vector<SendQueue> expect_each_request_accounted(const LabRun& run) {
    EXPECT_TRUE(LabRun::all(run.server, "dropped").empty());
    EXPECT_TRUE(LabRun::all(run.client, "dropped").empty());
    auto queues = send_queues_of(run.server, "server");
    const auto of_client = send_queues_of(run.client, "client");
    queues.insert(queues.end(), of_client.begin(), of_client.end());
    // The summary leaves out queue pairs that were never used.
    const auto is_unused = [](const SendQueue& queue) { return queue.posted == 0; };
    auto used = queues;
    std::erase_if(used, is_unused);
    auto summary = queues_of_summary(run);
    std::erase_if(summary, is_unused);
    EXPECT_EQ(used, summary);
    return queues;
}

}  // namespace support
