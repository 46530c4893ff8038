// System calls that bypass the C library's functions, which the program or another library in it
// may have replaced (UCX hooks mmap, librspreload socket).
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace interpose::raw {

inline void* map(std::size_t bytes, int protection, int flags, int fd) {
    const long at = syscall(SYS_mmap, nullptr, bytes, protection, flags, fd, 0L);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
    return at == -1 ? nullptr : reinterpret_cast<void*>(at);
}
inline void* map_private(std::size_t bytes) {
    return map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}
inline void unmap(void* at, std::size_t bytes) {
    syscall(SYS_munmap, at, bytes);
}
inline void close(int fd) {
    syscall(SYS_close, fd);
}

}  // namespace interpose::raw
