#include <algorithm>
#include <cerrno>

#include <gtest/gtest.h>

#include "examples/common/hint.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "util/check.hpp"

namespace {

std::string hint(int error, const char* call) {
    return common::hint_for(std::system_error(error, std::generic_category(), call));
}

TEST(Hint, names_the_call_without_the_systems_own_words) {
    EXPECT_EQ(common::call_of(std::system_error(EINVAL, std::generic_category(), "rdma_listen")),
              "rdma_listen");
}

TEST(Hint, says_what_to_try_for_the_usual_failures) {
    EXPECT_NE(hint(EADDRINUSE, "rdma_bind_addr(192.0.2.1 port 18515)").find("another port"),
              std::string::npos);
    EXPECT_NE(hint(ENODEV, "rdma_create_event_channel").find("00_hello/devices"),
              std::string::npos);
    EXPECT_NE(hint(ECONNREFUSED, "rdma_connect").find("start the server first"), std::string::npos);
    EXPECT_NE(hint(EACCES, "ibv_open_device(rxe0)").find("/dev/infiniband"), std::string::npos);
    EXPECT_EQ(hint(EINVAL, "ibv_modify_qp"), "");
}

TEST(Memory, a_pattern_repeats_its_text) {
    const auto bytes = common::pattern(8, "abc");
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text, "abcabcab");
    EXPECT_EQ(common::pattern(2, ""), std::vector<std::byte>(2));
}

TEST(Memory, describes_the_part_in_use) {
    auto memory = common::pattern(9, "123456789");
    memory.resize(64);
    runlog::Event event{0, "", "memory", common::describe_memory(memory)};
    EXPECT_EQ(event.number("len"), 64u);
    EXPECT_EQ(event.number("used"), 9u);
    EXPECT_EQ(event.number("crc32"), 0xcbf43926u);  // the check value of CRC-32/ISO-HDLC
    EXPECT_EQ(event.text("begins"), "123456789");
}

TEST(Memory, untouched_memory_has_nothing_in_use) {
    runlog::Event event{0, "", "memory", common::describe_memory(std::vector<std::byte>(64))};
    EXPECT_EQ(event.number("used"), 0u);
    EXPECT_EQ(event.text("begins"), "");
}

// Runs a command line with `arguments`. Returns its exit code and its output on standard error.
std::pair<int, std::string> run_client(std::vector<const char*> arguments) {
    common::CommandLine line("client", "a test");
    common::ClientOptions options;
    line.add(options);
    arguments.insert(arguments.begin(), "client");
    testing::internal::CaptureStderr();
    const int code =
        line.main(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()),
                  [&](runlog::Log&, util::StopSignal&) {
                      options.local.resolve(0, false);
                      return 0;
                  });
    return {code, testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, a_wrong_option_is_one_sentence_and_exit_code_2) {
    for (const auto& arguments : std::vector<std::vector<const char*>>{
             {},
             {"192.0.2.1", "--prot", "1"},
             {"192.0.2.1", "--port", "0"},
             {"192.0.2.1", "--port", "x"},
             {"192.0.2.1", "--timeout", "-1"},
             {"192.0.2.1", "--source", "192.0.2.2", "--device", "rxe0"}}) {
        const auto [code, text] = run_client(arguments);
        EXPECT_EQ(code, 2) << text;
        EXPECT_TRUE(text.starts_with("client: ")) << text;
        EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    }
}

TEST(CommandLine, a_failure_of_the_run_is_exit_code_1) {
    const auto [code, text] = run_client({"192.0.2.1", "--source", "192.0.2"});
    EXPECT_EQ(code, 1);
    EXPECT_EQ(text, "client: '192.0.2' is not an IPv4 or IPv6 address.\n");
}

TEST(CommandLine, a_good_command_line_runs) {
    const auto [code, text] = run_client({"192.0.2.1", "--port", "65535"});
    EXPECT_EQ(code, 0) << text;
    EXPECT_EQ(text, "");
}

}  // namespace
