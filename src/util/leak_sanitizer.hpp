// WITH_LEAK_SANITIZER: this is a build with AddressSanitizer. At the end of the program it looks for
// leaks from another process, which traces this one.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define WITH_LEAK_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_LEAK_SANITIZER
#endif
#endif
