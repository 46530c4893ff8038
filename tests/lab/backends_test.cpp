// Tests of the ssh and local backends on real hosts: ssh to the guests as to any two machines,
// configured only with the documented variables; local in a guest, which is a host with an RDMA
// device.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace backends_test {

using support::LabRun;

class Backends : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

class Ssh : public Backends {
  protected:
    static void TearDownTestSuite() {
        support::run({"lab/lab", "down"}, environment());
        support::exec("server", {"rm", "-rf", "/root/rdma-wire-lab"});
        support::exec("client", {"rm", "-rf", "/root/rdma-wire-lab"});
    }

    // Returns the settings of the ssh backend with which it reaches the guests as the vm backend
    // does.
    static support::Argv environment(const support::Argv& more = {}) {
        std::map<std::string, std::string> server, client, *host = nullptr;
        std::ifstream config("build/lab/run/ssh_config");
        for (std::string key, value; config >> key >> value;) {
            if (key == "Host")
                host = value == "server" ? &server : &client;
            else
                (*host)[key] = value;
        }
        support::Argv all{"LAB_BACKEND=ssh",
                          "CAPTURE_SERVER_IP=" + support::server_ip,
                          "CAPTURE_CLIENT_IP=" + support::client_ip,
                          "LAB_SERVER=root@127.0.0.1",
                          "LAB_CLIENT=root@127.0.0.1",
                          "LAB_SERVER_PORT=" + server["Port"],
                          "LAB_CLIENT_PORT=" + client["Port"],
                          "LAB_SSH_KEY=" + server["IdentityFile"],
                          "LAB_SSH_OPTIONS=-o HostKeyAlias=rdma-lab-guest -o UserKnownHostsFile=" +
                              server["UserKnownHostsFile"]};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

TEST_F(Ssh, makes_the_link_worse_and_good_again) {
    const auto set = support::run({"lab/lab", "netem", "client", "delay", "1ms"}, environment());
    EXPECT_EQ(set.out, "client: netem on eth0: delay 1ms\n") << set.all();
    const auto cleared = support::run({"lab/lab", "netem", "clear"}, environment());
    EXPECT_EQ(cleared.out, "server: netem on eth0: none\nclient: netem on eth0: none\n")
        << cleared.all();
}

TEST_F(Ssh, copies_the_programs_captures_a_step_and_leaves_no_process) {
    const LabRun run = support::capture("01", environment());
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(run.info["backend"], "ssh");
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
    EXPECT_EQ(run.info["capture"]["packets"],
              support::tshark_packets(run.file("wire.pcapng")).size());
    EXPECT_NE(run.text_of("timeline.txt").find("RDMA READ Request"), std::string::npos);
    const auto there = support::run(
        {"lab/lab", "exec", "server", "--", "bash", "-c",
         "pwd; ls build/examples/*/server; ps -eo args | grep -E '^(bash lab/host|build/)'"},
        environment());
    EXPECT_EQ(there.out, "/root/rdma-wire-lab\nbuild/examples/01_cm_write_read/server\n");
}

TEST_F(Ssh, logs_the_steps_of_both_drivers) {
    const LabRun run = support::capture("01", environment({"LAB_XRAY=1"}));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    for (const std::string host : {"server", "client"}) {
        const auto steps = support::events_of(run.file(host + "-driver.jsonl"));
        EXPECT_TRUE(std::ranges::any_of(steps,
                                        [&](const runlog::Event& event) {
                                            return event.role == host &&
                                                   event.text("step") == "transmit";
                                        }))
            << host << '\n'
            << run.outcome.all();
    }
    EXPECT_NE(run.outcome.err.find("lab: the drivers: server "), std::string::npos)
        << run.outcome.all();
}

TEST_F(Ssh, what_is_there_already_is_not_copied_again) {
    ASSERT_EQ(support::run({"lab/lab", "run", "01"}, environment()).exit_code, 0);
    const support::Argv inode{"stat", "-c", "%i %Z",
                              "/root/rdma-wire-lab/build/examples/01_cm_write_read/server"};
    const auto before = support::exec("server", inode);
    ASSERT_EQ(support::run({"lab/lab", "run", "01"}, environment()).exit_code, 0);
    EXPECT_EQ(before.exit_code, 0) << before.all();
    EXPECT_EQ(support::exec("server", inode).out, before.out);
}

TEST_F(Ssh, down_ends_its_connections_and_forgets_them) {
    ASSERT_EQ(support::run({"lab/lab", "up"}, environment()).exit_code, 0);
    const auto sockets = std::filesystem::read_symlink("build/lab/ssh");
    const auto down = support::run({"lab/lab", "down"}, environment());
    EXPECT_EQ(down.err, "lab: connections closed\n");
    EXPECT_FALSE(std::filesystem::exists(sockets));
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status("build/lab/ssh")));
    const auto again = support::run({"lab/lab", "down"}, environment());
    EXPECT_EQ(again.all(), "exit 0\nlab: nothing is connected\n");
}

TEST_F(Ssh, says_what_keeps_it_from_a_machine) {
    const auto refused = support::run({"lab/lab", "run", "01"}, environment({"LAB_SERVER_PORT=1"}));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.err.find("no connection to the server: ssh root@127.0.0.1, port 1"),
              std::string::npos)
        << refused.all();
    EXPECT_NE(refused.err.find("Connection refused"), std::string::npos) << refused.all();
    const auto stranger = support::run({"lab/lab", "run", "01"}, environment({"LAB_SSH_OPTIONS="}));
    EXPECT_EQ(stranger.exit_code, 1);
    EXPECT_NE(stranger.err.find("Host key verification failed"), std::string::npos)
        << stranger.all();
}

TEST_F(Ssh, says_which_library_a_machine_lacks) {
    support::exec("client", {"bash", "-c",
                             "rm -rf ~/rdma-wire-lab; cd /usr/lib/$HOSTTYPE-linux-gnu && "
                             "mv librdmacm.so.1 /tmp/"});
    const auto outcome = support::run({"lab/lab", "run", "01"}, environment());
    support::exec("client", {"bash", "-c", "mv /tmp/librdmacm.so.1 /usr/lib/$HOSTTYPE-linux-gnu/"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("the programs do not run on the client"), std::string::npos)
        << outcome.all();
    EXPECT_NE(outcome.err.find("librdmacm.so.1 => not found"), std::string::npos) << outcome.all();
}

TEST_F(Ssh, says_that_a_machine_has_no_rdma_device) {
    support::exec("client", {"rdma", "link", "delete", "rxe0"});
    const auto outcome = support::run({"lab/lab", "run", "01"}, environment());
    const auto fixed =
        support::exec("client", {"rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0"});
    EXPECT_EQ(fixed.exit_code, 0) << fixed.all();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("no RDMA device of the client belongs to eth0"), std::string::npos)
        << outcome.all();
}

TEST_F(Backends, local_runs_both_sides_on_a_host_with_a_device) {
    // The guest's checkout is read-only. Store the run in a tmpfs and copy it to the guests'
    // folder.
    namespace fs = std::filesystem;
    fs::create_directories("captures/runs");
    const auto outcome =
        support::exec("server",
                      {"bash", "-c",
                       "mount -t tmpfs runs captures/runs || exit; "
                       "LAB_BACKEND=local LAB_STATE=/tmp/lab lab/lab run 01; status=$?; "
                       "cp -r captures/runs/* build/guests/; umount captures/runs; exit $status"},
                      std::chrono::minutes(2));
    for (const auto& entry : fs::directory_iterator("build/guests"))
        if (entry.path().filename().string().ends_with("_01_cm_write_read")) {
            fs::copy(entry.path(), "captures/runs" / entry.path().filename(),
                     fs::copy_options::recursive);
            fs::remove_all(entry.path());
        }
    const LabRun run = support::read_run(outcome);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(run.info["backend"], "local");
    EXPECT_EQ(run.info["hosts"]["client"]["address"], support::server_ip);
    const auto* read = LabRun::find(run.client, "wc");
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->text("status"), "SUCCESS");
}

TEST_F(Backends, local_says_that_a_host_has_no_device) {
    if (std::filesystem::exists("/sys/class/infiniband") &&
        !std::filesystem::is_empty("/sys/class/infiniband"))
        GTEST_SKIP() << "this host has an RDMA device";
    const auto outcome = support::run({"lab/lab", "up"}, {"LAB_BACKEND=local"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("this host has no RDMA device"), std::string::npos) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
}

}  // namespace backends_test
