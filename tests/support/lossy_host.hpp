// Loss on the way, made by the network emulator of the kernel (tc-netem(8)).
#pragma once

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace support {

/// A machine that loses some of what it sends, as long as this lives. The machine ends it by itself
/// when nobody holds its leash any more, so also when the test breaks off.
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
