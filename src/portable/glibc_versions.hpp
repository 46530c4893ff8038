// For `make portable`: functions that moved from libpthread and libdl to libc in glibc 2.34, with the
// versions that they had before. So the library also loads into programs of older releases.
#pragma once

#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#else
#error "add this architecture's first version of glibc"
#endif
#define OF_FIRST_GLIBC(name) asm(".symver " #name "," #name "@" FIRST_GLIBC)

OF_FIRST_GLIBC(dlopen);
OF_FIRST_GLIBC(dlvsym);
OF_FIRST_GLIBC(pthread_key_create);
OF_FIRST_GLIBC(pthread_setspecific);
