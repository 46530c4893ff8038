// The scene for tests of what the link emulator's log confirms.
#pragma once

#include <string>
#include <string_view>

#include "trace/explain/account.hpp"

namespace explain_test {

class LinkRecord : public Account {
  protected:
    /// `what`: "limit" has dropped the packet, "queued" is a limit that has delayed it.
    void acts(std::string_view what, std::string_view from, std::string_view to, std::uint32_t qpn,
              std::string_view more = "", std::uint32_t psn = 100) {
        const std::string event_name(what == "queued" ? "limit" : what);
        const std::string detail = what == "limit"    ? R"(,"detail":"its queue is full: dropped")"
                                   : what == "queued" ? R"(,"detail":"0.9 ms")"
                                                      : "";
        const std::string line =
            R"({"t_ns":1,"role":"link","event":")" + event_name + R"(","rule":3,"text":")" +
            std::string(what) + R"( some packets","from":")" + std::string(from) + R"(","to":")" +
            std::string(to) + R"(","frame":1,"opcode_name":"RC SEND Only","psn":)" +
            std::to_string(psn) + R"(,"dest_qpn":)" + std::to_string(qpn) + detail +
            std::string(more) + '}';
        const auto event = runlog::from_json(line);
        ASSERT_TRUE(event) << line;
        explainer_.learn_link(*event);
        forgetful_.learn_link(*event);
    }
    void gives_up_over_responses() {
        connect();
        posts_send(100, 8);
        send(100);
        ack(100);
        for (int copy = 0; copy < 3; ++copy) {
            wait(67 * ms);
            send(100);
            ack(100);
        }
        completes("RETRY_EXC_ERR");
    }
};

}  // namespace explain_test
