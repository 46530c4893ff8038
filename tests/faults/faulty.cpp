// faulty server [OPTION]... and faulty client SERVER [OPTION]...: a connection with one fault, for
// the fault corpus (CONTRIBUTING.md).
#include "tests/faults/faulty.hpp"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    const std::string_view role = argc > 1 ? argv[1] : "";
    if (role == "server") {
        common::CommandLine line("server", "The server of a connection with one fault.");
        faults::ServerOptions options;
        options.add_to(line);
        return line.main(argc - 1, argv + 1, [&](runlog::Log& log, util::StopSignal& stop) {
            return faults::run_server(options, log, stop);
        });
    }
    if (role == "client") {
        common::CommandLine line("client", "The client of a connection with one fault.");
        faults::ClientOptions options;
        options.add_to(line);
        return line.main(argc - 1, argv + 1, [&](runlog::Log& log, util::StopSignal& stop) {
            return faults::run_client(options, log, stop);
        });
    }
    std::fputs(
        "faulty: give server or client as the first argument. 'faulty server --help' lists the "
        "options.\n",
        stderr);
    return 2;
}
