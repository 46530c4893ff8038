#include "rocetrace/interpose/real.hpp"

#include <cerrno>
#include <dlfcn.h>

namespace interpose {

namespace {

void* look_up(Library library, const char* name, const char* version) {
    // An unversioned lookup could find a function of the first ABI, with other arguments.
    if (void* next = dlvsym(RTLD_NEXT, name, version))
        return next;
    const char* file = library == Library::verbs ? "libibverbs.so.1" : "librdmacm.so.1";
    // It stays loaded: the caller of the function uses it.
    void* handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr)
        handle = dlopen(file, RTLD_LAZY);
    return handle == nullptr ? nullptr : dlvsym(handle, name, version);
}

}  // namespace

void* find_real(Library library, const char* name, const char* version) {
    const int error = errno;
    void* found = look_up(library, name, version);
    errno = error;
    return found;
}

}  // namespace interpose
