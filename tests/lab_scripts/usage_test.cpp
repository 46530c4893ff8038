// Invalid arguments of the lab's script: one line and exit code 2, before any process starts.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/process.hpp"

namespace {

struct Case {
    const char* name;
    support::Argv arguments;
    support::Argv environment;
    const char* says;
};

class LabUsage : public testing::TestWithParam<Case> {};

TEST_P(LabUsage, is_refused_in_one_sentence) {
    const Case& wrong = GetParam();
    support::Argv argv{"lab/lab"};
    argv.insert(argv.end(), wrong.arguments.begin(), wrong.arguments.end());
    const auto outcome = support::run(argv, wrong.environment);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find(wrong.says), std::string::npos) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
    EXPECT_EQ(outcome.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, LabUsage,
    testing::Values(
        Case{"unknown_verb", {"start"}, {}, "there is no command 'start'"},
        Case{"up_with_argument", {"up", "server"}, {}, "lab/lab up takes no arguments"},
        Case{"shell_without_host", {"shell"}, {}, "the host is one of"},
        Case{"exec_on_unknown_host", {"exec", "Server", "--", "true"}, {}, "'Server'"},
        Case{"exec_without_dashes", {"exec", "server", "true"}, {}, "comes after --"},
        Case{"exec_without_command", {"exec", "server", "--"}, {}, "comes after --"},
        Case{"run_without_step", {"run"}, {}, "no lesson was given"},
        Case{"run_unknown_step", {"run", "99"}, {}, "there is no lesson '99'"},
        Case{"run_unknown_second_step", {"run", "01", "98"}, {}, "no lesson '98'"},
        Case{"capture_arguments_of_two",
             {"capture", "01", "06", "--", "--length", "1"},
             {},
             "need a single lesson, not 2"},
        Case{"trace_without_commands", {"trace"}, {}, "come after --"},
        Case{"ci_without_client", {"ci", "--", "true"}, {}, "two commands are needed"},
        Case{"ci_option", {"ci", "--limits", "3"}, {}, "no option '--limits': lab/lab ci"},
        Case{"ci_limit", {"ci", "--limit", "1m"}, {}, "not '1m'"},
        Case{"ci_backend",
             {"ci", "--", "true", "::", "true"},
             {"LAB_BACKEND=local"},
             "ci is for the backend vm"},
        Case{"ci_project",
             {"ci", "--", "true", "::", "true"},
             {"LAB_PROJECT=/nonexistent"},
             "LAB_PROJECT=/nonexistent is not a folder"},
        Case{"netem_unknown_word", {"netem", "los", "1%"}, {}, "not 'los'"},
        Case{"netem_loss_too_much", {"netem", "loss", "101%"}, {}, "not '101%'"},
        Case{"netem_loss_without_value", {"netem", "loss"}, {}, "from 0% to 100%"},
        Case{"netem_delay_without_unit", {"netem", "delay", "2"}, {}, "not '2'"},
        Case{"netem_delay_too_long", {"netem", "delay", "11s"}, {}, "at most 10s"},
        Case{"netem_reorder_alone", {"netem", "reorder", "25%"}, {}, "needs a delay"},
        Case{"netem_cuts_ssh_off",
             {"netem", "loss", "100%"},
             {"LAB_BACKEND=ssh", "LAB_SERVER=a.invalid", "LAB_CLIENT=b.invalid"},
             "could break the ssh connection"},
        Case{"run_path_as_step", {"run", "../x"}, {}, "there is no lesson '../x'"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Settings, LabUsage,
    testing::Values(
        Case{"backend", {"up"}, {"LAB_BACKEND=docker"}, "vm, ssh or local, not 'docker'"},
        Case{"family", {"status"}, {"LAB_FAMILY=inet"}, "ipv4 or ipv6, not 'inet'"},
        Case{"accelerator", {"up"}, {"LAB_ACCEL=xen"}, "kvm or tcg, not 'xen'"},
        Case{"mtu_no_number", {"up"}, {"LAB_MTU=big"}, "LAB_MTU is a number from 1280 to 65535"},
        Case{"mtu_too_small", {"up"}, {"LAB_MTU=1000"}, "not '1000'"},
        Case{"sysroot_no_release", {"up"}, {"LAB_SYSROOT=Debian 13"}, "not 'Debian 13'"},
        Case{"sysroot_architecture",
             {"up"},
             {"LAB_SYSROOT=trixie:riscv64"},
             "LAB_SYSROOT=trixie:riscv64: the guests' architecture is amd64 or arm64"},
        Case{"sysroot_no_folder", {"up"}, {"LAB_SYSROOT=/nonexistent/root"}, "is not a folder"},
        Case{"sysroot_no_root", {"up"}, {"LAB_SYSROOT=./docs"}, "has no usr/bin/env"},
        Case{"sysroot_other_build",
             {"up"},
             {"LAB_SYSROOT=trixie", "LAB_BUILD=out"},
             "LAB_SYSROOT needs LAB_BUILD to be build"},
        Case{"sysroot_of_other_backend",
             {"status"},
             {"LAB_SYSROOT=trixie", "LAB_BACKEND=local"},
             "LAB_SYSROOT is for the backend vm"},
        Case{"kernel_no_version", {"up"}, {"LAB_KERNEL=6.x"}, "'6.x' is none of these"},
        Case{"kernel_of_no_host", {"up"}, {"LAB_KERNEL=gateway=6.1"}, "'gateway' is not a host"},
        Case{"kernel_of_no_client",
             {"up"},
             {"LAB_KERNEL=6.1,client2=6.12"},
             "is for client2, and the lab has 1 client(s)"},
        Case{"kernel_image_alone", {"up"}, {"LAB_KERNEL=/etc/hosts"}, "set LAB_MODULES to"},
        Case{"modules_alone", {"up"}, {"LAB_MODULES=/etc"}, "set LAB_KERNEL to its path"},
        Case{"boot_seconds", {"up"}, {"LAB_BOOT_SECONDS=1m"}, "LAB_BOOT_SECONDS"},
        Case{"ssh_without_client",
             {"up"},
             {"LAB_BACKEND=ssh", "LAB_SERVER=host.invalid", "LAB_CLIENT=", "CAPTURE_CLIENT_IP="},
             "the ssh backend needs the client"},
        Case{"ssh_key",
             {"up"},
             {"LAB_SERVER=a.invalid", "LAB_CLIENT=b.invalid", "LAB_SSH_KEY=/nonexistent/key"},
             "LAB_SSH_KEY=/nonexistent/key cannot be read"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(LabNetem, is_not_for_one_machine) {
    const auto outcome = support::run({"lab/lab", "netem", "loss", "1%"}, {"LAB_BACKEND=local"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.err.find("netem needs the vm or the ssh backend"), std::string::npos)
        << outcome.all();
}

TEST(LabHelp, lists_every_setting_of_the_config_with_its_default) {
    const auto outcome = support::run({"lab/lab", "help"});
    EXPECT_EQ(outcome.exit_code, 0);
    const auto config = support::run({"grep", "-oE", "^: \"\\$\\{[A-Z_]+:=[^}]*", "lab/config"});
    std::size_t settings = 0;
    for (std::size_t at = 0; (at = config.out.find("${", at)) != std::string::npos; ++settings) {
        at += 2;
        std::string line = config.out.substr(at, config.out.find('\n', at) - at);
        line.erase(line.find(":="), 1);
        EXPECT_NE(outcome.out.find("    " + line + "\n"), std::string::npos) << line;
    }
    EXPECT_GT(settings, 20u);
}

}  // namespace
