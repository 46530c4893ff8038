// Shared by the tests of lesson 08: the hardened server in the lab, and clients that the tests build
// themselves.
#pragma once

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/certificates.hpp"
#include "support/step_checks.hpp"

namespace lesson08_serving {

using std::chrono::seconds;
using support::LabRun;
using support::rows;
using Strings = std::vector<std::string>;

constexpr const char* client = "build/examples/08_secure_multi_client/hardened/client";
constexpr const char* server = "build/examples/08_secure_multi_client/hardened/server";

class Lesson08 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        support::make_certificates("build/certs");
    }
};

// A server whose process ID is in a file in the guest.
class Serving {
  public:
    explicit Serving(const std::string& options)
        : process_(
              support::start("server", {"bash", "-c",
                                        "echo $$ >/tmp/lesson08.pid; exec " + std::string(server) +
                                            " --run-log - " + options})) {
        EXPECT_TRUE(process_.await("listening on", seconds(30)));
    }

    // Requests statistics until they contain `text`.
    bool tells(const std::string& text) {
        for (int tries = 0; tries < 60; ++tries) {
            support::exec("server", {"bash", "-c", "kill -USR1 $(</tmp/lesson08.pid)"});
            if (process_.await(text, std::chrono::milliseconds(250)))
                return true;
        }
        return false;
    }

    // Waits for `text` without requesting statistics: --stats.
    bool says(const std::string& text, seconds time) { return process_.await(text, time); }

    // Stops the server and returns its whole log.
    std::vector<runlog::Event> stop() {
        support::exec("server", {"bash", "-c", "kill -TERM $(</tmp/lesson08.pid)"});
        const auto outcome = process_.wait(seconds(30));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::vector<runlog::Event> events;
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);)
            if (auto event = runlog::from_json(line))
                events.push_back(*std::move(event));
        return events;
    }

  private:
    support::Process process_;
};

inline std::string resources() {
    return support::exec("server", {"rdma", "resource", "show"}).out;
}

inline support::Process shell_on_client(const std::string& commands) {
    return support::start("client", {"bash", "-c", commands});
}

// Opens TCP connections that remain open, and sends these words first on each.
inline support::Process connections(int count, const std::string& words) {
    return shell_on_client("for ((i = 0; i < " + std::to_string(count) +
                           "; i++)); do exec {fd}<>/dev/tcp/" + support::server_ip +
                           "/18515; printf '" + words +
                           "' >&$fd; done; echo opened; exec sleep 300");
}

// OpenSSL's client, with the certificate of the lab's client.
inline const std::string s_client =
    "openssl s_client -quiet -connect " + support::server_ip +
    ":18515 -CAfile build/certs/ca.crt -cert build/certs/client.crt -key "
    "build/certs/client.key ";

inline support::Outcome one_client() {
    return support::exec("client", {client, support::server_ip, "--clients", "1"});
}

}  // namespace lesson08_serving
