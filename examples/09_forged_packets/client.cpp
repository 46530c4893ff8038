// Step 09, the honest client, and beside it in the same program the attacker: what packets made by
// somebody else do to a connection, by how much their maker knows. Only inside the lab.
#include "forge/lab_only.hpp"
#include "stage.hpp"

namespace {

struct Options {
    lesson::ClientOptions client;
    lesson::SecureOptions secure;
};

void tell(runlog::Log& log, std::string_view name, std::string_view packet, const Trial& trial) {
    std::string answers;
    for (const std::string& answer : trial.answers)
        answers += (answers.empty() ? "" : ", ") + answer;
    log.event(
        "forgery",
        {{"name", name},
         {"packet", packet},
         {"answer", answers.empty() ? "nothing" : answers},
         {"memory", trial.changed_memory() ? "changed" : "as before"},
         {"state", trial.state()},
         {"received", trial.after.received.value_or(0) - trial.before.received.value_or(0) - 1},
         {"duplicate", trial.after.duplicate.value_or(0) - trial.before.duplicate.value_or(0)},
         {"out_of_sequence",
          trial.after.out_of_sequence.value_or(0) - trial.before.out_of_sequence.value_or(0)}});
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const util::Address server = options.client.resolve_server();
    forge::require_lab(server);
    forge::RawSender sender;
    const exchange::Patience patience{stop, util::deadline_in(options.client.timeout)};
    const auto tls = lesson::open_tls(exchange::TlsRole::Client, options.secure, log);
    exchange::TlsChannel channel(
        *tls,
        exchange::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), patience),
        patience);
    Stage stage(channel, sender, options.client.timeout, log, stop);

    // (a) the PSN is wrong.
    auto seen = stage.connect("Honest. ");
    const auto forged = lesson::pattern(Stage::message_size, "Forged (a). ");
    const auto next = seen.packet().bth->psn + 1;
    tell(log, "a1", "WRITE, PSN expected + 1000",
         stage.attempt(forge::write_like(seen, next + 1000, forged)));
    seen = stage.connect("Honest. ");
    tell(log, "a2", "WRITE, PSN expected - 1000",
         stage.attempt(forge::write_like(seen, seen.packet().bth->psn + 1 - 1000, forged)));
    // (b) the PSN is right, the rkey is not.
    seen = stage.connect("Honest. ");
    tell(log, "b", "WRITE, wrong rkey",
         stage.attempt(forge::altered(seen, [&](wire::Packet& packet) {
             packet.bth->psn += 1;
             packet.reth->rkey ^= 1;
             packet.payload = forged;
         })));
    // (c)
    seen = stage.connect("Honest. ");
    tell(log, "c1", "WRITE from a third address",
         stage.attempt(forge::altered(seen, [&](wire::Packet& packet) {
             packet.bth->psn += 1;
             packet.payload = forged;
             if (packet.ipv4)
                 packet.ipv4->src.bytes.back() = 66;
             if (packet.ipv6)
                 packet.ipv6->src.bytes.back() = 0x66;
         })));
    tell(log, "c2", "WRITE from the client's address",
         stage.attempt(forge::write_like(seen, seen.packet().bth->psn + 1, forged)));
    stage.finish();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    lesson::CommandLine command_line(
        "client",
        "Step 09, client: packets that somebody else made, and what they do. In the lab only.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
