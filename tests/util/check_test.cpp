// The three error conventions of verbs.
#include "util/check.hpp"

#include <gtest/gtest.h>

namespace check_test {

// Returns the error number that `call` throws, 0 if it does not throw.
template <typename Call>
int error_of(Call call) {
    try {
        call();
    } catch (const std::system_error& error) {
        EXPECT_EQ(std::string(error.what()).rfind("the call: ", 0), 0U) << error.what();
        EXPECT_EQ(error.code().category(), std::generic_category());
        return error.code().value();
    }
    return 0;
}

TEST(Check, a_null_pointer_is_an_error_with_errno) {
    int value = 3;
    EXPECT_EQ(util::check_ptr(&value, "the call"), &value);
    errno = ENOMEM;
    EXPECT_EQ(error_of([] { util::check_ptr<int>(nullptr, "the call"); }), ENOMEM);
}

TEST(Check, a_positive_result_is_the_error_and_a_negative_one_means_errno) {
    errno = ENOMEM;
    EXPECT_EQ(error_of([] { util::check_rc(0, "the call"); }), 0);
    EXPECT_EQ(error_of([] { util::check_rc(EINVAL, "the call"); }), EINVAL);
    EXPECT_EQ(error_of([] { util::check_rc(1, "the call"); }), 1);
    errno = EBUSY;
    EXPECT_EQ(error_of([] { util::check_rc(-1, "the call"); }), EBUSY);
}

TEST(Check, only_a_negative_result_means_errno) {
    EXPECT_EQ(util::check_errno(0, "the call"), 0);
    EXPECT_EQ(util::check_errno(7, "the call"), 7);
    errno = EBUSY;
    EXPECT_EQ(error_of([] { util::check_errno(-1, "the call"); }), EBUSY);
}

TEST(Check, a_checked_call_names_itself) {
    const auto fails = [](int, int) { return ENOSPC; };
    const auto message = [&] {
        try {
            CHECK_RC(fails(1, 2));
        } catch (const std::system_error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_EQ(message(), "fails: No space left on device");
    EXPECT_EQ(util::name_of_call("::close(fd)"), "close");
    EXPECT_EQ(util::name_of_call("ibv_alloc_pd(f(context))"), "ibv_alloc_pd");
}

}  // namespace check_test
