// A switch in a thread, and hosts that send and receive frames through it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "emulator/control.hpp"
#include "emulator/frames.hpp"
#include "emulator/switch.hpp"
#include "emulator/unix_socket.hpp"
#include "support/temp_path.hpp"

namespace link_switch {

using namespace std::chrono_literals;
using namespace emulator;
using namespace emulator_test;

// Simulates a host's QEMU: listens on a socket, and sends and receives length-prefixed frames.
class Host {
  public:
    Host(const std::string& path, unsigned number)
        : number_(number), listener_(listen_unix(path)) {}

    void accept() {
        ASSERT_TRUE(readable(listener_.get(), 5s));
        fd_ = util::Fd(::accept(listener_.get(), nullptr, nullptr));
        ASSERT_TRUE(fd_);
    }
    void leave() { fd_.reset(); }

    /// Returns the frame with this host as source and host `to` as destination; 255: broadcast.
    Bytes frame(unsigned to, Bytes frame) const {
        std::fill_n(frame.begin(), 12, std::byte{0});
        frame[5] = static_cast<std::byte>(to);
        frame[11] = static_cast<std::byte>(number_);
        if (to == 255)
            std::fill_n(frame.begin(), 6, std::byte{0xff});
        return frame;
    }
    /// Returns false if the socket is full.
    bool send(const Bytes& frame) {
        Bytes bytes(4 + frame.size());
        util::put_be32<0>(std::span(bytes).first<4>(), static_cast<std::uint32_t>(frame.size()));
        std::ranges::copy(frame, bytes.begin() + 4);
        return send_bytes(bytes);
    }
    bool send_bytes(const Bytes& bytes) {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            const ssize_t count = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent,
                                         MSG_NOSIGNAL | (sent == 0 ? MSG_DONTWAIT : 0));
            if (count < 0)
                return false;
            sent += static_cast<std::size_t>(count);
        }
        return true;
    }
    /// Returns the next frame; empty if none arrives in this time.
    Bytes receive(std::chrono::milliseconds time = 5s) {
        while (true) {
            if (const auto frame = reader_.next())
                return {frame->begin(), frame->end()};
            if (!readable(fd_.get(), time))
                return {};
            const auto space = reader_.space();
            const ssize_t count = recv(fd_.get(), space.data(), space.size(), 0);
            if (count <= 0)
                return {};
            reader_.filled(static_cast<std::size_t>(count));
        }
    }

  private:
    static bool readable(int fd, std::chrono::milliseconds time) {
        pollfd ready{fd, POLLIN, 0};
        return poll(&ready, 1, static_cast<int>(time.count())) == 1;
    }

    unsigned number_;
    util::Fd listener_;
    util::Fd fd_;
    FrameReader reader_;
};

class LinkSwitch : public testing::Test {
  protected:
    explicit LinkSwitch(unsigned hosts = 3) {
        std::vector<Port> ports;
        for (unsigned number = 0; number < hosts; ++number) {
            const std::string path = dir_.str() + "/" + std::to_string(number);
            hosts_.push_back(std::make_unique<Host>(path, number));
            ports.emplace_back("h" + std::to_string(number), path);
        }
        link_ = std::make_unique<Switch>(std::move(ports),
                                         [this](const std::string& line) { hear(line); });
        control_ = std::make_unique<Control>(dir_.str() + "/control", *link_);
        for (const auto& host : hosts_)
            host->accept();
        thread_ = std::thread([this] { link_->run(stop_); });
    }
    ~LinkSwitch() override {
        stop();
        control_.reset();
    }
    LinkSwitch(const LinkSwitch&) = delete;
    LinkSwitch& operator=(const LinkSwitch&) = delete;
    LinkSwitch(LinkSwitch&&) = delete;
    LinkSwitch& operator=(LinkSwitch&&) = delete;

    void stop() {
        if (thread_.joinable()) {
            // Sent to the thread, because its signalfd reads only signals that are pending for the
            // thread or the process. The signal does not end the process, because it is blocked.
            // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
            pthread_kill(thread_.native_handle(), SIGTERM);
            thread_.join();
        }
    }
    nlohmann::json ask(const nlohmann::json& request) {
        return nlohmann::json::parse(emulator::ask(dir_.str() + "/control", request.dump()));
    }
    std::uint64_t counter(unsigned host, const char* name) {
        return ask({{"do", "status"}})["hosts"][host][name].get<std::uint64_t>();
    }
    Host& host(unsigned number) { return *hosts_.at(number); }
    /// Whether the switch has said this.
    bool has_said(const std::string& line) {
        const std::lock_guard hold(said_lock_);
        return std::ranges::find(said_, line) != said_.end();
    }

  private:
    void hear(const std::string& line) {
        const std::lock_guard hold(said_lock_);
        said_.push_back(line);
    }

    std::mutex said_lock_;
    std::vector<std::string> said_;

  protected:
    struct Dir {
        Dir() { std::filesystem::create_directory(path.str()); }
        std::string str() const { return path.str(); }
        support::TempPath path{"link"};
    };
    Dir dir_;
    util::StopSignal stop_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::unique_ptr<Switch> link_;
    std::unique_ptr<Control> control_;
    std::thread thread_;
};

}  // namespace link_switch
