// whole ROCECAP CAPTURE|RUN_DIR...: compares whole programs on whole captures, as ratios of times.
// Programs alternate, round by round, so that disturbances of the machine affect all of them; the
// fastest round of each counts. "x/floor" is a program's time over the floor's, "tshark/x" and
// "tcpdump/x" those of tshark and tcpdump -nr over the program's: tshark -T fields if rocecap
// prints fields, too, and tshark's listing if it lists a run.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/process.hpp"

namespace {

using Argv = std::vector<std::string>;

// Wireshark's names, which rocecap understands, so that both print the same.
const std::vector<std::string> fields{
    "frame.number",
    "ip.src",
    "ip.dst",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "infiniband.bth.psn",
    "infiniband.reth.r_key",
    "infiniband.aeth.syndrome",
};

struct Program {
    std::string name;
    Argv argv;
    int rounds;
    bench::Usage best{};
};

// All programs. `tshark`: the beginning of the name of the one to compare with.
struct Table {
    std::string tshark;
    std::vector<Program> programs;
};

Argv tshark_fields(const std::string& capture) {
    Argv argv{"tshark", "-n", "-r", capture, "-T", "fields"};
    for (const std::string& field : fields)
        argv.insert(argv.end(), {"-e", field});
    return argv;
}

// A run's capture, or the path itself.
std::string capture_of(const std::string& path) {
    return std::filesystem::is_directory(path) ? path + "/wire.pcapng" : path;
}

std::string comma_separated() {
    std::string list;
    for (const std::string& field : fields)
        list += (list.empty() ? "" : ",") + field;
    return list;
}

constexpr int often = 5;

// The programs that `ours` is compared with, and `ours`.
std::vector<Program> beside_others(const std::string& capture, const std::vector<Program>& ours) {
    std::vector<Program> all{
        {"tcpdump -r -w (the floor)", {"tcpdump", "-r", capture, "-w", "/dev/null"}, often},
        {"tcpdump -nr", {"tcpdump", "-nr", capture}, 2},
        {"tshark -n, text", {"tshark", "-n", "-r", capture}, 1},
    };
    all.insert(all.end(), ours.begin(), ours.end());
    return all;
}

Table of_capture(const std::string& rocecap, const std::string& capture) {
    return {
        "tshark -T",
        beside_others(
            capture,
            {{"tshark -T fields", tshark_fields(capture), 1},
             {"rocecap decode --fields",
              {rocecap, "decode", capture, "--fields", comma_separated()},
              often},
             {"rocecap decode", {rocecap, "decode", capture}, often},
             {"rocecap decode, one CPU", {"taskset", "-c", "0", rocecap, "decode", capture}, often},
             {"rocecap flows", {rocecap, "flows", capture}, often},
             {"rocecap verify", {rocecap, "verify", capture}, often}})};
}

Table of_run(const std::string& rocecap, const std::string& run) {
    return {"tshark -n",
            beside_others(capture_of(run),
                          {{"rocecap timeline", {rocecap, "timeline", run}, often},
                           {"rocecap annotate", {rocecap, "annotate", run, "-o", "-"}, often},
                           {"rocecap report", {rocecap, "report", run, "-o", "-"}, often}})};
}

bool measure(std::vector<Program>& all) {
    const int rounds = std::ranges::max_element(all, {}, &Program::rounds)->rounds;
    for (int round = 0; round < rounds; ++round)
        for (Program& program : all) {
            if (round >= program.rounds)
                continue;
            const bench::Usage usage = bench::run(program.argv);
            if (usage.exit_code != 0) {
                std::fputs(fmt::format("{} failed: exit code {}.\n", program.name, usage.exit_code)
                               .c_str(),
                           stderr);
                return false;
            }
            const long peak = std::max(program.best.peak_kib, usage.peak_kib);
            if (round == 0 || usage.wall_seconds < program.best.wall_seconds)
                program.best = usage;
            program.best.peak_kib = peak;
        }
    return true;
}

void print(const Table& table) {
    const std::vector<Program>& all = table.programs;
    constexpr double kib_in_mib = 1024;
    const auto find = [&](std::string_view name) {
        return std::ranges::find_if(
                   all, [&](const Program& program) { return program.name.starts_with(name); })
            ->best.wall_seconds;
    };
    const double floor = find("tcpdump -r -w");
    const double list = find("tcpdump -nr");
    const double tshark = find(table.tshark);
    std::fputs(fmt::format("{:<26} {:>8} {:>8} {:>9} {:>9} {:>10} {:>8}\n", "", "seconds", "CPU s",
                           "x/floor", "tshark/x", "tcpdump/x", "MiB")
                   .c_str(),
               stdout);
    for (const Program& program : all) {
        const double seconds = program.best.wall_seconds;
        std::fputs(fmt::format("{:<26} {:>8.3f} {:>8.3f} {:>9.2f} {:>9.1f} {:>10.1f} {:>8.1f}\n",
                               program.name, seconds, program.best.cpu_seconds, seconds / floor,
                               tshark / seconds, list / seconds,
                               static_cast<double>(program.best.peak_kib) / kib_in_mib)
                       .c_str(),
                   stdout);
    }
}

// A ratio of times is only meaningful if both print the same.
bool compare_output(const std::string& rocecap, const std::string& capture) {
    const std::string ours = capture + ".rocecap.tsv";
    const std::string theirs = capture + ".tshark.tsv";
    bench::run({rocecap, "decode", capture, "--fields", comma_separated()}, ours);
    bench::run(tshark_fields(capture), theirs);
    const bool is_same = bench::run({"cmp", ours, theirs}).exit_code == 0;
    const auto size = std::filesystem::file_size(ours);
    std::fputs(fmt::format("rocecap --fields and tshark -T fields: {} bytes each, {}\n", size,
                           is_same ? "identical" : "DIFFERENT")
                   .c_str(),
               stdout);
    std::filesystem::remove(ours);
    std::filesystem::remove(theirs);
    return is_same && size != 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: whole ROCECAP CAPTURE|RUN_DIR...\n", stderr);
        return 2;
    }
    const std::string rocecap = argv[1];
    bool is_good = compare_output(rocecap, capture_of(argv[2]));
    for (int i = 2; i < argc; ++i) {
        const std::string path = argv[i];
        const std::string capture = capture_of(path);
        Table table = capture == path ? of_capture(rocecap, path) : of_run(rocecap, path);
        std::fputs(fmt::format("\n{}, {:.0f} MB\n", capture,
                               static_cast<double>(std::filesystem::file_size(capture)) / 1e6)
                       .c_str(),
                   stdout);
        std::fflush(stdout);
        if (measure(table.programs))
            print(table);
        else
            is_good = false;
    }
    return is_good ? 0 : 1;
}
