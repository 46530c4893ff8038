// Lesson 27 in the lab: which packets a read() and a write() of a remote disk are, as the kernel's NVMe
// drivers send them.
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "examples/27_read/disk.hpp"
#include "support/step_checks.hpp"
#include "wire/packet.hpp"

namespace lesson27_test {

using support::LabRun;
using support::rows;

constexpr const char* client = "build/examples/27_read/client";
constexpr const char* server = "build/examples/27_read/server";

class Lesson27 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

LabRun captured(const support::Argv& arguments) {
    return support::capture("27", {"CAPTURE_SNAPLEN=all"}, arguments);
}

// The payload of all WRITEs to this rkey.
std::string written(const LabRun& run, const std::string& rkey) {
    std::string bytes;
    capture::FileSource file(run.file("wire.pcapng"));
    bool is_wanted = false;
    while (const auto frame = file.next()) {
        const wire::Packet packet = wire::decode(frame->bytes, frame->link_type);
        if (packet.reth)
            is_wanted = fmt::format("{}", packet.reth->rkey) == rkey;
        if (is_wanted && packet.opcode != nullptr &&
            packet.opcode->operation == wire::Operation::RdmaWrite)
            bytes.append(reinterpret_cast<const char*>(packet.payload.data()),
                         packet.payload.size());
    }
    return bytes;
}

TEST_F(Lesson27, a_read_is_a_write_of_the_bytes_of_the_disk) {
    const LabRun run = captured({"--offset", "8192", "--length", "12288"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    const auto* read = LabRun::find(run.client, "read");
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->number("bytes"), 12288U);
    EXPECT_EQ(LabRun::find(run.client, "check")->text("verdict"), "good");

    const auto commands =
        rows(run, "nvme.cmd.sgl1.key,reth.dmalen,nvme.cmd.sgl1.len", "nvme.cmd.sgl1.len == 12288");
    ASSERT_EQ(commands.size(), 1U);
    std::string expected(12288, '\0');
    lesson27::fill(expected, 8192);
    EXPECT_EQ(written(run, std::to_string(std::stoul(commands[0][0], nullptr, 0))), expected);

    // The listing shows the command beside its packet.
    EXPECT_NE(run.text_of("timeline.txt").find("| NVMe Read cid "), std::string::npos);
    // Nothing of the run remains.
    EXPECT_EQ(support::exec("client", {"ls", "/sys/class/nvme"}).out, "");
    EXPECT_EQ(support::exec("server", {"ls", "/sys/kernel/config/nvmet/ports",
                                       "/sys/kernel/config/nvmet/subsystems"})
                  .out.find("rdma-wire-lab"),
              std::string::npos);
}

TEST_F(Lesson27, a_write_is_a_read_or_comes_with_its_command) {
    const LabRun large = captured({"--write", "--length", "8192"});
    ASSERT_EQ(large.outcome.exit_code, 0) << large.outcome.all();
    // RDMA READ Request. (The Connect command has one of 1,024 bytes.)
    EXPECT_EQ(rows(large, "frame", "bth.opcode == 12 and reth.dmalen == 8192").size(), 1U);
    EXPECT_EQ(LabRun::find(large.client, "check")->text("verdict"), "good");

    const LabRun small = captured({"--write"});
    ASSERT_EQ(small.outcome.exit_code, 0) << small.outcome.all();
    EXPECT_TRUE(rows(small, "frame", "bth.opcode == 12 and reth.dmalen == 4096").empty());
    // SEND First: the command and the data in one message.
    EXPECT_EQ(rows(small, "frame", "bth.opcode == 0 and payload_len == 4096").size(), 1U);
}

TEST_F(Lesson27, what_cannot_be_read_is_said_in_one_sentence) {
    const auto alone = [](const support::Argv& argv) { return support::exec("client", argv); };
    support::expect_one_sentence(alone({client, "192.0.2.1"}), 1, "Is lesson 27's server running");
    support::expect_one_sentence(alone({"setpriv", "--reuid=65534", "--clear-groups", server}), 1,
                                 "only root");
}

}  // namespace lesson27_test
