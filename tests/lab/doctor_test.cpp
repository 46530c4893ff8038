// Lesson 00 on machines with the defects that it reports, and on healthy ones.
#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace doctor_test {

const std::string devices = "build/examples/00_hello/devices";

class Doctor : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }

    // Breaks the client's setup, runs lesson 00, and restores the setup with `fixed_by` in any case.
    static support::Outcome look_at(const std::string& broken_by, const std::string& fixed_by,
                                    const std::string& arguments = "") {
        return support::exec("client", {"bash", "-c",
                                        broken_by + "; " + devices + " " + arguments +
                                            "; code=$?; { " + fixed_by + "; } >&2; exit $code"});
    }

    static void expect_healthy() {
        const auto outcome = support::exec("client", {devices, "--address", "192.0.2.2"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    }
};

TEST_F(Doctor, finds_both_hosts_healthy_and_names_the_gid_to_use) {
    for (const auto& [host, address] : {std::pair{"server", support::server_ip},
                                        {"client", support::client_ip},
                                        {"server", support::server_ip6},
                                        {"client", support::client_ip6}}) {
        const auto outcome = support::exec(host, {devices, "--address", address});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_NE(outcome.out.find("for " + address + " use rxe0 port 1 GID index"),
                  std::string::npos)
            << outcome.all();
        EXPECT_EQ(outcome.out.find("wrong:"), std::string::npos) << outcome.all();
    }
}

TEST_F(Doctor, sees_a_port_whose_interface_is_down) {
    const auto outcome =
        look_at("ip link set eth0 down",
                "ip link set eth0 up; ip -6 addr replace 2001:db8::2/64 dev eth0 nodad");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.out.find("rxe0 port 1 is DOWN"), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.out.find("sudo ip link set eth0 up"), std::string::npos) << outcome.all();
    expect_healthy();
}

TEST_F(Doctor, sees_that_no_device_is_there_and_its_command_makes_one) {
    const auto outcome = look_at("rdma link delete rxe0", "rdma link add rxe0 type rxe netdev eth0",
                                 "--address 192.0.2.2");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.out.find("rdma link add rxe0 type rxe netdev eth0"), std::string::npos)
        << outcome.all();
    expect_healthy();
}

TEST_F(Doctor, sees_an_address_that_no_gid_stands_for) {
    const auto outcome = support::exec("client", {devices, "--address", "198.51.100.4"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.out.find("no RDMA device has a GID for 198.51.100.4"), std::string::npos)
        << outcome.all();
}

TEST_F(Doctor, advises_on_a_small_mtu_and_a_small_locked_memory_limit) {
    const auto mtu =
        look_at("ip link set eth0 mtu 1500", "ip link set eth0 mtu 4200", "--only-problems");
    EXPECT_EQ(mtu.exit_code, 0) << mtu.all();
    EXPECT_NE(mtu.out.find("path MTU 1024"), std::string::npos) << mtu.all();
    const auto limit = support::exec(
        "client", {"bash", "-c",
                   "chmod a+rw /dev/infiniband/*; ulimit -l 64; setpriv --reuid=65534 "
                   "--clear-groups --inh-caps=-all " +
                       devices + "; code=$?; exit $code"});
    EXPECT_EQ(limit.exit_code, 0) << limit.all();
    EXPECT_NE(limit.out.find("may lock 64 KiB"), std::string::npos) << limit.all();
}

TEST_F(Doctor, sees_that_a_user_may_not_open_the_device) {
    const auto outcome = look_at(
        "chmod 600 /dev/infiniband/*", "chmod 666 /dev/infiniband/*",
        "--only-problems >/dev/null; setpriv --reuid=65534 --clear-groups --inh-caps=-all " +
            devices + " --only-problems");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.out.find("may not open /dev/infiniband/uverbs*"), std::string::npos)
        << outcome.all();
}

}  // namespace doctor_test
