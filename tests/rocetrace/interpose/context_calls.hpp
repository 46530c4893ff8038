// Calls to a provider whose functions the library has replaced.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rocetrace/interpose/provider.hpp"

namespace interpose_test {

using Lines = std::vector<std::string>;

class ContextCalls : public testing::Test {
  protected:
    void SetUp() override { new_lines(); }

    Provider provider_;
};

}  // namespace interpose_test
