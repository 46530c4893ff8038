// A connection for tests: direction `there` has the requests, direction `back` the responses. With
// Connection, the tracker knows that the two form a pair.
#pragma once

#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"

namespace flow_test {

inline constexpr std::size_t mtu = 1024;
inline constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
inline constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

/// Requests in the direction `there`, each decoded from a separate frame.
class SentRequests : public testing::Test {
  protected:
    void send(std::uint32_t psn) { feed_.add(packet(there, opcode::send_only, psn, 8)); }
    void send(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            send(first + i);
    }
    void read(std::uint32_t psn, std::size_t dmalen) {
        feed_.add(flow_test::read(there, psn, static_cast<std::uint32_t>(dmalen)));
    }
    flow::Conversation conversation() const {
        const auto all = feed_.conversations();
        EXPECT_EQ(all.size(), 1U);
        return all.front();
    }

    Feed feed_;
};

class Connection : public SentRequests {
  protected:
    explicit Connection(std::size_t path_mtu = mtu) {
        feed_.tracker().know({.host = std::nullopt,
                              .qpn = there.qpn,
                              .dest_qpn = back.qpn,
                              .path_mtu = static_cast<flow::PathMtu>(path_mtu)});
    }
    void ack(std::uint32_t psn) { feed_.add(answer(back, psn)); }
    void nak(std::uint32_t psn, std::uint8_t syndrome) { feed_.add(answer(back, psn, syndrome)); }
    void response(std::uint8_t code, std::uint32_t psn, std::size_t payload = mtu) {
        feed_.add(packet(back, code, psn, payload));
    }
    /// Adds all packets of a READ's response.
    void read_response(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            response(code(i, count), first + i);
    }
    static std::uint8_t code(std::uint32_t i, std::uint32_t count) {
        if (count == 1)
            return opcode::read_only;
        if (i == 0)
            return opcode::read_first;
        return i + 1 == count ? opcode::read_last : opcode::read_middle;
    }

    /// The direction to queue pair 0x11.
    flow::Direction requester() const { return direction(there.qpn); }
    flow::Direction responder() const { return direction(back.qpn); }
    flow::Requests requests() const { return requester().requests; }
    flow::Responses responses() const { return responder().responses; }

  private:
    flow::Direction direction(std::uint32_t qpn) const {
        const auto one = conversation();
        if (one.forward.dest_qpn == qpn)
            return one.forward;
        EXPECT_TRUE(one.backward);
        return one.backward.value_or(flow::Direction());
    }
};

}  // namespace flow_test
