// WITH_LEAK_SANITIZER: built with AddressSanitizer. At exit it searches for leaks from another
// process, which traces this one.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define WITH_LEAK_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_LEAK_SANITIZER
#endif
#endif
