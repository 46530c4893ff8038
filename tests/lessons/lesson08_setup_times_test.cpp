#include <gtest/gtest.h>

#include "examples/08_secure_multi_client/hardened/setup_times.hpp"

namespace lesson08_setup_times_test {

using namespace std::chrono_literals;

std::int64_t number(const runlog::Fields& fields, std::string_view key) {
    for (const runlog::Field& field : fields)
        if (field.key == key)
            return std::get<std::int64_t>(field.value);
    return -1;
}

TEST(SetupTimes, percentiles_are_of_each_phase_alone) {
    lesson08::SetupTimes setup;
    for (int i = 1; i <= 200; ++i)
        setup.add({i * 1us, i * 10us, 5ms, i == 200 ? 2s : 1ms});
    const auto fields = setup.describe();
    // The error is at most 1.6 %.
    EXPECT_NEAR(static_cast<double>(number(fields, "tcp_p50_us")), 100, 2);
    EXPECT_NEAR(static_cast<double>(number(fields, "tcp_p99_us")), 198, 4);
    EXPECT_NEAR(static_cast<double>(number(fields, "tls_p99_us")), 1980, 32);
    EXPECT_NEAR(static_cast<double>(number(fields, "exchange_p50_us")), 5000, 80);
    EXPECT_NEAR(static_cast<double>(number(fields, "qp_p99_us")), 1000, 16) << "one in 200 is out";
}

TEST(SetupTimes, nobody_has_no_percentiles) {
    EXPECT_EQ(lesson08::SetupTimes().describe(), (runlog::Fields{{"clients", 0u}}));
}

}  // namespace lesson08_setup_times_test
