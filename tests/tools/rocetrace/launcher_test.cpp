// Runs rocetrace like a user, on a host without an RDMA device: the calls fail and are logged.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "runlog/tail.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace launcher_test {

using support::Argv;

class Launcher : public testing::Test {
  protected:
    support::Outcome trace(const Argv& command, const Argv& options = {}) const {
        Argv argv{(support::build_dir() / "rocetrace").string(), "-o", log_.str(), "--role", "end"};
        argv.insert(argv.end(), options.begin(), options.end());
        argv.emplace_back("--");
        argv.insert(argv.end(), command.begin(), command.end());
        return support::run(argv);
    }
    std::vector<runlog::Event> events(std::string_view name) const {
        std::vector<runlog::Event> found;
        runlog::Tail tail(log_.str());
        while (auto event = tail.next())
            if (event->name == name)
                found.push_back(*std::move(event));
        return found;
    }

    support::TempPath log_{"rocetrace.jsonl"};
};

// Returns a Python program that calls a connection manager function through dlsym(), then runs
// `end`.
Argv python(const std::string& end) {
    return {"python3", "-c",
            "import ctypes, os\n"
            "ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel()\n" +
                end};
}

TEST_F(Launcher, ends_as_the_program_does) {
    EXPECT_EQ(trace({"true"}).exit_code, 0);
    EXPECT_EQ(trace({"sh", "-c", "exit 3"}).exit_code, 3);
    EXPECT_EQ(trace({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + SIGTERM);
}

TEST_F(Launcher, refuses_bad_input_with_one_sentence) {
    const auto missing = trace({"no-such-program"});
    EXPECT_EQ(missing.exit_code, 127);
    EXPECT_EQ(missing.err, "rocetrace: cannot run no-such-program: No such file or directory.\n");
    EXPECT_EQ(trace({"/etc/passwd"}).exit_code, 126);
    EXPECT_EQ(trace({"true"}, {"--only", "packets"}).exit_code, 2);
    EXPECT_EQ(trace({"true"}, {"--buffer", "0"}).exit_code, 2);
    const auto folder = trace({"true"}, {"-o", "/no/such/folder/log"});
    EXPECT_EQ(folder.exit_code, 2);  // trace() also passes -o: given twice
    EXPECT_EQ(support::run({(support::build_dir() / "rocetrace").string(), "-o",
                            "/no/such/folder/log", "--", "true"})
                  .err,
              "rocetrace: cannot write the run log /no/such/folder/log: No such file or "
              "directory; choose another -o.\n");
}

TEST_F(Launcher, sets_variables_and_keeps_the_users_preloaded_libraries) {
    const support::Argv print{"sh", "-c", R"(echo "$A:$B:${LD_PRELOAD#*librocetrace.so}")"};
    const auto with = [&](support::Argv words) {
        words.insert(words.end(), print.begin(), print.end());
        return words;
    };
    EXPECT_EQ(trace(print).out, "::\n");
    EXPECT_EQ(trace(with({"A=1", "B=x=y"})).out, "1:x=y:\n");
    EXPECT_EQ(trace(with({"LD_PRELOAD=libutil.so.1"})).out, ":::libutil.so.1\n");
    EXPECT_EQ(trace({"A=1"}).err, "rocetrace: no program was given after A=1.\n");
    EXPECT_EQ(trace({"1=A"}).exit_code, 127);
}

// A name with a '=' that is no variable's name: env(1) would set it.
TEST_F(Launcher, runs_a_program_whose_name_has_an_equals_sign) {
    const support::TempPath program("a.b=c");
    std::ofstream(program.path()) << "#!/bin/sh\necho run\n";
    std::filesystem::permissions(program.path(), std::filesystem::perms::owner_all);
    EXPECT_EQ(trace({program.str()}).out, "run\n");
}

TEST_F(Launcher, says_when_nothing_was_seen) {
    const auto outcome = trace({"true"});
    EXPECT_NE(outcome.err.find("true made no verbs call that rocetrace can trace"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Launcher, follows_dlsym_and_logs_a_call_that_fails) {
    if (std::filesystem::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    trace(python(""));
    const auto failed = events("failed");
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].role, "end");
    EXPECT_EQ(failed[0].text("call"), "rdma_create_event_channel");
    EXPECT_TRUE(failed[0].number("pid"));
    EXPECT_EQ(events("process").size(), 1U);
    EXPECT_EQ(events("process_end").size(), 1U);
}

TEST_F(Launcher, logs_how_the_program_ended) {
    const auto end_of = [&](const std::string& end) {
        trace(python(end));
        const auto ends = events("process_end");
        return ends.size() == 1 ? runlog::to_text(ends[0]) : "";
    };
    EXPECT_TRUE(end_of("os._exit(0)").ends_with(" has ended with status 0"));
    EXPECT_TRUE(end_of("os._exit(7)").ends_with(" has ended with status 7"));
    EXPECT_TRUE(end_of("os.kill(os.getpid(), 9)").ends_with(" has ended by signal 9"));
}

// rocetrace is not the parent of this process.
TEST_F(Launcher, does_not_know_how_another_process_ended) {
    const auto end_of = [&](const std::string& end) {
        Argv other{"sh", "-c", R"(python3 -c "$1"; true)", "sh"};
        other.push_back(python(end).back());
        trace(other);
        const auto ends = events("process_end");
        return ends.size() == 1 ? runlog::to_text(ends[0]) : "";
    };
    EXPECT_TRUE(end_of("raise SystemExit(7)").ends_with(" has ended"));
    EXPECT_TRUE(end_of("os._exit(7)").ends_with(" has ended by signal or _exit"));
    EXPECT_TRUE(end_of("os.kill(os.getpid(), 9)").ends_with(" has ended by signal or _exit"));
}

TEST_F(Launcher, with_text_prints_each_event_and_logs_what_the_program_prints) {
    if (std::filesystem::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto outcome =
        trace(python("os.write(1, b'one line\\nand its end'); os.write(2, b'end: it failed\\n')"),
              {"--text"});
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(" end failed    rdma_create_event_channel: "), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find(" end note      one line\n"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("\nend: it failed\n"), std::string::npos) << outcome.err;
    std::vector<std::string> order;
    runlog::Tail tail(log_.str());
    while (auto event = tail.next())
        order.push_back(event->name + " " + std::string(event->text("text")));
    ASSERT_EQ(order.size(), 6U) << fmt::format("{}", fmt::join(order, ", "));
    std::ranges::sort(order.begin() + 2, order.begin() + 5);
    EXPECT_EQ(order,
              (std::vector<std::string>{"process ", "failed ", "error it failed",
                                        "note and its end", "note one line", "process_end "}));
}

// The arguments of the older version differ. dladdr() tells in which library a function is.
TEST_F(Launcher, follows_dlvsym_only_to_functions_of_the_default_version) {
    const auto outcome =
        trace({"python3", "-c",
               "import ctypes as c\n"
               "class Info(c.Structure):\n"
               "    _fields_ = [('file', c.c_char_p), ('base', c.c_void_p), ('name', c.c_char_p),\n"
               "                ('address', c.c_void_p)]\n"
               "own = c.CDLL(None)\n"
               "own.dlvsym.restype = c.c_void_p\n"
               "own.dlvsym.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p]\n"
               "own.dladdr.argtypes = [c.c_void_p, c.c_void_p]\n"
               "verbs = c.CDLL('libibverbs.so.1')._handle\n"
               "for version in (b'IBVERBS_1.0', b'IBVERBS_1.1'):\n"
               "    info = Info()\n"
               "    own.dladdr(own.dlvsym(verbs, b'ibv_open_device', version), c.byref(info))\n"
               "    print(info.file.decode().split('/')[-1])\n"});
    EXPECT_EQ(outcome.out, "libibverbs.so.1\nlibrocetrace.so\n");
}

TEST_F(Launcher, without_audit_does_not_follow_dlsym) {
    trace(python(""), {"--no-audit"});
    EXPECT_TRUE(events("process").empty());
}

TEST_F(Launcher, loses_nothing_whatever_way_a_program_ends) {
    if (std::filesystem::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    for (const std::string end : {"os._exit(0)", "os.abort()", "os.kill(os.getpid(), 9)",
                                  "ctypes.string_at(0)", "os.execvp('true', ['true'])"}) {
        const Argv command = python(end);
        trace(command);
        EXPECT_EQ(events("failed").size(), 1U) << end;
        const auto process = events("process");
        ASSERT_EQ(process.size(), 1U) << end;
        // A wrapper may have started the interpreter by its path.
        EXPECT_TRUE(
            process[0].text("command").ends_with(fmt::format("{}", fmt::join(command, " "))))
            << process[0].text("command");
    }
}

// A completion channel of a pipe: the call waits until the process is killed. /proc shows when it
// does.
TEST_F(Launcher, logs_the_call_in_which_a_program_was_killed) {
    trace({"python3", "-c",
           "import ctypes, os, signal, threading\n"
           "class Channel(ctypes.Structure):\n"
           "    _fields_ = [('context', ctypes.c_void_p), ('fd', ctypes.c_int),\n"
           "                ('refcnt', ctypes.c_int)]\n"
           "reading, _ = os.pipe()\n"
           "def kill():\n"
           "    read_of_the_pipe = f'0 {hex(reading)} '\n"
           "    while True:\n"
           "        with open(f'/proc/self/task/{os.getpid()}/syscall') as state:\n"
           "            if state.read().startswith(read_of_the_pipe):\n"
           "                os.kill(os.getpid(), signal.SIGKILL)\n"
           "threading.Thread(target=kill).start()\n"
           "channel = Channel(None, reading, 0)\n"
           "ctypes.CDLL('libibverbs.so.1').ibv_get_cq_event(ctypes.byref(channel),\n"
           "    ctypes.byref(ctypes.c_void_p()), ctypes.byref(ctypes.c_void_p()))\n"});
    const auto begun = events("begun");
    ASSERT_EQ(begun.size(), 1U);
    EXPECT_EQ(begun[0].text("call"), "ibv_get_cq_event");
    EXPECT_TRUE(begun[0].number("tid"));
}

// librdmacm refuses an address without a known family before it uses the ID.
TEST_F(Launcher, logs_both_addresses_of_a_call_that_fails) {
    trace({"python3", "-c",
           "import ctypes, socket, struct\n"
           "def address(family, host):\n"
           "    return struct.pack('=H', family) + struct.pack('!H', 4791) + "
           "socket.inet_aton(host) + bytes(120)\n"
           "resolve = ctypes.CDLL('librdmacm.so.1').rdma_resolve_addr\n"
           "id = bytes(4096)\n"
           "resolve(id, address(99, '0.0.0.0'), address(socket.AF_INET, '192.0.2.1'), 1000)\n"
           "resolve(id, address(socket.AF_INET, '192.0.2.2'), address(99, '0.0.0.0'), 1000)\n"});
    const auto failed = events("failed");
    ASSERT_EQ(failed.size(), 2U);
    for (const auto& event : failed) {
        EXPECT_EQ(event.text("call"), "rdma_resolve_addr");
        EXPECT_EQ(event.text("error"), "EINVAL");
    }
    EXPECT_EQ(failed[0].text("peer"), "192.0.2.1 port 4791");
    EXPECT_EQ(failed[0].text("source"), "");
    EXPECT_EQ(failed[1].text("peer"), "");
    EXPECT_EQ(failed[1].text("source"), "192.0.2.2 port 4791");
}

TEST_F(Launcher, logs_the_child_of_a_fork_as_a_process_of_its_own) {
    if (std::filesystem::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    trace(
        python("if os.fork() == 0:\n"
               "    ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel()\n"
               "else:\n"
               "    os.wait()\n"));
    const auto failed = events("failed");
    ASSERT_EQ(failed.size(), 2U);
    EXPECT_NE(failed[0].number("pid"), failed[1].number("pid"));
    EXPECT_EQ(events("process").size(), 2U);
}

}  // namespace launcher_test
