// Checkers for the three error conventions of verbs. A failed call throws std::system_error that
// names the call; a program catches it once, in main.
//
//   ibv_open_*, ibv_alloc_*, ibv_create_*, ibv_reg_*   return NULL and set errno      -> check_ptr
//   ibv_modify_*, ibv_post_*, ibv_destroy_*            return the error number        -> check_rc
//   rdma_*, and the C library                          return -1 and set errno        -> check_errno
//
// CHECK_PTR(call), CHECK_RC(call) and CHECK_ERRNO(call) take the error's name from the call itself:
// CHECK_PTR(ibv_alloc_pd(context)) throws "ibv_alloc_pd: Cannot allocate memory". The functions take
// a name, for a call whose error must also say with what it failed.
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

/// The name of the called function: "ibv_reg_mr" of "ibv_reg_mr(pd, address, length, 0)".
constexpr std::string_view name_of_call(std::string_view call) {
    call = call.substr(0, call.find('('));
    return call.substr(call.starts_with("::") ? 2 : 0);
}

}  // namespace util

// Macros, because only the preprocessor knows the text of a call.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define CHECK_PTR(...) util::check_ptr((__VA_ARGS__), util::name_of_call(#__VA_ARGS__))
#define CHECK_RC(...) util::check_rc((__VA_ARGS__), util::name_of_call(#__VA_ARGS__))
#define CHECK_ERRNO(...) util::check_errno((__VA_ARGS__), util::name_of_call(#__VA_ARGS__))
// NOLINTEND(cppcoreguidelines-macro-usage)
