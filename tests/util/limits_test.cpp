#include "util/limits.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

constexpr std::size_t block = 65'536;

rlim_t soft_limit() {
    rlimit limit{};
    EXPECT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    return limit.rlim_cur;
}

// Makes the system call directly: AddressSanitizer's mlock() does nothing and returns 0.
long lock(void* memory, std::size_t length) {
    return syscall(SYS_mlock, memory, length);
}

TEST(LockedMemoryLimit, counts_even_for_who_stands_above_limits) {
    void* memory =
        mmap(nullptr, 2 * block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    {
        const util::LockedMemoryLimit limit(block);
        EXPECT_EQ(lock(memory, block), 0);
        EXPECT_EQ(lock(memory, 2 * block), -1);
        EXPECT_EQ(errno, ENOMEM);
    }
    munmap(memory, 2 * block);
}

TEST(LockedMemoryLimit, is_what_a_thread_is_told) {
    const auto before = util::locked_memory_limit();
    {
        const util::LockedMemoryLimit limit(block);
        EXPECT_EQ(util::locked_memory_limit(), block);
    }
    EXPECT_EQ(util::locked_memory_limit(), before);
}

TEST(LockedMemoryLimit, brings_back_what_was_before) {
    const rlim_t before = soft_limit();
    bool was_above = false;
    {
        const util::LockedMemoryLimit limit(block);
        was_above = limit.was_above_limits();
        EXPECT_EQ(soft_limit(), block);
        EXPECT_FALSE(util::LockedMemoryLimit(block).was_above_limits());
    }
    EXPECT_EQ(soft_limit(), before);
    EXPECT_EQ(util::LockedMemoryLimit(block).was_above_limits(), was_above);
}

TEST(Memory, is_there_to_be_had) {
    EXPECT_GT(util::available_memory(), std::uint64_t{1} << 20);
    EXPECT_LT(util::available_memory(), std::uint64_t{1} << 50);
}

}  // namespace
