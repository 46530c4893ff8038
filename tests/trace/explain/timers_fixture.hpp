// The scene for tests of the timers of both ends.
#pragma once

#include <string>
#include <string_view>

#include "trace/explain/account.hpp"

namespace explain_test {

class Timers : public Account {
  protected:
    void capture_at_client() {
        explainer_.captured_at(*flow::host_of_gid(gid(2)));
        forgetful_.captured_at(*flow::host_of_gid(gid(2)));
    }
    /// A packet of other hosts, `ns` later.
    void goes_on(std::int64_t ns) {
        wait(ns - 1000);
        add(packet({.from = 5, .to = 6, .qpn = 0x55}, opcode::send_only, 7, 8));
    }
    void set(std::string_view role, int qpn, std::string_view attributes) {
        log(role, R"("event":"qp_state","state":"RTS","qpn":)" + std::to_string(qpn) + ',' +
                      std::string(attributes));
    }
    /// A request whose response comes `response` after it and after a retransmission at `timeout`.
    void answered_after(std::uint32_t psn, std::int64_t timeout, std::int64_t response) {
        send(psn);
        wait(timeout - 1000);
        send(psn);
        wait(response - timeout - 1000);
        ack(psn);
        ack(psn);
    }
};

}  // namespace explain_test
