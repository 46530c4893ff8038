// The counters of a device, with any names.
#include "rdma/counters.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_path.hpp"

namespace {

TEST(Counters, are_read_by_the_names_the_driver_gives) {
    const support::TempPath root("counters");
    const std::filesystem::path folder =
        std::filesystem::path(root.str()) / "mlx5_0" / "ports" / "1" / "hw_counters";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "out_of_sequence") << "17\n";
    std::ofstream(folder / "duplicate_request") << "18446744073709551615\n";
    std::ofstream(folder / "lifespan") << "10\n";
    std::ofstream(folder / "text") << "none\n";
    const rdma::Counters wanted{{"out_of_sequence", 17}, {"duplicate_request", UINT64_MAX}};
    EXPECT_EQ(rdma::read_counters("mlx5_0", 1, root.str()), wanted);
    EXPECT_TRUE(rdma::read_counters("mlx5_0", 2, root.str()).empty());
    EXPECT_TRUE(rdma::read_counters("none", 1, root.str()).empty());
}

TEST(Counters, a_counter_that_was_reset_has_increased_by_its_value) {
    EXPECT_EQ(rdma::increase({{"sent_pkts", 7}}, {{"sent_pkts", 9}}, "sent_pkts"), 2U);
    EXPECT_EQ(rdma::increase({{"sent_pkts", 7}}, {{"sent_pkts", 3}}, "sent_pkts"), 3U);
    EXPECT_EQ(rdma::increase({}, {{"sent_pkts", 3}}, "sent_pkts"), 0U);
}

}  // namespace
