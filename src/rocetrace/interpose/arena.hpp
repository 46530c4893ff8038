// Memory of the library's own. The program's allocator is not used: a program may call verbs from
// within it (UCX deregisters memory in its hook of munmap).
#pragma once

#include <cstddef>
#include <new>

namespace interpose {

/// Zeroed memory of `bytes`, aligned to 64; nullptr where there is none. Large blocks are only
/// touched as they are used.
void* take_memory(std::size_t bytes);
/// `bytes` as it was taken.
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

/// In the child of a fork, where the thread that held the lock is missing.
void reset_memory_lock();

}  // namespace interpose
