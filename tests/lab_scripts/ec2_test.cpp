// lab/ec2 with a simulated EC2: a folder in PATH with an aws and an ssh that represent instances as
// files.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

// An instance is a file with its role as its name. `$ec2/broken` contains the name of a command
// that fails.
constexpr const char* aws = R"sh(
echo "aws $*" >>"$ec2/calls"
[[ ! -f $ec2/broken || $2 != "$(<"$ec2/broken")" ]] || { echo 'out of capacity' >&2; exit 254; }
role=$(grep -oE 'rdma-wire-lab-(server|client)' <<<"$*" | head -n 1 | sed 's/.*-//')
case $2 in
    get-parameters) echo ami-1 ;;
    create-security-group) touch "$ec2/group"; echo sg-1 ;;
    describe-security-groups) [[ -f $ec2/group ]] && echo sg-1 || echo None ;;
    delete-security-group) rm "$ec2/group" ;;
    create-key-pair) echo 'a private key' ;;
    run-instances) touch "$ec2/instance-$role"; echo "i-$role" ;;
    terminate-instances) rm -f "$ec2"/instance-* ;;
    describe-instances)
        case "$*" in
            *'--output table') echo table ;;
            *InstanceId*) ls "$ec2" | sed -n 's/instance-/i-/p' ;;
            *PublicIpAddress*) [[ $role == server ]] && echo 203.0.113.1 || echo 203.0.113.2 ;;
            *) [[ $role == server ]] && echo 10.0.0.1 || echo 10.0.0.2 ;;
        esac ;;
esac
exit 0
)sh";
// Each reboot changes the boot ID.
constexpr const char* ssh = R"sh(
echo "ssh ${*: -2}" >>"$ec2/calls"
[[ $* != *reboot* ]] || echo "${*: -2:1}" >>"$ec2/reboots"
[[ $* != *boot_id* ]] || { touch "$ec2/reboots"; grep -c "${*: -2:1}" "$ec2/reboots"; }
exit 0
)sh";

class Ec2 : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(root_ / "bin");
        fs::create_directories(root_ / "ec2");
        tool("aws", aws);
        tool("ssh", ssh);
    }
    void tool(const std::string& name, const std::string& script) {
        std::ofstream(root_ / "bin" / name)
            << "#!/bin/bash\nec2=" << (root_ / "ec2").string() << '\n'
            << script;
        fs::permissions(root_ / "bin" / name, fs::perms(0755));
    }
    support::Outcome ec2(const std::string& verb,
                         support::Argv environment = {"EC2_SSH_FROM=198.51.100.7/32"}) {
        environment.push_back("LAB_STATE=" + (root_ / "state").string());
        environment.push_back("PATH=" + (root_ / "bin").string() + ":/usr/bin:/bin");
        return support::run({"lab/ec2", verb}, environment);
    }
    std::string calls() const {
        std::ifstream file(root_ / "ec2/calls");
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    bool is_anything_left() const {
        for (const char* name : {"instance-server", "instance-client", "group"})
            if (fs::exists(root_ / "ec2" / name))
                return true;
        return false;
    }

    support::TempPath temp_{"ec2"};
    fs::path root_ = temp_.str();
};

TEST_F(Ec2, up_prints_the_settings_of_the_lab_and_down_deletes_everything) {
    const auto up = ec2("up");
    EXPECT_EQ(up.exit_code, 0) << up.all();
    EXPECT_NE(up.out.find("export CAPTURE_SERVER_IP=10.0.0.1 LAB_SERVER=admin@203.0.113.1\n"),
              std::string::npos)
        << up.all();
    EXPECT_NE(up.out.find("export CAPTURE_CLIENT_IP=10.0.0.2 LAB_CLIENT=admin@203.0.113.2\n"),
              std::string::npos)
        << up.all();
    EXPECT_NE(up.out.find("LAB_SSH_KEY="), std::string::npos);
    const std::string made = calls();
    EXPECT_NE(made.find("--protocol tcp --port 22 --cidr 198.51.100.7/32"), std::string::npos);
    EXPECT_NE(made.find("rdma link add rxe0 type rxe"), std::string::npos);
    const fs::path key = root_ / "state/ec2/key.pem";
    EXPECT_EQ(fs::status(key).permissions(), fs::perms(0600));

    const auto again = ec2("up");
    EXPECT_EQ(again.exit_code, 1) << again.all();
    EXPECT_NE(again.err.find("already exist"), std::string::npos) << again.all();

    const auto down = ec2("down");
    EXPECT_EQ(down.exit_code, 0) << down.all();
    EXPECT_FALSE(is_anything_left());
    EXPECT_FALSE(fs::exists(key));
    EXPECT_EQ(ec2("down").exit_code, 0);
}

TEST_F(Ec2, up_that_fails_leaves_nothing_that_costs_money) {
    for (const char* command :
         {"create-key-pair", "run-instances", "authorize-security-group-ingress"}) {
        std::ofstream(root_ / "ec2/broken") << command;
        const auto up = ec2("up");
        EXPECT_NE(up.exit_code, 0) << command << up.all();
        EXPECT_NE(up.err.find("out of capacity"), std::string::npos) << command << up.all();
        EXPECT_FALSE(is_anything_left()) << command << up.all();
        fs::remove(root_ / "ec2/broken");
    }
}

TEST_F(Ec2, wrong_use_is_a_sentence_and_exit_code_2) {
    EXPECT_EQ(ec2("start").exit_code, 2);
    const auto up = ec2("up", {"EC2_SSH_FROM="});
    EXPECT_EQ(up.exit_code, 2) << up.all();
    EXPECT_NE(up.err.find("EC2_SSH_FROM=198.51.100.7/32"), std::string::npos) << up.all();
    EXPECT_EQ(calls(), "");
}

}  // namespace
