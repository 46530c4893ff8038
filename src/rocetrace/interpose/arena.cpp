#include "rocetrace/interpose/arena.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

#include "rocetrace/interpose/lock.hpp"
#include "rocetrace/interpose/raw.hpp"

namespace interpose {
namespace {

constexpr std::size_t smallest = 64;
constexpr std::size_t largest_pooled = std::size_t{32} * 1024;
constexpr std::size_t chunk = std::size_t{256} * 1024;

struct Free {
    Free* next;
};

Lock memory_lock;
std::array<Free*, 10> pools{};  // of 64, 128, … 32768 bytes
std::byte* rest = nullptr;
std::size_t rest_bytes = 0;

std::size_t pool_of(std::size_t bytes) {
    return static_cast<std::size_t>(std::bit_width(bytes - 1)) - 6;
}

void* carve(std::size_t bytes) {
    if (rest_bytes < bytes) {
        rest = static_cast<std::byte*>(raw::map_private(chunk));
        rest_bytes = rest == nullptr ? 0 : chunk;
        if (rest == nullptr)
            return nullptr;
    }
    rest_bytes -= bytes;
    return rest + rest_bytes;
}

}  // namespace

void* take_memory(std::size_t bytes) {
    bytes = std::bit_ceil(bytes < smallest ? smallest : bytes);
    if (bytes > largest_pooled)
        return raw::map_private(bytes);
    const Guard guard(memory_lock);
    Free*& pool = pools[pool_of(bytes)];
    if (pool == nullptr)
        return carve(bytes);
    Free* const taken = pool;
    pool = taken->next;
    std::memset(static_cast<void*>(taken), 0, bytes);
    return taken;
}

void give_memory(void* memory, std::size_t bytes) {
    if (memory == nullptr)
        return;
    bytes = std::bit_ceil(bytes < smallest ? smallest : bytes);
    if (bytes > largest_pooled) {
        raw::unmap(memory, bytes);
        return;
    }
    const Guard guard(memory_lock);
    Free*& pool = pools[pool_of(bytes)];
    pool = new (memory) Free{pool};
}

void reset_memory_lock() {
    memory_lock.reset();
}

}  // namespace interpose
