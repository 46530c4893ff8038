// What rocetrace does with programs that it cannot trace, with signals, with its environment, with
// a log that cannot be written, and with recorded logs.
#include <array>
#include <csignal>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace program_test {

using namespace std::chrono_literals;
using support::Argv;
namespace fs = std::filesystem;

std::string rocetrace() {
    return (support::build_dir() / "rocetrace").string();
}

std::string untraced(const std::string& program) {
    return fmt::format(
        "rocetrace: {} made no verbs call that rocetrace can trace, unless a line above says why "
        "it is not traced. If the program links "
        "libibverbs statically, rocetrace cannot trace it. If it sets or clears LD_PRELOAD (env, a "
        "script), put LD_PRELOAD=LIBRARY before the program that makes the calls.\n",
        program);
}

class TracedProgram : public testing::Test {
  protected:
    TracedProgram() { fs::create_directory(folder_.path()); }

    std::string path(const std::string& name) const { return folder_.str() + "/" + name; }
    static support::Outcome run(const Argv& words, const Argv& environment = {}) {
        Argv argv{rocetrace()};
        argv.insert(argv.end(), words.begin(), words.end());
        return support::run(argv, environment, 20s);
    }
    // Runs a command of the shell with its log in the folder.
    support::Outcome shell(const std::string& script, const Argv& options = {},
                           const Argv& environment = {}) const {
        Argv words{"-o", path("log.jsonl")};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"--", "sh", "-c", script});
        return run(words, environment);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    // A copy of true(1), changed.
    template <typename Change>
    std::string changed_program(const std::string& name, Change change) const {
        std::ifstream file("/bin/true", std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        change(bytes);
        write(name, bytes);
        fs::permissions(path(name), fs::perms::owner_all);
        return path(name);
    }

    support::TempPath folder_{"program"};
};

// A call that fails and is logged on a host without an RDMA device.
constexpr const char* call =
    "import ctypes; ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel()";

TEST_F(TracedProgram, that_is_not_given_is_an_error_of_usage) {
    EXPECT_EQ(run({}).all(),
              "exit 2\nrocetrace: command is required.\n'rocetrace --help' lists the options.\n");
    EXPECT_EQ(shell("", {"--only", "qp,packets"}).all(),
              "exit 2\nrocetrace: --only: there is no category 'packets'; choose from device, pd, "
              "mr, cq, srq, qp, ah, cm, send, recv, wc and event.\n"
              "'rocetrace --help' lists the options.\n");
    const auto help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(help.out.starts_with(
        "Runs a program and logs every verbs and rdma_cm call that it makes.\n"));
    EXPECT_EQ(run({"--version"}).exit_code, 0);
}

TEST_F(TracedProgram, that_cannot_be_run_has_the_exit_code_of_a_shell) {
    write("file", "text");
    EXPECT_EQ(
        run({"-o", path("log"), "--", path("file")}).all(),
        fmt::format("exit 126\nrocetrace: cannot run {}: Permission denied.\n", path("file")));
    // Found in PATH, but no program: as if it was missing.
    EXPECT_EQ(run({"-o", path("log"), "--", "file"}, {"PATH=" + folder_.str()}).all(),
              "exit 127\nrocetrace: cannot run file: No such file or directory.\n");
}

TEST_F(TracedProgram, that_the_library_cannot_trace_is_named_before_it_runs) {
    const auto first_line = [&](const std::string& program) {
        const auto outcome = run({"-o", path("log"), "--", program});
        return outcome.err.substr(0, outcome.err.find('\n'));
    };
    const auto fixed = changed_program("static", [](std::string& bytes) {
        auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
        auto* segments = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header->e_phoff);
        for (unsigned i = 0; i < header->e_phnum; ++i)
            if (segments[i].p_type == PT_INTERP)
                segments[i].p_type = PT_NULL;
    });
    EXPECT_EQ(first_line(fixed),
              fmt::format("rocetrace: no verbs call will be logged: {} is linked statically, so "
                          "librocetrace.so cannot be loaded into it.",
                          fixed));
    const auto narrow =
        changed_program("narrow", [](std::string& bytes) { bytes[EI_CLASS] = char{ELFCLASS32}; });
    EXPECT_EQ(first_line(narrow),
              fmt::format("rocetrace: no verbs call will be logged: {} is not a 64-bit program, "
                          "and librocetrace.so is a 64-bit library.",
                          narrow));
    const auto own = changed_program("own", [](std::string&) {});
    fs::permissions(own, fs::perms::owner_all | fs::perms::set_uid | fs::perms::set_gid);
    EXPECT_EQ(run({"-o", path("log"), "--", own}).all(), "exit 0\n" + untraced(own));
    write("script", "#!/bin/sh\nexit 4\n");
    fs::permissions(path("script"), fs::perms::owner_all);
    EXPECT_EQ(run({"-o", path("log"), "--", path("script")}).all(),
              "exit 4\n" + untraced(path("script")));
}

TEST_F(TracedProgram, that_gains_rights_is_named_before_it_runs) {
    if (geteuid() != 0)
        GTEST_SKIP() << "only root may give a file to another user";
    struct Row {
        uid_t user;
        gid_t group;
        fs::perms bit;
        bool gains;
    };
    const std::array<Row, 4> rows{{{65534, 0, fs::perms::set_uid, true},
                                   {0, 65534, fs::perms::set_gid, true},
                                   {0, 65534, fs::perms::set_uid, false},
                                   {65534, 0, fs::perms::set_gid, false}}};
    for (const Row& row : rows) {
        const auto program = changed_program("gains", [](std::string&) {});
        ASSERT_EQ(chown(program.c_str(), row.user, row.group), 0);
        fs::permissions(program, fs::perms(0755) | row.bit);
        const auto outcome = run({"-o", path("log"), "--", program});
        const auto warning = fmt::format(
            "rocetrace: no verbs call will be logged: {} is set-user-ID, set-group-ID or has "
            "capabilities, so the dynamic linker does not load librocetrace.so into it: run it as "
            "the user whose privileges it gets.\n",
            program);
        EXPECT_EQ(outcome.err.starts_with(warning), row.gains) << row.user << outcome.err;
        fs::remove(program);
    }
}

TEST_F(TracedProgram, gets_the_signals_that_are_sent_to_rocetrace) {
    std::signal(SIGHUP, SIG_DFL);  // nohup ignores it, and no shell can trap what was ignored
    for (const char* name : {"INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "ALRM", "WINCH"}) {
        const std::string script = fmt::format(
            "trap 'echo got; exit 5' {}; echo ready; while :; do sleep 0.02; done", name);
        support::Process process({rocetrace(), "-o", path("log.jsonl"), "--", "sh", "-c", script});
        ASSERT_TRUE(process.await("ready\n", 10s)) << name;
        const std::array<std::pair<std::string_view, int>, 8> numbers{{{"INT", SIGINT},
                                                                       {"QUIT", SIGQUIT},
                                                                       {"TERM", SIGTERM},
                                                                       {"HUP", SIGHUP},
                                                                       {"USR1", SIGUSR1},
                                                                       {"USR2", SIGUSR2},
                                                                       {"ALRM", SIGALRM},
                                                                       {"WINCH", SIGWINCH}}};
        for (const auto& [word, number] : numbers)
            if (word == name)
                process.signal(number);
        const auto outcome = process.wait(10s);
        EXPECT_EQ(outcome.exit_code, 5) << name;
        EXPECT_EQ(outcome.out, "ready\ngot\n") << name;
    }
}

TEST_F(TracedProgram, ends_rocetrace_with_its_own_signal) {
    for (const int number : {SIGKILL, SIGSEGV, SIGPIPE, SIGXFSZ})
        EXPECT_EQ(shell(fmt::format("kill -{} $$", number)).exit_code, 128 + number);
}

TEST_F(TracedProgram, gets_the_categories_and_the_size_of_its_buffers) {
    const std::string print = "echo $ROCETRACE_ONLY:$ROCETRACE_BUFFER";
    EXPECT_EQ(shell(print).out, ":16\n");
    unsigned bit = 1;
    for (const char* category :
         {"device", "pd", "mr", "cq", "srq", "qp", "ah", "cm", "send", "recv", "wc", "event"}) {
        EXPECT_EQ(shell(print, {"--only", category}).out, fmt::format("{}:16\n", bit)) << category;
        bit *= 2;
    }
    EXPECT_EQ(shell(print, {"--only", "pd,event", "--buffer", "1024"}).out, "2050:1024\n");
    EXPECT_EQ(shell(print, {"--buffer", "1"}).out, ":1\n");
    EXPECT_EQ(shell(print, {"--buffer", "1025"}).exit_code, 2);
}

TEST_F(TracedProgram, gets_both_libraries_or_only_one) {
    const std::string print = "echo ${LD_PRELOAD##*/}:${LD_AUDIT##*/}";
    EXPECT_EQ(shell(print).out, "librocetrace.so:librocetrace-audit.so\n");
    EXPECT_EQ(shell(print, {"--no-audit"}).out, "librocetrace.so:\n");
}

TEST_F(TracedProgram, finds_a_socket_that_is_removed_at_the_end) {
    const auto in = [&](const std::string& folder) {
        return shell("echo $ROCETRACE_SOCKET; test -S $ROCETRACE_SOCKET", {},
                     {"XDG_RUNTIME_DIR=" + folder});
    };
    const auto own = in(folder_.str());
    EXPECT_EQ(own.exit_code, 0);
    EXPECT_TRUE(own.out.starts_with(folder_.str() + "/rocetrace.")) << own.out;
    EXPECT_TRUE(own.out.ends_with("/socket\n"));
    EXPECT_FALSE(fs::exists(fs::path(own.out).parent_path()));
    const auto too_long = path(std::string(100, 'x'));
    fs::create_directory(too_long);
    EXPECT_TRUE(in(too_long).out.starts_with("/tmp/rocetrace."));
    EXPECT_TRUE(fs::is_empty(too_long));
    EXPECT_TRUE(in("").out.starts_with("/tmp/rocetrace."));
    EXPECT_TRUE(in("/no/such/folder").out.starts_with("/tmp/rocetrace."));
}

TEST_F(TracedProgram, is_not_disturbed_by_a_socket_that_nobody_listens_at) {
    const auto library = (support::build_dir() / "librocetrace.so").string();
    const auto outcome = support::run({"python3", "-c",
                                       "import ctypes; "
                                       "ctypes.CDLL(None).rdma_create_event_channel()"},
                                      {"LD_PRELOAD=" + library, "ROCETRACE_SOCKET=/no/socket"});
    EXPECT_EQ(outcome.all(),
              "exit 0\nrocetrace: this process is not traced: /no/socket: No such "
              "file or directory.\n");
}

TEST_F(TracedProgram, that_sends_something_else_to_the_socket_is_refused) {
    const auto sends = [&](const std::string& what) {
        return run({"-o", path("log.jsonl"), "--", "python3", "-c",
                    "import os, socket\n"
                    "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                    "s.connect(os.environ['ROCETRACE_SOCKET'])\n"
                    "fd = os.memfd_create('x', os.MFD_ALLOW_SEALING)\n" +
                        what + "\n"})
            .all();
    };
    EXPECT_EQ(sends("socket.send_fds(s, [b'r'], [fd])"),
              "exit 0\nrocetrace: a traced process sent something other than its memory.\n" +
                  untraced("python3"));
    EXPECT_EQ(sends("os.ftruncate(fd, 1 << 24)\nsocket.send_fds(s, [b'r'], [fd])"),
              "exit 0\nrocetrace: a traced process sent something other than its memory.\n" +
                  untraced("python3"));
    EXPECT_EQ(sends("os.ftruncate(fd, 1 << 24)\n"
                    "import fcntl; fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)\n"
                    "socket.send_fds(s, [b'r'], [fd])"),
              "exit 0\nrocetrace: a traced process sent memory that is not a trace.\n" +
                  untraced("python3"));
    EXPECT_EQ(sends("s.send(b'r')"), "exit 0\n" + untraced("python3"));
    EXPECT_EQ(sends("s.send(b'too long')"), "exit 0\n" + untraced("python3"));
}

TEST_F(TracedProgram, whose_log_cannot_be_written_ends_with_125_unless_it_failed_itself) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const std::string complaint =
        "rocetrace: run log incomplete: cannot write to /dev/full: No space left on device.\n";
    EXPECT_EQ(run({"-o", "/dev/full", "--", "python3", "-c", call}).all(),
              "exit 125\n" + complaint);
    EXPECT_EQ(
        run({"-o", "/dev/full", "--", "python3", "-c", std::string(call) + "; exit(3)"}).all(),
        "exit 3\n" + complaint);
}

TEST_F(TracedProgram, has_a_log_of_its_name_and_number_by_default_if_there_is_something_to_log) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto before = fs::current_path();
    fs::current_path(folder_.path());
    const auto log_of = [&](const Argv& program) {
        Argv argv{rocetrace(), "--"};
        argv.insert(argv.end(), program.begin(), program.end());
        support::Process process(argv);
        const auto name = fmt::format("{}.{}.jsonl", program[0], process.pid());
        process.wait(10s);
        return fs::exists(path(name));
    };
    EXPECT_TRUE(log_of({"python3", "-c", call}));
    fs::remove_all(folder_.path());
    fs::create_directory(folder_.path());
    fs::current_path(folder_.path());
    EXPECT_FALSE(log_of({"true"}));
    EXPECT_FALSE(log_of({"no-such-program"}));
    EXPECT_TRUE(fs::is_empty(folder_.path()));
    run({"-o", path("chosen.jsonl"), "--", "true"});
    EXPECT_TRUE(fs::exists(path("chosen.jsonl")));
    fs::current_path(before);
}

// Python that finds the memory that the process shares with rocetrace.
const std::string shared_memory =
    std::string(call) +
    "\n"
    "import re\n"
    "maps = open('/proc/self/smaps').read()\n"
    "memory = re.search(r'(?m)^([0-9a-f]+)-[0-9a-f]+ rw-s .*memfd:rocetrace', maps)\n"
    "header = int(memory[1], 16)\n"
    "flags = re.search(r'VmFlags: (.*)', maps[memory.start():])[1].split()\n";

TEST_F(TracedProgram, that_overwrites_the_shared_memory_keeps_its_exit_status_and_the_log) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    // The region's header, a ring's, its data; the number and the size of the rings.
    const Argv overwrites{
        "ctypes.memset(header, 255, 2048)", "ctypes.memset(header + 65536, 255, 192)",
        "ctypes.memset(header + 2 * 65536, 255, 8192)", "ctypes.memset(header + 16, 120, 8)",
        "ctypes.memset(header + 8, 120, 8)"};
    const std::string until_logged = fmt::format(
        "import os, time\nwhile os.path.getsize('{}') == 0: time.sleep(0.01)\n", path("log.jsonl"));
    for (const std::string& overwrite : overwrites) {
        const auto outcome =
            run({"-o", path("log.jsonl"), "--", "python3", "-c",
                 fmt::format("{}{}{}\n{}; exit(3)", shared_memory, until_logged, overwrite, call)});
        EXPECT_EQ(outcome.exit_code, 3) << overwrite << '\n' << outcome.all();
        EXPECT_TRUE(outcome.err.empty() ||
                    outcome.err.find("has overwritten memory that is not its own") !=
                        std::string::npos)
            << overwrite << '\n'
            << outcome.err;
        EXPECT_EQ(outcome.err.find("faster than"), std::string::npos) << outcome.err;
        std::ifstream log(path("log.jsonl"));
        const std::string text{std::istreambuf_iterator<char>(log), {}};
        EXPECT_NE(text.find("\"event\":\"process\""), std::string::npos) << overwrite;
        EXPECT_TRUE(text.ends_with("}\n")) << overwrite;
    }
}

TEST_F(TracedProgram, has_no_more_in_its_core_than_without_rocetrace) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    EXPECT_EQ(run({"-o", path("log.jsonl"), "--", "python3", "-c",
                   shared_memory + "print('dd' in flags)"})
                  .out,
              "True\n");
}

TEST_F(TracedProgram, keeps_to_its_limits) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto limited = [&](const std::string& limit) {
        return shell(limit + "; exec python3 -c \"" + call + "; exit(3)\"");
    };
    // In KiB. The log is not limited.
    EXPECT_EQ(limited("ulimit -f 1000000").all(), "exit 3\n");
    EXPECT_EQ(
        limited("ulimit -f 200").all(),
        "exit 3\nrocetrace: this process is not traced: its memory: a limit of the process is "
        "too low (ulimit -f, ulimit -v).\n" +
            untraced("sh"));
    EXPECT_EQ(limited("ulimit -v 4000000").all(), "exit 3\n");
}

// The shell opens the FIFO and reads nothing. The log does not fit into it.
TEST_F(TracedProgram, gets_signals_while_nobody_reads_the_log) {
    const auto fifo = path("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    support::Process reader({"sh", "-c", "exec 3<" + fifo + "; echo open; sleep 30"});
    support::Process process({rocetrace(), "-o", fifo, "--", "python3", "-c",
                              "import ctypes, os\n"
                              "create = ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel\n"
                              "[create() for i in range(20000)]\n"
                              "print('full', flush=True)\n"
                              "import signal; signal.pause()\n"});
    ASSERT_TRUE(reader.await("open", 10s));
    ASSERT_TRUE(process.await("full", 20s));
    process.signal(SIGTERM);
    const auto outcome = process.wait(10s);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.all();
    EXPECT_NE(outcome.err.find("run log incomplete: cannot write to " + fifo), std::string::npos)
        << outcome.err;
}

TEST_F(TracedProgram, may_be_summarized_and_explained_when_it_has_ended) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto outcome = run({"-o", path("log.jsonl"), "--role", "end", "--summary", "--explain",
                              "--", "python3", "-c", call});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("failed calls: 1\n  ")) << outcome.err;
    EXPECT_TRUE(
        outcome.err.ends_with(" end: rdma_create_event_channel ENODEV\nNo failure and no "
                              "slowdown found in 1 run log.\n"))
        << outcome.err;
    EXPECT_EQ(run({"-o", "-", "--summary", "--", "true"}).all(),
              "exit 125\nrocetrace: --summary and --explain read the log when the program has "
              "ended: -o must be a file, not -.\n");
    for (const char* output : {"-", "/dev/full"})
        EXPECT_EQ(run({"-o", output, "--explain", "--", "true"}).exit_code, 125) << output;
}

// The program replaces the log by a FIFO. The shell can open it for writing when rocetrace reads it.
TEST_F(TracedProgram, can_be_ended_while_its_log_is_explained) {
    const std::string log = path("log.jsonl");
    const auto outcome = support::run(
        {"sh", "-c",
         R"("$1" --explain -o "$2" -- sh -c 'rm "$1" && mkfifo "$1"' sh "$2" & tracer=$!
         until test -p "$2"; do kill -0 $tracer || exit 1; done
         exec 3>"$2"
         kill -TERM $tracer
         wait $tracer)",
         "sh", rocetrace(), log},
        {}, 20s);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.err;
}

TEST_F(TracedProgram, logs_that_are_recorded_are_summarized_and_explained) {
    write("a.jsonl",
          R"({"t_ns":3661000002000,"role":"a","event":"failed","call":"ibv_open_device",)"
          R"("error":"EPERM"})"
          "\n");
    write("b.jsonl", R"({"t_ns":1,"role":"b","event":"dropped","records":7})"
                     "\n");
    EXPECT_EQ(run({"--summary", path("a.jsonl"), path("b.jsonl")}).all(),
              "exit 0\nfailed calls: 1\n  01:01:01.000002 a: ibv_open_device EPERM\n"
              "7 events are missing in the log: counts of completions may be too small\n");
    EXPECT_EQ(run({"--explain", path("b.jsonl")}).all(),
              "exit 0\nNo failure and no slowdown found in 1 run log.\n");
    write("aborted.jsonl", R"({"t_ns":1,"role":"c","event":"process_end","pid":7,"signal":6})"
                           "\n");
    const auto aborted = run({"--explain", path("aborted.jsonl")});
    EXPECT_EQ(aborted.exit_code, 1);
    EXPECT_NE(aborted.out.find("process 7 has ended by signal 6"), std::string::npos);
    EXPECT_EQ(run({"-o", path("log"), "--summary", path("none.jsonl")}).exit_code, 127);
}

}  // namespace program_test
