// Linked into the programs of a mutation run, which are compiled with -finstrument-functions. If the
// environment variable MUTATE_REACHED names a file, a process appends the name of its program and
// the address of each function that it enters, once, to this file: "rocecap 1f3a0". An address
// counts from the beginning of the program.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>

extern const char __executable_start;  // NOLINT: the linker's
extern const char etext;               // NOLINT: the linker's

namespace {

constexpr std::uintptr_t most_code = 256U << 20U;
using Bits = std::array<std::atomic<std::uint64_t>, most_code / 64>;
Bits* entered = nullptr;  // which addresses were written
int output = -1;

// A number that no test uses, because a test may close what it does not know, and open its own.
constexpr int lowest_fd = 900;

__attribute__((no_instrument_function, constructor(101))) void open_output() {
    const char* const path = std::getenv("MUTATE_REACHED");
    if (path == nullptr)
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    output = fcntl(fd, F_DUPFD_CLOEXEC, lowest_fd);
    close(fd);
    // Only now: some tests limit the memory of a program.
    void* const memory =
        mmap(nullptr, sizeof(Bits), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (output >= 0 && memory != MAP_FAILED)
        entered = static_cast<Bits*>(memory);
}

// May run in a signal handler.
__attribute__((no_instrument_function)) void append(std::uintptr_t address) {
    std::array<char, NAME_MAX + 20> line{};
    const std::size_t name = strnlen(program_invocation_short_name, NAME_MAX);
    std::memcpy(line.data(), program_invocation_short_name, name);
    std::size_t size = name;
    line[size++] = ' ';
    for (int shift = 60; shift >= 0; shift -= 4)
        line[size++] = "0123456789abcdef"[address >> static_cast<unsigned>(shift) & 0xfU];
    line[size++] = '\n';
    [[maybe_unused]] const auto written = write(output, line.data(), size);
}

}  // namespace

// The compiler calls them by these names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void* function, void*) {
    if (entered == nullptr)
        return;
    const auto start = reinterpret_cast<std::uintptr_t>(&__executable_start);
    const auto end = reinterpret_cast<std::uintptr_t>(&etext);
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    if (address < start || address >= end || address - start >= most_code)
        return;
    const std::uintptr_t offset = address - start;
    const std::uint64_t bit = std::uint64_t{1} << offset % 64;
    if (((*entered)[offset / 64].fetch_or(bit, std::memory_order_relaxed) & bit) != 0)
        return;
    const int saved = errno;
    append(offset);
    errno = saved;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void*, void*) {}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
