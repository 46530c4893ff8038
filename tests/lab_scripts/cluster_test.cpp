// The refusals of lesson 24's script `cluster` that need neither root nor RDMA.
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace cluster_test {

const std::string script = "examples/24_rendezvous/cluster";

support::Outcome run(const support::Argv& arguments, support::Argv argv = {}) {
    argv.push_back(script);
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return support::run(argv);
}

TEST(Cluster, refuses_wrong_options_in_one_sentence) {
    for (const auto& [arguments, says] :
         std::initializer_list<std::pair<support::Argv, std::string>>{
             {{"--ranks", "1"}, "--ranks is a number from 2 to 16, not '1'"},
             {{"--ranks", "17"}, "not '17'"},
             {{"--ranks=x"}, "not 'x'"},
             {{"--ranks"}, "not ''"},
             {{"--late", "1"},
              "there is no option '--late': options of the lesson's client come after --"},
             {{"--", "--late", "1", "--rank", "2"}, "this script sets --rank for each rank"},
             {{"--", "--ranks=3"}, "this script sets --ranks for each rank"}})
        support::expect_one_sentence(run(arguments), 2, says);
}

TEST(Cluster, needs_root) {
    support::Argv argv;
    if (geteuid() == 0)
        argv = {"setpriv", "--reuid=65534", "--clear-groups"};
    support::expect_one_sentence(run({}, argv), 1, "cluster: this needs root");
}

TEST(Cluster, prints_its_options) {
    const auto outcome = run({"--help"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("--ranks N"), std::string::npos) << outcome.all();
}

}  // namespace cluster_test
