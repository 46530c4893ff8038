// The library's own allocator. It does not use the program's, which may itself call verbs (UCX
// deregisters memory in its hook of munmap).
#pragma once

#include <cstddef>
#include <new>

namespace interpose {

/// Zeroed memory of `bytes`, aligned to 64; nullptr if there is none. Large blocks are only touched
/// as they are used.
void* take_memory(std::size_t bytes);
/// `bytes`: as passed to take_memory().
void give_memory(void* memory, std::size_t bytes);

template <typename T>
T* make() {
    void* memory = take_memory(sizeof(T));
    return memory == nullptr ? nullptr : new (memory) T();
}

template <typename T>
void unmake(T* object) {
    if (object == nullptr)
        return;
    object->~T();
    give_memory(object, sizeof(T));
}

/// For the child of a fork, which does not have the thread that held the lock.
void reset_memory_lock();

}  // namespace interpose
