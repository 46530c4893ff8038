// The scene for tests of what the link emulator's log confirms.
#pragma once

#include <string>
#include <string_view>

#include "trace/explain/account.hpp"

namespace explain_test {

class LinkRecord : public Account {
  protected:
    void acts(std::string_view what, std::string_view from, std::string_view to, std::uint32_t qpn,
              std::string_view more = "") {
        const std::string line =
            R"({"t_ns":1,"role":"link","event":")" + std::string(what) + R"(","rule":3,"text":")" +
            std::string(what) + R"( some packets","from":")" + std::string(from) + R"(","to":")" +
            std::string(to) + R"(","frame":1,"opcode_name":"RC SEND Only","psn":100,"dest_qpn":)" +
            std::to_string(qpn) + std::string(more) + '}';
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
