// The scene for tests of requests that are retransmitted although they have responses.
#pragma once

#include <fmt/format.h>

#include "trace/explain/account.hpp"

namespace explain_test {

class Late : public Account {
  protected:
    void connect_with(int timeout) {
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), timeout);
    }
    void works(std::uint32_t psn) {
        send(psn);
        ack(psn);
    }
    /// Timeout 10 is 4.2 ms: the requester sends a request again after at most 17 ms.
    void works_again_after_300_ms() {
        connect_with(10);
        works(100);
        works(101);
        wait(300 * ms);
        works(101);
        works(102);
    }
    /// A message of two packets. Only the last one requires a response.
    void message(std::uint32_t psn) {
        add(packet(to_server, opcode::send_first, psn, 1024));
        auto last = packet(to_server, opcode::send_last, psn + 1, 8);
        last.bth->a = true;
        add(last);
    }
    void posts_number(int number, std::uint32_t psn) {
        posts("SEND", 8,
              fmt::format(R"(,"request":{},"psn_first":{},"psn_last":{})", number, psn, psn));
    }
    void completes_number(int number) {
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},)"
                                  R"("status":"SUCCESS")",
                                  number));
    }
    bool has(explain::Code code) const {
        return std::ranges::any_of(last_.causes,
                                   [&](const explain::Cause& one) { return one.code == code; });
    }
};

}  // namespace explain_test
