// Lesson 27 in the lab: which packets a read() and a write() of a remote disk or file are, as the
// kernel's NVMe and NFS send them.
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "examples/27_read/disk.hpp"
#include "support/step_checks.hpp"
#include "support/tool.hpp"
#include "support/tshark.hpp"
#include "wire/packet.hpp"

namespace lesson27_test {

using support::LabRun;
using support::rows;

constexpr const char* client = "build/examples/27_read/client";
constexpr const char* server = "build/examples/27_read/server";
// What the lesson's NFS server leaves in the kernel: threads, ports, exports, mounts.
constexpr const char* nfs_state =
    "grep -hv '^#' /proc/net/rpc/*/content; cat /proc/fs/nfsd/portlist 2>/dev/null; "
    "grep -E '^(nfsd|rdma-wire-lab) | nfs4 ' /proc/mounts; ls -d /tmp/rdma-wire-lab*; true";

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

TEST_F(Lesson27, a_read_by_nfs_is_a_write_of_the_bytes_of_the_file) {
    const LabRun run = captured({"--nfs", "--offset", "8192", "--length", "12288"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
    support::expect_counted(run);
    const auto verified = support::run({support::rocecap(), "verify", run.dir});
    EXPECT_EQ(verified.exit_code, 0) << verified.all();
    EXPECT_EQ(LabRun::find(run.client, "read")->number("bytes"), 12288U);
    EXPECT_EQ(LabRun::find(run.client, "check")->text("verdict"), "good");

    // The call's write chunk is where the server writes.
    const auto calls =
        rows(run, "rpcrdma.segment.handle,rpcrdma.segment.offset,rpcrdma.xid,nfs.ops",
             "rpcrdma.segment.length == 12288 and rpc.msgtyp == 0");
    ASSERT_EQ(calls.size(), 1U);
    const auto number = [&](std::size_t i) { return std::stoull(calls[0][i], nullptr, 0); };
    EXPECT_EQ(number(1) >> 32, number(2));  // as the lesson says
    EXPECT_EQ(calls[0][3], "SEQUENCE PUTFH READ");
    std::string expected(12288, '\0');
    lesson27::fill(expected, 8192);
    EXPECT_EQ(written(run, std::to_string(number(0))), expected);
    EXPECT_EQ(
        rows(run, "frame", fmt::format("reth.va == {} and reth.dmalen == 12288", number(1))).size(),
        1U);
    // The reply invalidates the key.
    EXPECT_EQ(rows(run, "frame", fmt::format("ieth == {}", number(0))).size(), 1U);

    const auto agreement =
        support::compare_with_tshark(run.file("wire.pcapng"), support::Guesses::Allowed);
    EXPECT_EQ(agreement.mismatches, 0U) << agreement.text();
    std::uint64_t of_nfs = 0;
    for (const auto& [name, count] : agreement.by_field)
        if (name.starts_with("rpc") || name.starts_with("nfs"))
            of_nfs += count;
    EXPECT_GT(of_nfs, 300U);

    for (const char* host : {"client", "server"})
        EXPECT_EQ(support::exec(host, {"bash", "-c", nfs_state}).out, "") << host;
}

TEST_F(Lesson27, a_write_by_nfs_is_a_read_or_comes_with_its_call) {
    const LabRun large = captured({"--nfs", "--write", "--length", "8192"});
    ASSERT_EQ(large.outcome.exit_code, 0) << large.outcome.all();
    EXPECT_EQ(rows(large, "frame", "bth.opcode == 12 and reth.dmalen == 8192").size(), 1U);

    const LabRun small = captured({"--nfs", "--write", "--offset", "1", "--length", "1000"});
    ASSERT_EQ(small.outcome.exit_code, 0) << small.outcome.all();
    EXPECT_TRUE(rows(small, "frame", "reth.dmalen == 1000").empty());
    // The call with the data, and the reply to read().
    EXPECT_EQ(rows(small, "frame", "bth.opcode == 4 and payload_len > 1000").size(), 2U);
    EXPECT_EQ(LabRun::find(small.client, "check")->text("verdict"), "good");
}

TEST_F(Lesson27, the_drivers_steps_show_the_kernels_requests_for_nfs) {
    const LabRun run = support::capture("27", {"LAB_XRAY=1"}, {"--nfs"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    const std::string timeline = run.text_of("timeline.txt");
    std::size_t at = timeline.find("client           disk");
    for (const char* step : {"client           driver    post  REG_MR", "NFSv4 COMPOUND call",
                             "server           driver    post  RDMA_WRITE", "RC RDMA WRITE Only"}) {
        at = timeline.find(step, at);
        ASSERT_NE(at, std::string::npos) << step << '\n' << timeline;
    }
}

// A stopped server cleans up, and a new one does it for a killed one. A client's mount ends with it.
TEST_F(Lesson27, nfs_ends_with_its_programs) {
    const std::string start = fmt::format(
        "exec {{out}}< <(exec {} --nfs --run-log -); pid=$!; read -r -u $out; ", server);
    for (const char* signal : {"INT", "TERM"})
        EXPECT_EQ(support::exec("server", {"bash", "-c",
                                           fmt::format("{}kill -{} $pid; wait $pid; echo $?; {}",
                                                       start, signal, nfs_state)})
                      .out,
                  "0\n");
    EXPECT_EQ(
        support::exec("server", {"bash", "-c",
                                 start + "kill -KILL $pid; wait $pid; cat /proc/fs/nfsd/threads"})
            .out,
        "2\n");
    const LabRun run = captured({"--nfs"});
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    // Another NFS server is left alone.
    const auto other = support::exec(
        "server",
        {"bash", "-c",
         fmt::format(
             "mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd; echo -3 "
             ">/proc/fs/nfsd/versions; echo rdma 20049 >/proc/fs/nfsd/portlist; echo 1 "
             ">/proc/fs/nfsd/threads; {} --nfs; status=$?; cat /proc/fs/nfsd/threads; echo 0 "
             ">/proc/fs/nfsd/threads; echo +3 >/proc/fs/nfsd/versions; umount "
             "/proc/fs/nfsd; exit $status",
             server)});
    EXPECT_EQ(other.out, "1\n");
    support::expect_one_sentence({.exit_code = other.exit_code, .err = other.err}, 1,
                                 "is an NFS server already");
}

TEST_F(Lesson27, what_cannot_be_read_is_said_in_one_sentence) {
    const auto alone = [](const support::Argv& argv) { return support::exec("client", argv); };
    support::expect_one_sentence(alone({client, "192.0.2.1"}), 1, "Is lesson 27's server running");
    support::expect_one_sentence(alone({"setpriv", "--reuid=65534", "--clear-groups", server}), 1,
                                 "only root");
    support::expect_one_sentence(alone({client, "192.0.2.1", "--nfs"}), 1,
                                 "running there with --nfs");
    for (const auto& [program, module] :
         {std::pair(std::string(client) + " 192.0.2.1", "nfsv4"), {server, "nfsd"}})
        support::expect_one_sentence(
            alone({"unshare", "-m", "bash", "-c",
                   fmt::format("mount -t tmpfs none /lib/modules; exec {} --nfs", program)}),
            1, fmt::format("has no module {}:", module));
}

}  // namespace lesson27_test
