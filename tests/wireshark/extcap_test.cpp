// The extcap program as Wireshark calls it, without a lab: its replies, and its errors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temp_path.hpp"
#include "util/fd.hpp"
#include "wireshark/installed_extcap.hpp"

namespace extcap_test {

using namespace std::chrono_literals;

constexpr const char* program = "wireshark/extcap/rdma-wire-lab";

support::Outcome call(const support::Argv& arguments, const support::Argv& environment = {}) {
    support::Argv argv{program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return support::run(argv, environment);
}

TEST(Extcap, lists_the_labs_hosts_and_ssh_without_starting_anything) {
    const support::TempPath state("extcap_state");
    const auto outcome =
        call({"--extcap-interfaces", "--extcap-version=4.0"}, {"LAB_STATE=" + state.str()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.rfind("extcap {version=1.0}", 0), 0U) << outcome.out;
    for (const char* host : {"server", "client"})
        EXPECT_NE(outcome.out.find(std::string("\ninterface {value=rdma-") + host +
                                   "}{display=RDMA Wire Lab: " + host + "}\n"),
                  std::string::npos)
            << outcome.out;
    EXPECT_NE(outcome.out.find("{value=rdma-ssh}"), std::string::npos);
    EXPECT_LT(outcome.took, 1s) << "Wireshark waits for it at each start";
    EXPECT_FALSE(std::filesystem::exists(state.path()));
}

TEST(Extcap, lists_as_many_clients_as_the_lab_has) {
    const support::TempPath state("extcap_clients");
    std::filesystem::create_directories(state.path());
    std::ofstream(state.str() + "/vm.state") << "MTU=4200\nCLIENTS=3\n";
    const auto outcome = call({"--extcap-interfaces"}, {"LAB_STATE=" + state.str()});
    EXPECT_NE(outcome.out.find("{value=rdma-client3}"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("rdma-client4"), std::string::npos) << outcome.out;
}

TEST(Extcap, has_one_link_type_and_options_for_ssh) {
    EXPECT_EQ(call({"--extcap-interface", "rdma-server", "--extcap-dlts"}).out,
              "dlt {number=1}{name=EN10MB}{display=Ethernet}\n");
    EXPECT_EQ(call({"--extcap-interface", "rdma-server", "--extcap-config"}).out, "");
    const auto options = call({"--extcap-interface", "rdma-ssh", "--extcap-config"});
    for (const char* option : {"{call=--host}", "{call=--interface}", "{call=--logs}"})
        EXPECT_NE(options.out.find(option), std::string::npos) << options.all();
}

TEST(Extcap, leaves_capture_filters_to_the_host) {
    const auto outcome =
        call({"--extcap-interface", "rdma-server", "--extcap-capture-filter", "tcp port 4"});
    EXPECT_EQ(outcome.all(), "exit 0\n");
}

TEST(Extcap, an_unknown_interface_and_a_call_by_hand_are_errors) {
    const auto unknown = call({"--extcap-interface", "eth7", "--extcap-dlts"});
    EXPECT_EQ(unknown.all(), "exit 1\nThere is no interface 'eth7'.\n");
    const auto by_hand = call({});
    EXPECT_EQ(by_hand.exit_code, 1);
    EXPECT_NE(by_hand.err.find("wireshark/README.md"), std::string::npos) << by_hand.all();
}

// Each is one sentence on standard error, which Wireshark shows.
TEST(Extcap, that_cannot_capture_says_what_to_do) {
    const support::TempPath state("extcap_down");
    const support::TempPath fifo("extcap.fifo");
    ASSERT_EQ(mkfifo(fifo.str().c_str(), 0600), 0);
    const util::Fd reader(open(fifo.str().c_str(), O_RDWR | O_CLOEXEC));
    const auto says = [&](support::Argv arguments, const std::string& sentence) {
        arguments.insert(arguments.begin(), {"--capture", "--fifo", fifo.str()});
        const auto outcome = call(arguments, {"LAB_STATE=" + state.str(), "LAB_BACKEND=vm"});
        EXPECT_EQ(outcome.all(), "exit 1\n" + sentence + "\n");
    };
    says({"--extcap-interface", "rdma-server"}, "lab: the lab is down: run lab/lab up first.");
    says({"--extcap-interface=rdma-client9"}, "The lab has no host 'client9'.");
    says({"--extcap-interface", "rdma-ssh"},
         "Which host? Set it in the interface's options, or with tshark -o "
         "extcap.rdma_ssh.host:NAME.");
}

TEST(Extcap, tshark_lists_what_is_installed) {
    const wireshark_test::InstalledExtcap installed;
    if (const auto& problem = installed.problem())
        GTEST_SKIP() << *problem;
    const auto outcome = support::run(installed.tshark({"-D"}), installed.environment());
    EXPECT_NE(outcome.out.find("rdma-server (RDMA Wire Lab: server)"), std::string::npos)
        << outcome.all();
    EXPECT_NE(outcome.out.find("rdma-ssh (RDMA Wire Lab: a host by ssh)"), std::string::npos)
        << outcome.all();
}

}  // namespace extcap_test
