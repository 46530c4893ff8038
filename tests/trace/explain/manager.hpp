// The messages of a connection manager, and what the programs' logs have of them.
#pragma once

#include "trace/explain/account.hpp"

namespace explain_test {

using Message = wire::CmAttribute;

class Manager : public Account {
  protected:
    static constexpr std::uint32_t clients = 0x51;
    static constexpr std::uint32_t servers = 0x61;
    // The service ID of TCP port 5791.
    static constexpr std::string_view port_service = "00000000 0106 169f";

    std::uint64_t ask() { return manage(2, Message::ConnectRequest, clients, 0); }
    /// Asks twice: no copy is as late as the second one.
    void ask_again(std::uint16_t p_key = 0xffff) {
        for (int copy = 0; copy < 2; ++copy) {
            manage(2, Message::ConnectRequest, clients, 0, 0, p_key);
            wait(1 * ms);
        }
    }
    std::uint64_t ask_for_port() {
        return tell(
            2, Message::ConnectRequest,
            {{0, "00000051"}, {8, port_service}, {32, "000021"}, {44, "000064"}, {50, "30"}});
    }
    std::uint64_t reject(std::uint16_t reason) {
        return manage(1, Message::ConnectReject, servers, clients, reason);
    }
    void event(std::string_view type, std::string_view role = "client") {
        log(role, R"("event":"cm_event","type":")" + std::string(type) + R"(","status":0,"id":7)");
    }
    void calls_connect() {
        log("client", R"("event":"cm_call","call":"rdma_connect","id":7,"qpn":33)");
    }
    void ends_after(std::int64_t ns) {
        wait(ns - 1000);
        log("client", R"("event":"process_end","pid":1)");
    }
};

}  // namespace explain_test
