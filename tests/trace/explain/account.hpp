// Explanations as text, so that a test compares everything that they say.
#pragma once

#include <fmt/format.h>

#include "trace/explain/scene.hpp"

namespace explain_test {

class Account : public Scene {
  protected:
    /// Returns all causes. The first line of each has its name, its certainty, whether it is fatal,
    /// and the time lost. The lines after it have its place, its sentence and its evidence. An entry
    /// of a log is marked with "log", a value that holds for the whole log is not.
    std::string causes() {
        last_ = explained();
        std::string all;
        for (const explain::Cause& cause : last_.causes) {
            all += fmt::format("\n{} {}{}", name(cause.code), name(cause.certainty),
                               cause.is_fatal ? ", fatal" : "");
            if (cause.cost_ns != 0)
                all += fmt::format(", {} us", static_cast<double>(cause.cost_ns) / 1e3);
            if (!cause.where.empty())
                all += "\n  " + cause.where;
            all += "\n  " + cause.text + '\n';
            for (const explain::Evidence& one : cause.evidence)
                all += text(one);
        }
        return all;
    }
    std::string signs() {
        last_ = explained();
        std::string all;
        for (const explain::Evidence& one : last_.signs)
            all += text(one);
        return all;
    }

    /// Requests without a response and without a cause: place and last copy.
    std::string unanswered() {
        last_ = explained();
        std::string all;
        for (const explain::Unanswered& one : last_.unanswered)
            all += one.where + '\n' + text(one.last);
        return all;
    }

    /// Those without a cause: place, packets, time and frames of the evidence, a line each.
    std::string retransmissions() {
        last_ = explained();
        std::string all;
        for (const explain::Retransmissions& one : last_.retransmissions) {
            all += fmt::format("{}: {} packet{}, {}; frames", one.where, one.packets,
                               one.packets == 1 ? "" : "s",
                               one.is_by_running_timers ? "running timers"
                                                        : fmt::format("{} us", one.cost_ns / 1000));
            for (const explain::Evidence& shown : one.evidence)
                all += fmt::format(" {}", shown.frame);
            all += '\n';
        }
        return all;
    }

    /// Changes the number of entries of the completion queue that make() reports.
    void set_entries(std::string_view role, int entries) {
        log(role, R"("event":"cq","cq":1,"entries":)" + std::to_string(entries));
    }
    /// The client posts a request of `length` bytes. `more`: further fields.
    void posts(std::string_view opcode, std::uint64_t length, std::string_view more = "") {
        log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":")" + std::string(opcode) +
                          R"(","len":)" + std::to_string(length) + std::string(more));
    }
    void server_posts_receive(std::uint64_t length) {
        log("server", R"("event":"post_recv","qpn":17,"wr_id":5,"len":)" + std::to_string(length));
    }
    /// `more`: further fields, such as the number of the request.
    void receive_completes(std::string_view status, std::string_view more = R"(,"request":0)") {
        log("server", R"("event":"wc","qpn":17,"wr_id":5,"queue":"recv","status":")" +
                          std::string(status) + '"' + std::string(more));
    }
    /// The client's device, and its queue pair of type UD or another one.
    void make_datagram_pair(std::string_view role, int host, std::uint32_t qpn,
                            std::string_view q_key = R"(,"q_key":286331153)",
                            std::string_view path_mtu = R"(,"path_mtu":1024)") {
        const std::string number = std::to_string(qpn);
        log(role, R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(host) + '"' +
                      std::string(path_mtu));
        log(role,
            R"("event":"qp","type":"UD","max_send_wr":16,"send_cq":1,"recv_cq":1,"qpn":)" + number);
        for (const char* state : {"RTR", "RTS"})
            log(role, R"("event":"qp_state","state":")" + std::string(state) + R"(","qpn":)" +
                          number + std::string(q_key));
    }
    /// Adds a message of the connection manager from host `from` to the other one. `fields`: offsets
    /// in its data, and hexadecimal bytes (IBTA volume 1, 12.6.5 to 12.6.8).
    std::uint64_t tell(int from, wire::CmAttribute attribute,
                       std::initializer_list<std::pair<std::ptrdiff_t, std::string_view>> fields) {
        std::vector<std::byte> data(wire::Mad::data_size);
        for (const auto& [offset, hex] : fields)
            std::ranges::copy(wire_test::from_hex(hex), data.begin() + offset);
        const auto mad = wire_test::cm_mad(attribute, data);
        Way way = from == 2 ? to_server : to_client;
        way.qpn = wire::gsi_qpn;
        auto made = datagram(way, wire::gsi_qpn, 7);
        made.deth->q_key = wire::gsi_q_key;
        made.payload = mad;
        return add(made);
    }
    /// Sends a request `copies` times, 67 ms apart.
    void repeat(std::uint32_t psn, int copies = 3, std::size_t length = 8) {
        for (int copy = 0; copy < copies; ++copy) {
            if (copy > 0)
                wait(67 * ms);
            send(psn, length);
        }
    }

  private:
    static std::string text(const explain::Evidence& one) {
        if (one.frame != 0)
            return fmt::format("  frame {}: {}\n", one.frame, one.text);
        return fmt::format("  {}{}: {}\n", one.role, one.t_ns != 0 ? " log" : "", one.text);
    }
};

}  // namespace explain_test
