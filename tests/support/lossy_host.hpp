// Packet loss by the kernel's network emulator (tc-netem(8)).
#pragma once

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace support {

/// A machine that drops a share of the packets it sends during the lifetime of this object. The
/// machine itself removes the loss when its standard input is closed, even if the test crashes.
class LossyHost {
  public:
    explicit LossyHost(const std::string& host, const std::string& share)
        : process_(start(
              host,
              {"bash", "-c",
               "tc qdisc replace dev eth0 root netem loss " + share +
                   " || exit; trap 'tc qdisc del dev eth0 root; kill $!' EXIT; trap exit TERM; "
                   "sleep infinity & echo lossy; wait"})) {
        EXPECT_TRUE(process_.await("lossy", std::chrono::seconds(30))) << process_.output();
    }
    ~LossyHost() {
        process_.close_input();
        EXPECT_EQ(process_.wait(std::chrono::seconds(30)).exit_code, 143) << "its trap did not run";
    }
    LossyHost(const LossyHost&) = delete;
    LossyHost& operator=(const LossyHost&) = delete;
    LossyHost(LossyHost&&) = delete;
    LossyHost& operator=(LossyHost&&) = delete;

  private:
    Process process_;
};

}  // namespace support
