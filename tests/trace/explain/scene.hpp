// The scene for tests of explanations: two hosts, their logs, and the packets between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>

#include "runlog/event.hpp"
#include "trace/explain/explainer.hpp"
#include "trace/flow/feed.hpp"
#include "wire/roce_flows.hpp"

namespace explain_test {

using namespace flow_test;

/// Requests from queue pair 0x21 of the client (host 2) to 0x11 of the server (host 1).
inline constexpr Way to_server{.from = 2, .to = 1, .qpn = 0x11};
inline constexpr Way to_client{.from = 1, .to = 2, .qpn = 0x21};
inline constexpr std::int64_t ms = 1'000'000;

class Scene : public testing::Test {
  protected:
    /// Adds a line to a log, with the time and the role before `rest`. The time advances by 1 µs.
    void log(std::string_view role, std::string_view rest) {
        now_ += 1000;
        log_at_once(role, rest);
    }
    /// The same at the time of the line before.
    void log_at_once(std::string_view role, std::string_view rest) {
        const std::string line = "{\"t_ns\":" + std::to_string(now_) + ",\"role\":\"" +
                                 std::string(role) + "\"," + std::string(rest) + "}";
        const auto event = runlog::from_json(line);
        ASSERT_TRUE(event) << line;
        explainer_.learn(*event);
        forgetful_.learn(*event);
    }
    /// The role's program has ended, according to the run.
    void ends(std::string_view role, std::uint64_t status) {
        explainer_.ended(std::string(role), status);
        forgetful_.ended(std::string(role), status);
    }
    void wait(std::int64_t ns) { now_ += ns; }

    /// The attributes of one end. The defaults are correct.
    struct Pair {
        std::uint32_t qpn = 0, dest_qpn = 0, sq_psn = 100, rq_psn = 500;
        std::string type = "RC";
        std::uint32_t path_mtu = 1024;
        std::string gid, dest_gid;
        std::string access = "remote_write remote_read remote_atomic";
        std::uint32_t max_dest_rd_atomic = 1;
    };
    static Pair client() {
        return {.qpn = 0x21, .dest_qpn = 0x11, .gid = gid(2), .dest_gid = gid(1)};
    }
    static Pair server() {
        return {.qpn = 0x11,
                .dest_qpn = 0x21,
                .sq_psn = 500,
                .rq_psn = 100,
                .gid = gid(1),
                .dest_gid = gid(2)};
    }
    static std::string gid(int host) { return "::ffff:192.0.2." + std::to_string(host); }

    void make(std::string_view role, const Pair& pair) {
        const auto n = [](std::uint64_t value) { return std::to_string(value); };
        log(role, R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + pair.gid + '"');
        log_at_once(role, R"("event":"pd","handle":1)");
        log(role, R"("event":"cq","cq":1,"entries":16)");
        log(role, R"("event":"qp","qpn":)" + n(pair.qpn) + R"(,"type":")" + pair.type +
                      R"(","max_send_wr":16,"send_cq":1,"recv_cq":1,"pd":1)");
        log(role, R"("event":"qp_state","qpn":)" + n(pair.qpn) + R"(,"state":"INIT")");
    }
    void ready(std::string_view role, const Pair& pair, int timeout = 14) {
        const auto n = [](auto value) { return std::to_string(value); };
        const std::string common =
            R"("event":"qp_state","qpn":)" + n(pair.qpn) + R"(,"dest_qpn":)" + n(pair.dest_qpn) +
            R"(,"rq_psn":)" + n(pair.rq_psn) + R"(,"path_mtu":)" + n(pair.path_mtu) +
            R"(,"gid_index":1,"dest_gid":")" + pair.dest_gid + R"(","max_dest_rd_atomic":)" +
            n(pair.max_dest_rd_atomic) + R"(,"access":")" + pair.access + R"(","state":)";
        log(role, common + "\"RTR\"");
        log(role, common + R"("RTS","sq_psn":)" + n(pair.sq_psn) +
                      R"(,"retry_cnt":3,"rnr_retry":3,"timeout":)" + n(timeout));
    }
    /// Declares that the capture has the clock of the server's log.
    void capture_at_server() {
        explainer_.captured_at(*flow::host_of_gid(gid(1)));
        forgetful_.captured_at(*flow::host_of_gid(gid(1)));
    }
    void connect(const Pair& at_client = client(), const Pair& at_server = server()) {
        make("server", at_server);
        make("client", at_client);
        ready("server", at_server);
        ready("client", at_client);
    }
    void region(std::string_view role, std::uint64_t va, std::uint64_t length, std::uint32_t rkey,
                std::string_view access, int pd = 1) {
        log(role, R"("event":"mr","va":)" + std::to_string(va) + R"(,"len":)" +
                      std::to_string(length) + R"(,"lkey":7,"rkey":)" + std::to_string(rkey) +
                      R"(,"access":")" + std::string(access) + R"(","pd":)" + std::to_string(pd));
    }
    void posts_write(std::uint32_t psn, std::uint64_t va, std::uint32_t rkey,
                     std::uint64_t length) {
        log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"RDMA_WRITE","len":)" +
                          std::to_string(length) + R"(,"remote_va":)" + std::to_string(va) +
                          R"(,"rkey":)" + std::to_string(rkey) + R"(,"psn_first":)" +
                          std::to_string(psn) + R"(,"psn_last":)" + std::to_string(psn));
    }
    void posts_send(std::uint32_t psn, std::uint64_t length) {
        log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":)" +
                          std::to_string(length) + R"(,"psn_first":)" + std::to_string(psn) +
                          R"(,"psn_last":)" + std::to_string(psn));
    }
    void completes(std::string_view status) {
        log("client", R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":0,"status":")" +
                          std::string(status) + '"');
    }

    /// Returns the packet's number.
    std::uint64_t add(const wire::Packet& made) { return add(wire::encode(made)); }
    std::uint64_t add(util::Bytes frame) { return add(frame, frame.size()); }
    /// Adds the first bytes of a frame: the rest is not in the capture.
    std::uint64_t add(util::Bytes frame, std::size_t captured) {
        now_ += 1000;
        const util::Bytes bytes = frame.first(captured);
        const auto decoded = flows_.decode(bytes, wire::LinkType::Ethernet, frame.size());
        explainer_.add(++frames_, now_, decoded, frame.size(), bytes);
        forgetful_.add(frames_, now_, decoded, frame.size(), bytes);
        return frames_;
    }
    std::uint64_t write(std::uint32_t psn, std::uint64_t va, std::uint32_t rkey,
                        std::uint32_t length) {
        auto made = packet(to_server, opcode::write_only, psn, length);
        made.bth->a = true;
        made.reth = wire::Reth{.va = va, .rkey = rkey, .dmalen = length};
        return add(made);
    }
    std::uint64_t send(std::uint32_t psn, std::size_t length = 8) {
        auto made = packet(to_server, opcode::send_only, psn, length);
        made.bth->a = true;
        return add(made);
    }
    /// Adds a SEND with a wrong ICRC.
    std::uint64_t broken_send(std::uint32_t psn) {
        auto frame = wire::encode(packet(to_server, opcode::send_only, psn, 8));
        frame.back() ^= std::byte{0xff};
        return add(frame);
    }
    std::uint64_t ack(std::uint32_t psn) { return add(answer(to_client, psn)); }
    std::uint64_t nak(std::uint32_t psn, std::uint8_t code) {
        return add(answer(to_client, psn, code));
    }

    /// Adds a message of the connection manager from host `from` to the other one.
    std::uint64_t manage(int from, wire::CmAttribute attribute, std::uint32_t local_id,
                         std::uint32_t remote_id, std::uint16_t reason = 0,
                         std::uint16_t p_key = 0xffff) {
        // Offsets in the messages' data: IBTA volume 1, 12.6.5 to 12.6.8.
        std::vector<std::byte> data(wire::Mad::data_size);
        const auto bytes = std::span(data).first<wire::Mad::data_size>();
        util::put_be32<0>(bytes, local_id);
        if (attribute != wire::CmAttribute::ConnectRequest)
            util::put_be32<4>(bytes, remote_id);
        if (attribute == wire::CmAttribute::ConnectReject)
            util::put_be16<10>(bytes, reason);
        const auto mad = wire_test::cm_mad(attribute, data);
        auto made = cm_packet(from == 2 ? to_server : to_client, mad);
        made.bth->p_key = p_key;
        return add(made);
    }

    /// Sends a request four times, 67 ms apart, and completes it with RETRY_EXC_ERR.
    void give_up(std::uint32_t psn) {
        for (int copy = 0; copy < 4; ++copy) {
            send(psn);
            wait(67 * ms);
        }
        completes("RETRY_EXC_ERR");
    }

    explain::Explanation explained() {
        auto made = explainer_.explanation();
        expect_equal(made, forgetful_.explanation());
        return made;
    }
    static void expect_equal(const explain::Explanation& all, const explain::Explanation& few) {
        EXPECT_EQ(few.has_failed, all.has_failed);
        ASSERT_EQ(few.causes.size(), all.causes.size());
        for (std::size_t i = 0; i < all.causes.size(); ++i) {
            const explain::Cause& one = all.causes[i];
            const explain::Cause& other = few.causes[i];
            EXPECT_EQ(std::tuple(name(other.code), name(other.certainty), other.text, other.where,
                                 other.is_fatal, other.cost_ns),
                      std::tuple(name(one.code), name(one.certainty), one.text, one.where,
                                 one.is_fatal, one.cost_ns));
        }
        ASSERT_EQ(few.retransmissions.size(), all.retransmissions.size());
        for (std::size_t i = 0; i < all.retransmissions.size(); ++i) {
            const explain::Retransmissions& one = all.retransmissions[i];
            const explain::Retransmissions& other = few.retransmissions[i];
            EXPECT_EQ(
                std::tuple(other.where, other.packets, other.cost_ns, other.is_by_running_timers),
                std::tuple(one.where, one.packets, one.cost_ns, one.is_by_running_timers));
        }
    }
    /// Returns the first cause and its certainty, such as "wrong-rkey certain". Without a cause:
    /// "unknown" if there was a failure, otherwise "none".
    std::string answered() {
        last_ = explained();
        if (last_.causes.empty())
            return last_.has_failed ? "unknown" : "none";
        const explain::Cause& first = last_.causes.front();
        return std::string(explain::name(first.code)) + ' ' +
               std::string(explain::name(first.certainty));
    }
    const explain::Cause& first() const { return last_.causes.front(); }
    bool shows_frame(std::uint64_t frame) const {
        return std::ranges::any_of(
            first().evidence, [&](const explain::Evidence& one) { return one.frame == frame; });
    }

    wire::RoceFlows flows_;
    explain::Explainer explainer_;
    // It keeps a few dozen packets, and must come to the same result.
    explain::Explainer forgetful_{flow::Limits(), 64};
    explain::Explanation last_;
    std::int64_t now_ = 1'000'000'000;
    std::uint64_t frames_ = 0;
};

}  // namespace explain_test
