// Lesson 09, the client: the environment of a forgery: the honest client, a capture and a raw socket.
// A packet of the witness follows each forged one. Its ACK proves that the server's device has
// processed all earlier packets, so no fixed delays are needed.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "honest_client.hpp"
#include "packets.hpp"
#include "raw_sender.hpp"
#include "rdma/device.hpp"
#include "trial.hpp"
#include "util/error.hpp"

namespace lesson09 {

class Stage {
  public:
    Stage(HonestClient& client, RawSender& sender)
        : client_(client), sender_(sender), sniffer_(interface_of(client.own().port)) {
        sender_.use(interface_of(client.own().port));
    }

    HonestClient& client() { return client_; }

    /// Sets up a new connection and returns its first honest WRITE, as the attacker sees it.
    CapturedFrame connect(std::string_view text) {
        client_.connect();
        return see_write(text);
    }

    /// Performs an honest WRITE, which must succeed, and returns its packet.
    CapturedFrame see_write(std::string_view text) {
        if (const auto status = client_.write(text, true); status != "SUCCESS")
            throw util::Error("an honest WRITE failed: " + std::string(status) + ".");
        return see("the WRITE just sent", [&](const wire::Packet& packet) {
            return packet.reth && !is_from_server(packet) &&
                   packet.bth->dest_qpn == client_.target().theirs.qpn;
        });
    }

    /// Sets up a connection whose client does not respond, and returns a request of the server on
    /// it.
    CapturedFrame see_request(Ask how) {
        client_.connect_deaf();
        client_.ask(how);
        return see("the server's request", [&](const wire::Packet& packet) {
            return packet.reth && is_from_server(packet) &&
                   packet.bth->dest_qpn == client_.target().mine.qpn;
        });
    }

    Trial attempt(const Frame& frame) {
        return around([&] { sender_.send(frame); });
    }

    /// Returns the effects of an honest WRITE, and its status in `status`.
    Trial attempt_honest(std::string_view text, std::string_view& status) {
        return around([&] { status = client_.write(text, false); });
    }

    struct Burst {
        Trial trial;
        std::uint64_t received = 0;  // number of sent packets that the server's device received
        double seconds = 0;          // from the first packet to the response after the last

        double rate() const { return static_cast<double>(received) / seconds; }
    };

    Burst burst(const std::vector<Frame>& frames) {
        Burst burst;
        burst.trial = around([&] {
            const auto start = util::Clock::now();
            for (const Frame& frame : frames)
                sender_.send(frame);
            client_.witness_writes();
            burst.seconds = std::chrono::duration<double>(util::Clock::now() - start).count();
        });
        constexpr std::uint64_t of_the_witness = 2;
        const auto& [before, after, answers] = burst.trial;
        burst.received = before.received && after.received
                             ? *after.received - *before.received - of_the_witness
                             : frames.size();
        return burst;
    }

  private:
    static std::string interface_of(const lesson06::Port& port) {
        return rdma::gid_at(port.context.get(), port.number, port.gid_index).netdev();
    }

    template <typename Do>
    Trial around(Do what) {
        Trial trial;
        observe(trial.before);
        what();
        trial.answers = observe(trial.after);
        return trial;
    }

    // Gets the server's state after its device has processed all earlier packets. Returns the
    // device's responses to them.
    std::vector<std::string> observe(Report& report) {
        const std::uint32_t psn = client_.witness_writes();
        const auto limit = client_.limit();
        std::vector<std::string> answers;
        for (const CapturedFrame& seen : sniffer_.until(
                 [&](const wire::Packet& packet) {
                     return packet.aeth && is_from_server(packet) &&
                            packet.bth->dest_qpn == client_.witness().mine.qpn &&
                            packet.bth->psn.value() == psn;
                 },
                 "the witness's ACK", limit.stop, limit.deadline))
            note_answer(seen.packet(), answers);
        client_.ask(Ask::Report, client_.report().received.value_or(0) + 1);
        report = client_.report();
        return answers;
    }

    CapturedFrame see(std::string_view what, const Sniffer::Test& test) {
        const auto limit = client_.limit();
        return sniffer_.until(test, what, limit.stop, limit.deadline).back();
    }

    bool is_from_server(const wire::Packet& packet) const {
        return std::ranges::equal(source_gid(packet).bytes, client_.witness().theirs.gid, {},
                                  [](std::uint8_t byte) { return std::byte{byte}; });
    }

    void note_answer(const wire::Packet& packet, std::vector<std::string>& answers) const {
        if (!packet.aeth || !is_from_server(packet) ||
            packet.bth->dest_qpn != client_.target().mine.qpn)
            return;
        std::string text(wire::name(packet.aeth->kind()));
        if (const auto name = packet.aeth->nak_name())
            text += " " + std::string(*name);
        answers.push_back(std::move(text));
    }

    HonestClient& client_;
    RawSender& sender_;
    Sniffer sniffer_;
};

}  // namespace lesson09
