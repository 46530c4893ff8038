// Lesson 26: how the ranks find each other. Gloo puts names and addresses (QPN, GID and first PSN of each
// queue pair) into a store, and gets those of the others from it. Here, rank 0 has the store, and the others
// reach it over TCP. The values are in plain text, as with the stores that come with Gloo.
#pragma once

#include <arpa/inet.h>
#include <deque>
#include <gloo/rendezvous/store.h>
#include <map>
#include <poll.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "net/tcp.hpp"
#include "util/error.hpp"

namespace lesson26 {

using Bytes = std::vector<char>;

/// A TCP connection that carries numbers (32 bits, network order) and texts with their length. All
/// functions throw util::Error.
class Line {
  public:
    Line(net::Socket socket, const net::TimeLimit& limit)
        : channel_(std::move(socket)), limit_(limit) {}

    void send(std::uint32_t number) {
        const std::uint32_t wire = htonl(number);
        channel_.send(std::as_bytes(std::span(&wire, 1)), limit_);
    }
    std::uint32_t receive() {
        std::uint32_t wire = 0;
        channel_.receive(std::as_writable_bytes(std::span(&wire, 1)), limit_);
        return ntohl(wire);
    }
    void send(const Bytes& text) {
        send(static_cast<std::uint32_t>(text.size()));
        channel_.send(std::as_bytes(std::span(text)), limit_);
    }
    Bytes receive_text() {
        constexpr std::uint32_t longest = 65'536;  // for 100 ranks, Gloo sends 4,800 bytes
        const std::uint32_t length = receive();
        if (length > longest)
            throw util::Error(
                fmt::format("{} announces a text of {} bytes: it is no rank of this "
                            "lesson.",
                            channel_.peer().text(), length));
        Bytes text(length);
        channel_.receive(std::as_writable_bytes(std::span(text)), limit_);
        return text;
    }

    /// From now on, waits without a time limit: a training takes as long as it takes.
    void lift_limit() { limit_.deadline = std::nullopt; }

    int fd() const { return channel_.socket().fd.get(); }
    util::Address local() const { return channel_.socket().local(); }

  private:
    net::TcpChannel channel_;
    net::TimeLimit limit_;
};

enum class Ask : std::uint32_t { Set = 1, Get = 2, Done = 3 };

inline Bytes bytes_of(const std::string& text) {
    return {text.begin(), text.end()};
}

/// The store of the other ranks: asks rank 0.
class Member : public gloo::rendezvous::Store {
  public:
    explicit Member(Line& line) : line_(line) {}

    void set(const std::string& key, const Bytes& value) override {
        line_.send(static_cast<std::uint32_t>(Ask::Set));
        line_.send(bytes_of(key));
        line_.send(value);
    }
    Bytes get(const std::string& key) override {
        line_.send(static_cast<std::uint32_t>(Ask::Get));
        line_.send(bytes_of(key));
        return line_.receive_text();
    }
    void wait(const std::vector<std::string>& keys) override {
        for (const std::string& key : keys)
            get(key);
    }
    /// Returns when all ranks are done: nobody sends before the others' queue pairs can receive, and
    /// nobody destroys its queue pairs while others need them.
    void done() {
        line_.send(static_cast<std::uint32_t>(Ask::Done));
        line_.receive();
    }

  private:
    Line& line_;
};

/// The store of rank 0. It serves the others while rank 0 itself waits for a value, and in
/// serve_until_done().
class Leader : public gloo::rendezvous::Store {
  public:
    Leader(std::deque<Line>& lines, util::StopSignal& stop) : lines_(lines), stop_(stop) {}

    void set(const std::string& key, const Bytes& value) override { values_[key] = value; }
    Bytes get(const std::string& key) override {
        while (!values_.contains(key))
            serve();
        return values_.at(key);
    }
    void wait(const std::vector<std::string>& keys) override {
        for (const std::string& key : keys)
            get(key);
    }
    /// Returns when each rank has said that it is done, and tells them.
    void serve_until_done() {
        while (done_.size() < lines_.size())
            serve();
        for (Line& line : lines_)
            line.send(0);
        done_.clear();
    }

  private:
    // Takes a request, and sends each value that is asked for as soon as it is there.
    void serve() {
        std::vector<pollfd> fds{{stop_.fd(), POLLIN, 0}};
        for (const Line& line : lines_)
            fds.push_back({line.fd(), POLLIN, 0});
        poll(fds.data(), fds.size(), -1);
        if (fds.front().revents != 0)
            throw util::Error("stopped while the ranks exchange their addresses.");
        for (std::size_t i = 0; i < lines_.size(); ++i)
            if (fds[i + 1].revents != 0)
                take(lines_[i]);
        std::erase_if(asked_, [&](const auto& one) {
            const auto found = values_.find(one.second);
            if (found != values_.end())
                one.first->send(found->second);
            return found != values_.end();
        });
    }

    void take(Line& line) {
        const auto ask = static_cast<Ask>(line.receive());
        if (ask == Ask::Done) {
            done_.insert(&line);
            return;
        }
        const Bytes text = line.receive_text();
        const std::string key(text.begin(), text.end());
        if (ask == Ask::Set)
            values_[key] = line.receive_text();
        else
            asked_.emplace_back(&line, key);
    }

    std::deque<Line>& lines_;
    util::StopSignal& stop_;
    std::map<std::string, Bytes> values_;
    std::vector<std::pair<Line*, std::string>> asked_;
    std::set<const Line*> done_;
};

}  // namespace lesson26
