// Lesson 09, the client: an honest client, and in the same program an attacker that shows what forged
// packets do to a connection. Lab only.
#include "blind.hpp"
#include "examples/07_secure_psn/tls.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "forgeries.hpp"
#include "lab_only.hpp"
#include "odds_table.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t guesses = 1000;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // 1. The honest client and the attacker, on the lab's addresses only.
    const util::Address server = options.client.resolve_server();
    lesson09::require_lab(server);
    common::trace_no_requests();
    lesson09::RawSender sender;
    const net::TimeLimit limit{stop, util::deadline_in(options.client.timeout)};
    const auto tls = lesson07::open_tls(net::TlsRole::Client, options.secure, log);
    net::TlsChannel channel(
        *tls, net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit),
        limit);
    lesson09::HonestClient client(channel, options.client.timeout, log, stop);
    lesson09::Stage stage(client, sender);

    // 2. The forged packets (a) to (e), and what stops each.
    lesson09::Findings findings(log);
    lesson09::wrong_psn(stage, findings);
    lesson09::wrong_rkey(stage, findings);
    lesson09::third_party(stage, findings);
    lesson09::replay(stage, findings);
    lesson09::forged_answers(stage, findings);

    // 3. An attacker who sees no packet and has to guess.
    lesson09::Blind blind(stage, log);
    blind.measure();
    blind.guess(options.guesses);
    blind.look_at_numbers();
    client.finish();

    // 4. Both tables.
    findings.table();
    lesson09::OddsTable(blind.measured(), log).write();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client",
        "Lesson 09, client: injects forged packets and reports their effects. In the lab only.");
    Options options;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--guesses", options.guesses, 1, 100'000,
                        "Number of WRITEs with guessed PSNs");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
