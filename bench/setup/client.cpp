// The client of the connection set-up measurement: all methods in each round, so that disturbances
// of the machines affect all of them.
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "bench/setup/report.hpp"
#include "examples/common/program.hpp"
#include "util/error.hpp"

namespace {

using namespace bench;

struct Options {
    common::ClientOptions client;
    common::SecureOptions secure;
    std::uint64_t connections = 200;
    std::uint64_t warm_up = 5;
    std::string json;
    std::string cmtime;
};

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw util::Error(fmt::format("cannot read {}: is it the output of cmtime?", path));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void write_json(const Result& result, const std::string& path) {
    std::ofstream file(path);
    file << json(result).dump(1) << '\n';
    if (!file.flush())
        throw util::Error(fmt::format("cannot write {}.", path));
}

Result measure(Client& client, const Options& options) {
    Result result;
    result.warm_up = options.warm_up;
    for (const Method& method : methods)
        result.series.push_back({&method, {}, {}});
    for (std::uint64_t round = 0; round < options.warm_up + options.connections; ++round)
        for (std::size_t turn = 0; turn < methods.size(); ++turn) {
            // Each round starts with another method.
            Series& series = result.series[(turn + round) % methods.size()];
            const Sample sample = client.connect(*series.method);
            if (round == 0)
                series.first = sample;
            else if (sample.was_resumed != (series.method->exchange == Exchange::TlsResumed))
                throw util::Error(fmt::format("{}: the TLS session was {}.", series.method->name,
                                              sample.was_resumed ? "resumed" : "not resumed"));
            if (round >= options.warm_up)
                series.samples.push_back(sample);
        }
    return result;
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    Client client(options.client, options.secure, log, stop);
    Result result = measure(client, options);
    if (!options.cmtime.empty())
        result.cmtime = parse_cmtime(text_of(options.cmtime));
    std::fputs(table(result).c_str(), stdout);
    if (!options.json.empty())
        write_json(result, options.json);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Connection set-up, the client: see bench/setup/run.");
    Options options;
    options.client.port = default_port;
    command_line.add(options.client);
    command_line.add(options.secure);
    command_line.number("--connections", options.connections, 1, 100'000,
                        "Connections of each method");
    command_line.number("--warm-up", options.warm_up, 1, 1000,
                        "Warm-up rounds, which do not count");
    command_line.text("--json", options.json, "Also write the results to this file");
    command_line.text("--cmtime", options.cmtime, "Output of cmtime, to print after the results");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
