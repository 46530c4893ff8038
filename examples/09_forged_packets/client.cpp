// Step 09, the honest client, and beside it in the same program an attacker: what packets made by
// somebody else do to a connection. Only inside the lab.
#include "blind.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/secure.hpp"
#include "findings.hpp"
#include "forge/lab_only.hpp"
#include "stage.hpp"

namespace {

using forge::Ask;
using forge::Seen;

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t guesses = 1000;
};

std::vector<std::byte> message(std::string_view text) {
    return common::pattern(HonestClient::message_size, text);
}

wire::Psn next_psn(const Seen& write) {
    return write.packet().bth->psn + 1;
}

// (a) Address, QPN, rkey and va are right: the PSN is not.
void wrong_psn(Stage& stage, Findings& findings) {
    Seen seen = stage.connect("Honest. ");
    findings.request(
        "a1", "WRITE, PSN 1000 ahead",
        stage.attempt(forge::write_like(seen, next_psn(seen) + 1000, message("Forged (a1). "))));
    seen = stage.connect("Honest. ");
    findings.request(
        "a2", "WRITE, PSN 1000 behind",
        stage.attempt(forge::write_like(seen, next_psn(seen) - 1000, message("Forged (a2). "))));
}

// (b) The PSN is right: the rkey is not, or is one of another protection domain.
void wrong_rkey(Stage& stage, Findings& findings) {
    const auto forged = message("Forged (b). ");
    const auto with_key = [&](const Seen& seen, std::uint64_t va, std::uint32_t rkey) {
        return forge::altered(seen, [&](wire::Packet& packet) {
            packet.bth->psn = next_psn(seen);
            packet.reth->va = va;
            packet.reth->rkey = rkey;
            packet.payload = forged;
        });
    };
    Seen seen = stage.connect("Honest. ");
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

// (c) All of it is right, and sent by somebody who is not the client.
void third_party(Stage& stage, Findings& findings) {
    const Seen seen = stage.connect("Honest. ");
    const auto forged = message("Forged (c). ");
    findings.request("c1", "WRITE, all right, third address",
                     stage.attempt(forge::altered(seen, [&](wire::Packet& packet) {
                         constexpr std::uint8_t nobody = 66;
                         packet.bth->psn = next_psn(seen);
                         packet.payload = forged;
                         if (packet.ipv4)
                             packet.ipv4->src.bytes.back() = nobody;
                         if (packet.ipv6)
                             packet.ipv6->src.bytes.back() = nobody;
                     })));
    findings.request("c2", "WRITE, all right, client's address",
                     stage.attempt(forge::write_like(seen, next_psn(seen), forged)));
    // The server expects the PSN behind the forged one: the client's own is a repetition to it.
    std::string_view status;
    const Trial trial = stage.attempt_honest("Honest, after (c2). ", status);
    findings.honest("c3", trial, status);
}

// (d) Byte by byte what the client sent once.
void replay(Stage& stage, Findings& findings) {
    const Seen first = stage.connect("First. ");
    stage.see_write("Second. ");
    findings.request("d1", "replay at once", stage.attempt(first.frame));
    stage.client().connect_again(Ask::Reconnect);
    findings.request("d2", "replay, reconnected, same PSN", stage.attempt(first.frame));
    stage.client().connect_again(Ask::Renew);
    stage.see_write("Third. ");
    findings.request("d3", "replay, reconnected, random PSN", stage.attempt(first.frame));
}

// (e) Answers to requests of the server's that the client never answered.
void forged_answers(Stage& stage, Findings& findings) {
    const auto server_qpn = [&] { return stage.client().target().theirs.qpn; };
    Seen request = stage.see_request(Ask::PostWrite);
    Trial trial = stage.attempt(forge::acknowledge_of(
        request, server_qpn(), request.packet().bth->psn, forge::syndrome::ack));
    findings.answer("e1", "ACK for a WRITE nobody received", trial,
                    trial.completion() == "SUCCESS");

    request = stage.see_request(Ask::PostWrite);
    trial = stage.attempt(forge::acknowledge_of(request, server_qpn(), request.packet().bth->psn,
                                                forge::syndrome::remote_access_error));
    findings.answer("e2", "NAK Remote Access Error", trial, trial.state() == "ERR");

    request = stage.see_request(Ask::PostRead);
    const auto forged = message("Forged (e3). ");
    trial = stage.attempt(
        forge::read_response_of(request, server_qpn(), request.packet().bth->psn, forged));
    findings.answer("e3", "READ response", trial, trial.changed_read());
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Address server = options.client.resolve_server();
    forge::require_lab(server);
    forge::RawSender sender;
    const exchange::Patience patience{stop, util::deadline_in(options.client.timeout)};
    const auto tls = step07::open_tls(exchange::TlsRole::Client, options.secure, log);
    exchange::TlsChannel channel(
        *tls,
        exchange::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), patience),
        patience);
    HonestClient client(channel, options.client.timeout, log, stop);
    Stage stage(client, sender);
    Findings findings(log);
    wrong_psn(stage, findings);
    wrong_rkey(stage, findings);
    third_party(stage, findings);
    replay(stage, findings);
    forged_answers(stage, findings);
    Blind blind(stage, log);
    blind.measure();
    blind.guess(options.guesses);
    blind.look_at_numbers();
    client.finish();
    findings.table();
    blind.table();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Step 09, client: packets that somebody else made, and what they do. In the lab only.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--guesses", options.guesses, 1, 100'000,
                        "WRITEs with guessed PSNs to send");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
