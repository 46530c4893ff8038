#include "rdma/capability.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "util/error.hpp"

namespace {

using rdma::Capability;

constexpr Capability example{
    .va = 0x0000'7f12'3456'789a, .length = 0x0102'0304'0506, .rkey = 0xdeadbeef};

TEST(Capability, stands_in_network_order_field_by_field) {
    const unsigned char wire[Capability::size] = {'R',  'W',  'L',  1,    0xde, 0xad, 0xbe, 0xef,
                                                  0x00, 0x00, 0x7f, 0x12, 0x34, 0x56, 0x78, 0x9a,
                                                  0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06};
    const auto bytes = example.serialize();
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), wire[i]) << "byte " << i;
    EXPECT_EQ(Capability::parse(bytes), example);
}

TEST(Capability, reads_past_the_padding_rdma_cm_adds) {
    const auto bytes = example.serialize();
    std::vector<std::byte> padded(bytes.begin(), bytes.end());
    padded.resize(196);
    EXPECT_EQ(Capability::parse(padded), example);
}

TEST(Capability, refuses_every_cut_and_every_other_mark) {
    auto bytes = example.serialize();
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(n));
        EXPECT_THROW(Capability::parse(cut), util::Error) << n;
    }
    bytes[3] = std::byte{2};
    EXPECT_THROW(Capability::parse(bytes), util::Error);
}

}  // namespace
