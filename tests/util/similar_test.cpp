// What a user is told about arguments that a program does not have.
#include "util/similar.hpp"

#include <gtest/gtest.h>

namespace similar_test {

TEST(Unexpected, option_is_named_with_one_like_it) {
    const std::vector<std::string> options{"--help", "--where", "--fields", "--log"};
    EXPECT_EQ(util::unexpected({"x", "--wher", "y"}, options),
              "there is no option '--wher' (did you mean '--where'?).");
    EXPECT_EQ(util::unexpected({"--feilds=bth.psn"}, options),
              "there is no option '--feilds' (did you mean '--fields'?).");
    EXPECT_EQ(util::unexpected({"--something"}, options), "there is no option '--something'.");
    EXPECT_EQ(util::unexpected({"-l"}, options), "there is no option '-l'.");
    EXPECT_EQ(util::unexpected({"--wher"}, {}), "there is no option '--wher'.");
}

TEST(Unexpected, argument_is_the_first_one) {
    EXPECT_EQ(util::unexpected({"two\n", "three"}, {}), "the argument 'two\\n' is not expected.");
}

}  // namespace similar_test
