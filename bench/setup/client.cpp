// The active side of the connection set-up measurement: every method in turns, round by round.
#include <cstdio>

#include <fmt/format.h>

#include "bench/setup/connect.hpp"
#include "bench/setup/statistics.hpp"
#include "lesson/program.hpp"

int main(int argc, char** argv) {
    using namespace bench;
    lesson::CommandLine command_line("client",
                                     "Connection set-up, the active side: see bench/setup/run.");
    lesson::ClientOptions options;
    options.port = 18600;
    lesson::SecureOptions secure;
    std::uint64_t connections = 200, warm_up = 5;
    command_line.add(options);
    command_line.add(secure);
    command_line.number("--connections", connections, 1, 100'000, "Connections of each method");
    command_line.number("--warm-up", warm_up, 1, 1000, "Rounds before, which do not count");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        Client client(options, secure, log, stop);
        std::vector<std::vector<Sample>> s(methods.size());
        for (std::uint64_t r = 0; r < warm_up + connections; ++r)
            for (std::size_t i = 0; i < methods.size(); ++i) {
                const std::size_t m = (i + r) % methods.size();
                Sample x = client.connect(methods[m]);
                if (r >= warm_up)
                    s[m].push_back(x);
            }
        for (std::size_t m = 0; m < methods.size(); ++m) {
            fmt::print("{:14}", methods[m].name);
            for (double p : {50., 99.}) {
                for (std::size_t ph = 0; ph < phase_names.size(); ++ph) {
                    std::vector<double> v;
                    for (auto& x : s[m])
                        v.push_back(static_cast<double>(x.phases[ph].count()) / 1e6);
                    fmt::print(" {:7.2f}", percentile(v, p));
                }
                std::vector<double> v;
                for (auto& x : s[m])
                    v.push_back(static_cast<double>(x.total.count()) / 1e6);
                fmt::print(" = {:7.2f} |", percentile(v, p));
            }
            fmt::print("\n");
        }
        return 0;
    });
}
