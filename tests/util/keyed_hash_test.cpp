#include "util/keyed_hash.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace keyed_hash_test {

// The key 00 01 … 0f and the inputs 00 01 … of the paper's appendix A and its reference code.
std::uint64_t hash(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i);
    return util::KeyedHash({0x0706050403020100, 0x0f0e0d0c0b0a0908}).finish(bytes);
}

TEST(KeyedHash, is_siphash) {
    EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31U);
    EXPECT_EQ(hash(8), 0x93f5f5799a932462U);
    EXPECT_EQ(hash(15), 0xa129ca6149be45e5U);
}

TEST(KeyedHash, depends_on_the_words_before_the_bytes) {
    util::KeyedHash one({1, 2});
    util::KeyedHash other({1, 2});
    one.add(3);
    other.add(4);
    EXPECT_NE(one.finish({}), other.finish({}));
}

}  // namespace keyed_hash_test
