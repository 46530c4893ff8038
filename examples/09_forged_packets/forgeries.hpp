// Lesson 09, the attacker: the forged packets. Each is a captured honest WRITE with some fields
// changed.
#pragma once

#include <vector>

#include "findings.hpp"
#include "packets.hpp"
#include "stage.hpp"

namespace lesson09 {

inline std::vector<std::byte> message(std::string_view text) {
    return common::pattern(message_size, text);
}

inline wire::Psn next_psn(const CapturedFrame& write) {
    return write.packet().bth->psn + 1;
}

// (a) Address, QPN, rkey and va are right, but not the PSN.
inline void wrong_psn(Stage& stage, Findings& findings) {
    CapturedFrame seen = stage.connect("Honest. ");
    findings.request(
        "a1", "WRITE, PSN 1000 ahead",
        stage.attempt(write_like(seen, next_psn(seen) + 1000, message("Forged (a1). "))));
    seen = stage.connect("Honest. ");
    findings.request(
        "a2", "WRITE, PSN 1000 behind",
        stage.attempt(write_like(seen, next_psn(seen) - 1000, message("Forged (a2). "))));
}

// (b) The PSN is right, but the rkey is wrong or belongs to another protection domain.
inline void wrong_rkey(Stage& stage, Findings& findings) {
    const auto forged = message("Forged (b). ");
    const auto with_key = [&](const CapturedFrame& seen, std::uint64_t va, std::uint32_t rkey) {
        return altered(seen, [&](wire::Packet& packet) {
            packet.bth->psn = next_psn(seen);
            packet.reth->va = va;
            packet.reth->rkey = rkey;
            packet.payload = forged;
        });
    };
    CapturedFrame seen = stage.connect("Honest. ");
    const auto other = stage.client().witness().theirs;
    findings.request("b1", "WRITE, rkey of another PD",
                     stage.attempt(with_key(seen, other.va, other.rkey)), "protection domain");
    seen = stage.connect("Honest. ");
    const auto reth = *seen.packet().reth;
    findings.request("b2", "WRITE, wrong rkey",
                     stage.attempt(with_key(seen, reth.va, reth.rkey ^ 1)));
    std::string_view status;
    const Trial trial = stage.attempt_honest("Honest, after (b2). ", status);
    findings.honest("b3", trial, status);
}

// (c) All fields are right, but the packet is not from the client.
inline void third_party(Stage& stage, Findings& findings) {
    const CapturedFrame seen = stage.connect("Honest. ");
    const auto forged = message("Forged (c). ");
    findings.request("c1", "WRITE, all right, third address",
                     stage.attempt(altered(seen, [&](wire::Packet& packet) {
                         constexpr std::uint8_t nobody = 66;
                         packet.bth->psn = next_psn(seen);
                         packet.payload = forged;
                         if (packet.ipv4)
                             packet.ipv4->src.bytes.back() = nobody;
                         if (packet.ipv6)
                             packet.ipv6->src.bytes.back() = nobody;
                     })));
    findings.request("c2", "WRITE, all right, client's address",
                     stage.attempt(write_like(seen, next_psn(seen), forged)));
    // The server expects the PSN after the forged one: it takes the client's own for a duplicate.
    std::string_view status;
    const Trial trial = stage.attempt_honest("Honest, after (c2). ", status);
    findings.honest("c3", trial, status);
}

// (d) A byte-by-byte copy of a packet that the client sent.
inline void replay(Stage& stage, Findings& findings) {
    const CapturedFrame first = stage.connect("First. ");
    stage.see_write("Second. ");
    findings.request("d1", "replay at once", stage.attempt(first.frame));
    stage.client().connect_again(Ask::Reconnect);
    findings.request("d2", "replay, reconnected, same PSN", stage.attempt(first.frame));
    stage.client().connect_again(Ask::Renew);
    stage.see_write("Third. ");
    findings.request("d3", "replay, reconnected, random PSN", stage.attempt(first.frame));
}

// (e) Responses to the server's requests that the client did not send.
inline void forged_answers(Stage& stage, Findings& findings) {
    const auto server_qpn = [&] { return stage.client().target().theirs.qpn; };
    CapturedFrame request = stage.see_request(Ask::PostWrite);
    Trial trial = stage.attempt(
        acknowledge_of(request, server_qpn(), request.packet().bth->psn, syndrome::ack));
    findings.answer("e1", "ACK for an undelivered WRITE", trial, trial.completion() == "SUCCESS");

    request = stage.see_request(Ask::PostWrite);
    trial = stage.attempt(acknowledge_of(request, server_qpn(), request.packet().bth->psn,
                                         syndrome::remote_access_error));
    findings.answer("e2", "NAK Remote Access Error", trial, trial.state() == "ERR");

    request = stage.see_request(Ask::PostRead);
    const auto forged = message("Forged (e3). ");
    trial =
        stage.attempt(read_response_of(request, server_qpn(), request.packet().bth->psn, forged));
    findings.answer("e3", "READ response", trial, trial.changed_read());
}

}  // namespace lesson09
