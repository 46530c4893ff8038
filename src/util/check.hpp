// Checkers for the three error conventions of verbs. A failed call throws std::system_error that
// names the call; a program catches it once, in main.
//
//   ibv_open_*, ibv_alloc_*, ibv_create_*, ibv_reg_*   return NULL and set errno      -> check_ptr
//   ibv_modify_*, ibv_post_*, ibv_destroy_*            return the error number        -> check_rc
//   rdma_*, and the C library                          return -1 and set errno        -> check_errno
//
// Source: the man pages, "RETURN VALUE".
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace util {

[[noreturn]] inline void throw_system_error(int error, std::string_view what) {
    throw std::system_error(error, std::generic_category(), std::string(what));
}

template <typename T>
T* check_ptr(T* pointer, std::string_view what) {
    if (pointer == nullptr)
        throw_system_error(errno, what);
    return pointer;
}

inline void check_rc(int rc, std::string_view what) {
    if (rc != 0)
        throw_system_error(rc > 0 ? rc : errno, what);
}

inline int check_errno(int result, std::string_view what) {
    if (result < 0)
        throw_system_error(errno, what);
    return result;
}

}  // namespace util
