// torch.distributed over verbs: the same losses as one process alone, and each packet has its call. In
// guests of their own with the root of forky, whose PyTorch has Gloo's transport for verbs.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace pytorch_test {

using namespace std::chrono_literals;

class PyTorch : public testing::Test {
  protected:
    static support::Argv environment(support::Argv more = {}) {
        more.insert(more.end(), {"LAB_STATE=build/lab-pytorch", "LAB_MEMORY=2048",
                                 "LAB_SYSROOT=forky+python3-torch"});
        return more;
    }
    void SetUp() override {
        if (support::run({"bash", "-c", "command -v mmdebstrap"}).exit_code != 0)
            GTEST_SKIP() << "mmdebstrap is not installed";
        // Creates the root the first time.
        const auto up = support::run({"lab/lab", "up"}, environment(), 40min);
        ASSERT_EQ(up.exit_code, 0) << up.all();
    }
    void TearDown() override { support::run({"lab/lab", "down"}, environment()); }

    static support::Argv rank(const std::string& number, const std::string& ranks,
                              const std::string& address) {
        return {"python3", "examples/26_all_reduce/train.py", number, ranks, address};
    }
    // "step 1: loss 0.693147", ...
    static std::string losses(const std::string& output) {
        std::string all;
        for (auto at = output.find(": step "); at != std::string::npos;
             at = output.find(": step ", at + 1))
            all += output.substr(at + 2, output.find('\n', at) - at - 1);
        return all;
    }
};

TEST_F(PyTorch, sends_its_gradients_by_verbs_and_learns_what_one_process_learns) {
    support::Argv alone{"lab/lab", "exec", "client", "--"};
    std::ranges::copy(rank("0", "1", "127.0.0.1"), std::back_inserter(alone));
    const auto one = support::run(alone, environment(), 10min);
    ASSERT_EQ(one.exit_code, 0) << one.all();

    const support::Argv by_verbs{"GLOO_DEVICE_TRANSPORT=IBVERBS", "TORCH_GLOO_IBV_NAME=rxe0",
                                 "TORCH_GLOO_IBV_INDEX=1"};
    support::Argv two{"lab/lab", "trace", "--"};
    const auto add = [&](const support::Argv& words) {
        two.insert(two.end(), words.begin(), words.end());
    };
    add(by_verbs);
    add(rank("0", "2", "{server}"));
    add({"::"});
    add(by_verbs);
    add(rank("1", "2", "{server}"));
    // The import takes a minute under emulation, and the programs are compiled in the root the first time.
    const auto run = support::read_run(support::run(
        two, environment({"CAPTURE_SERVER_WAIT_SECONDS=600", "CAPTURE_SECONDS=600"}), 60min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    EXPECT_EQ(std::ranges::count(losses(one.out), '\n'), 3) << one.all();
    for (const char* log : {"server.log", "client.log"})
        EXPECT_EQ(losses(run.text_of(log)), losses(one.out)) << log;
    const auto packets = support::tshark_packets(run.file("wire.pcapng"));
    EXPECT_GT(packets.size(), 50U);
    const auto count = std::to_string(packets.size());
    EXPECT_NE(
        run.outcome.all().find(count + " packets; of " + count + " on connected queue pairs, " +
                               count + " belong to a work request"),
        std::string::npos)
        << run.outcome.all();
    for (const auto* log : {&run.server, &run.client})
        for (const auto& state : support::LabRun::ready_to_send(*log))
            EXPECT_EQ(state.number("sq_psn"), 0x8b4567);
}

}  // namespace pytorch_test
