#include "xray/steps.hpp"

#include <array>
#include <endian.h>
#include <string>

#include <gtest/gtest.h>

#include "runlog/event.hpp"

namespace xray_test {

using xray::Steps;
using xray::TraceLine;

// A line as the kernel prints it. `psn` and `dest` as on the wire.
std::string line(std::string_view step, std::string_view arguments,
                 std::string_view time = "148.206732", int cpu = 0) {
    return "          client-221     [00" + std::to_string(cpu) + "] d..2.   " + std::string(time) +
           ": " + std::string(step) + ": (rxe_function+0x0/0x4b0 [rdma_rxe]) " +
           std::string(arguments);
}

// The kernel reads the header's words in the host's byte order.
std::string header(unsigned opcode, std::uint32_t dest_qpn, std::uint32_t psn) {
    return "op=" + std::to_string(opcode) + " dest=" + std::to_string(htobe32(dest_qpn)) +
           " psn=" + std::to_string(htobe32(psn | 0x80000000U));
}

class XraySteps : public testing::Test {
  protected:
    void take(const std::string& text) {
        const auto parsed = TraceLine::of(text);
        ASSERT_TRUE(parsed) << text;
        steps_.take(*parsed, 0);
    }
    std::string written_;
    Steps steps_{"client",
                 [this](const runlog::Event& event) { written_ += runlog::to_text(event) + '\n'; }};
};

TEST(XrayLine, has_cpu_time_step_and_arguments) {
    const std::string text = line("post", "qpn=17 user=1 wr=(fault)", "148.000732", 3);
    const auto parsed = TraceLine::of(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->cpu, 3U);
    EXPECT_EQ(parsed->t_ns, 148'000'732'000);
    EXPECT_EQ(parsed->step, "post");
    EXPECT_EQ(parsed->number("qpn"), 17U);
    EXPECT_EQ(parsed->number("user"), 1U);
    EXPECT_EQ(parsed->number("wr"), std::nullopt);
    EXPECT_EQ(parsed->number("pn"), std::nullopt);
}

TEST(XrayLine, of_another_kind_is_none) {
    for (const char* other :
         {"", "# tracer: nop", "CPU:0 [LOST 12 EVENTS]", "a-1 [000] d..2. 1.5: x: (f) a=1",
          "a-1 [000] d..2. 1.000005: no place", "a-1 [x] d..2. 1.000005: x: (f) a=1"})
        EXPECT_FALSE(TraceLine::of(other)) << other;
}

TEST(XrayLine, names_lost_events) {
    EXPECT_EQ(TraceLine::lost("CPU:0 [LOST 12 EVENTS]"), 12U);
    EXPECT_EQ(TraceLine::lost("CPU:0"), 0U);
}

TEST(XrayLine, numbers_may_be_hexadecimal_or_negative) {
    const std::string text = line("icrc", "ret=-22 psn=0xff");
    const auto parsed = TraceLine::of(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->number("ret"), static_cast<std::uint64_t>(-22));
    EXPECT_EQ(parsed->number("psn"), 255U);
}

TEST_F(XraySteps, of_a_request_from_the_call_to_the_completion) {
    take(line("post", "qpn=17 user=1 wr=(fault) opcode=(fault)"));
    take(line("requester", "qpn=17"));
    take(line("transmit", "qpn=17 " + header(6, 0x11, 0x82d29)));
    take(line("requester", "qpn=17"));  // nothing is left to send
    take(line("receive", header(17, 0x11, 0x82d29)));
    take(line("icrc", "ret=0"));
    take(line("completer", "qpn=17"));
    take(line("complete", "user=1 wr=1 status=0 qpn=17 kernel_qpn=(fault)"));
    take(line("completer", "qpn=17"));
    steps_.finish();
    EXPECT_EQ(written_, R"(driver    post  QP 0x000011
driver    requester  QP 0x000011
driver    transmit  RC RDMA WRITE First PSN 0x082d29 to QP 0x000011  QP 0x000011
driver    receive  RC Acknowledge PSN 0x082d29 to QP 0x000011, ICRC ok
driver    completer  QP 0x000011
driver    complete  wr 1 SUCCESS  QP 0x000011
)");
    EXPECT_EQ(steps_.written(), 6U);
}

TEST_F(XraySteps, have_packets_with_a_wrong_icrc_and_those_that_are_dropped_before) {
    take(line("receive", header(4, 0x11, 1)));
    take(line("icrc", "ret=-22"));
    take(line("receive", header(4, 0x11, 2)));
    take(line("receive", header(4, 0x11, 3)));
    steps_.finish();
    EXPECT_EQ(written_, R"(driver    receive  RC SEND Only PSN 0x000001 to QP 0x000011, ICRC wrong
driver    receive  RC SEND Only PSN 0x000002 to QP 0x000011
driver    receive  RC SEND Only PSN 0x000003 to QP 0x000011
)");
}

TEST_F(XraySteps, of_the_kernels_own_requests_have_what_was_posted) {
    take(line("post", "qpn=1 user=0 wr=77 opcode=2"));
    take(line("post", "qpn=18 user=0 wr=78 opcode=32"));
    take(line("complete", "user=0 wr=77 status=12 qpn=4294936704 kernel_qpn=1"));
    EXPECT_EQ(written_, R"(driver    post  SEND  wr 77  QP 0x000001
driver    post  REG_MR  wr 78  QP 0x000012
driver    complete  wr 77 RETRY_EXC_ERR  QP 0x000001
)");
}

TEST_F(XraySteps, of_timers_are_written_at_once) {
    take(line("ack_timer", "qpn=17"));
    take(line("rnr_timer", "qpn=18"));
    take(line("completer", "qpn=17"));
    take(line("error", "qpn=17"));
    EXPECT_EQ(written_, R"(driver    ack_timer  QP 0x000011
driver    rnr_timer  QP 0x000012
driver    completer  QP 0x000011
driver    error  QP 0x000011
)");
}

TEST_F(XraySteps, of_two_cpus_do_not_mix) {
    take(line("requester", "qpn=17", "1.000001", 0));
    take(line("requester", "qpn=18", "1.000002", 1));
    take(line("transmit", "qpn=18 " + header(4, 0x12, 9), "1.000003", 1));
    EXPECT_EQ(written_, R"(driver    requester  QP 0x000012
driver    transmit  RC SEND Only PSN 0x000009 to QP 0x000012  QP 0x000012
)");
}

}  // namespace xray_test
