#include "util/limits.hpp"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/error_text.hpp"

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

class OpenFiles : public testing::Test {
  protected:
    OpenFiles() { EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0); }
    ~OpenFiles() override { setrlimit(RLIMIT_NOFILE, &before_); }
    OpenFiles(const OpenFiles&) = delete;
    OpenFiles& operator=(const OpenFiles&) = delete;
    OpenFiles(OpenFiles&&) = delete;
    OpenFiles& operator=(OpenFiles&&) = delete;

    rlimit before_{};
};

TEST_F(OpenFiles, the_soft_limit_is_raised_to_the_hard_one) {
    rlimit low = before_;
    low.rlim_cur = 64;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    util::need_open_files(65, "a thousand clients");
    rlimit now{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
    EXPECT_EQ(now.rlim_cur, before_.rlim_max);
    EXPECT_EQ(now.rlim_max, before_.rlim_max);
}

TEST_F(OpenFiles, more_than_the_hard_limit_is_an_error) {
    EXPECT_NO_THROW(util::need_open_files(before_.rlim_max, "it"));
    EXPECT_EQ(support::error_text(
                  [&] { util::need_open_files(before_.rlim_max + 1, "a thousand clients"); }),
              "a thousand clients needs " + std::to_string(before_.rlim_max + 1) +
                  " open files, but only " + std::to_string(before_.rlim_max) +
                  " are allowed: raise the limit (ulimit -Hn), or use fewer.");
}

TEST(Memory, what_is_resident_grows_with_the_pages_that_are_written) {
    constexpr std::size_t size = 64U << 20U;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const std::uint64_t before = util::resident_memory();
    std::memset(memory, 1, size);
    const std::uint64_t after = util::resident_memory();
    munmap(memory, size);
    EXPECT_GE(after, before + size * 9 / 10);
    EXPECT_LE(after, before + size * 11 / 10);
    EXPECT_LE(util::resident_memory(), after - size * 9 / 10);
}

TEST(Memory, is_there_to_be_had) {
    EXPECT_GT(util::available_memory(), std::uint64_t{1} << 20);
    EXPECT_LT(util::available_memory(), std::uint64_t{1} << 50);
}

}  // namespace
