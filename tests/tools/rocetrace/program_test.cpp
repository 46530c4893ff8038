// How a program is started under rocetrace, the signals and the environment that it gets, the socket
// and the memory that it shares with rocetrace, and how it ends.
#include <array>
#include <csignal>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/rocetrace/traced_program.hpp"

namespace program_test {

using namespace std::chrono_literals;
using namespace rocetrace_test;
using support::Argv;
namespace fs = std::filesystem;

std::string untraced(const std::string& program) {
    return fmt::format(
        "rocetrace: {} made no verbs call that rocetrace can trace, unless a line above says why "
        "it is not traced. If the program links "
        "libibverbs statically, rocetrace cannot trace it. If it sets or clears LD_PRELOAD (env, a "
        "script), put LD_PRELOAD=LIBRARY before the program that makes the calls.\n",
        program);
}

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

TEST_F(TracedProgram, ends_rocetrace_with_its_own_signal) {
    for (const int number : {SIGKILL, SIGSEGV, SIGPIPE, SIGXFSZ})
        EXPECT_EQ(shell(fmt::format("kill -{} $$", number)).exit_code, 128 + number);
}

}  // namespace program_test
